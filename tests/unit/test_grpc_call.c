/* A call of gRPC as its stream brings it, and the questions that go out on a connection. */
#include "lookup_grpc_call.h"

#include "lookup.h"
#include "lookup_grpc_status.h"
#include "lookup_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MEBIBYTE ((size_t)1 << 20)

/* A message of the streams here: "+" and bytes that count; else none of theirs. */
static bool take_plus(const uint8_t *bytes, size_t len, struct buf *data)
{
	if (!len || bytes[0] != '+')
		return false;
	buf_add(data, bytes + 1, len - 1);
	return true;
}

static const struct rpc_method single = {"/a.B/C", NULL};
static const struct rpc_method stream = {"/a.B/D", take_plus};

/* ---- what comes ---- */

static void begin(struct rpc *rpc, const struct rpc_method *method)
{
	rpc_init(rpc);
	buf_addstr(rpc_begin(rpc, method, 0), "question");
	rpc_ready(rpc);
	rpc_field(rpc, STR(":status"), STR("200"));
	rpc_field(rpc, STR("content-type"), STR("application/grpc"));
}

static bool add_prefix(struct rpc *rpc, unsigned flag, size_t len)
{
	const uint8_t prefix[] = {(uint8_t)flag, (uint8_t)(len >> 24), (uint8_t)(len >> 16),
				  (uint8_t)(len >> 8), (uint8_t)len};

	return rpc_body(rpc, prefix, sizeof(prefix));
}

static bool add_message(struct rpc *rpc, const char *text)
{
	size_t len = strlen(text);

	return add_prefix(rpc, 0, len) && rpc_body(rpc, (const uint8_t *)text, len);
}

static void end(struct rpc *rpc, int code, const char *text)
{
	rpc_end(rpc, HTTP2_NO_ERROR);
	assert_int_equal(rpc->code, code);
	assert_string_equal(code ? rpc->message.data : rpc->data.data, text);
	rpc_release(rpc);
}

static void end_ok(struct rpc *rpc, const char *data)
{
	rpc_field(rpc, STR("grpc-status"), STR("0"));
	end(rpc, CODE_OK, data);
}

static void test_question(void **state)
{
	struct rpc rpc;

	(void)state;
	begin(&rpc, &single);
	assert_int_equal(rpc.stream.body_len, 13);
	assert_memory_equal(rpc.stream.body, "\0\0\0\0\10question", 13);
	rpc_release(&rpc);
}

static void test_one_message(void **state)
{
	struct rpc rpc;

	(void)state;
	begin(&rpc, &single);
	assert_true(add_message(&rpc, "answer"));
	end_ok(&rpc, "answer");
	begin(&rpc, &single);
	assert_true(add_message(&rpc, ""));
	end_ok(&rpc, "");
}

static void test_stream_of_messages(void **state)
{
	struct rpc rpc;

	(void)state;
	begin(&rpc, &stream);
	assert_true(add_message(&rpc, "+an") && add_message(&rpc, "+") &&
		    add_message(&rpc, "+swer"));
	end_ok(&rpc, "answer");
	begin(&rpc, &stream);
	end_ok(&rpc, "");
	begin(&rpc, &stream);
	assert_false(add_message(&rpc, "-"));
	end(&rpc, CODE_INTERNAL, "the answer's bytes are no message of its kind");
	begin(&rpc, &stream);
	assert_false(add_message(&rpc, ""));
	end(&rpc, CODE_INTERNAL, "the answer's bytes are no message of its kind");
}

/* What was given up stays so, whatever the server says of it. */
static void test_fault_counts_more(void **state)
{
	struct rpc rpc;

	(void)state;
	begin(&rpc, &single);
	assert_false(add_prefix(&rpc, 1, 3));
	rpc_field(&rpc, STR("grpc-status"), STR("0"));
	end(&rpc, CODE_INTERNAL, "the answer is compressed, which was not asked for");
}

static bool add_megabytes(struct rpc *rpc, size_t count, char first)
{
	char *bytes = calloc(1, MEBIBYTE);
	bool more = bytes != NULL;

	assert_non_null(bytes);
	for (bytes[0] = first; more && count--; bytes[0] = 0)
		more = rpc_body(rpc, (const uint8_t *)bytes, MEBIBYTE);
	free(bytes);
	return more;
}

static void test_no_more_than_may_be(void **state)
{
	struct rpc rpc;
	size_t i;

	(void)state;
	begin(&rpc, &single);
	assert_false(add_prefix(&rpc, 0, LOOKUP_REPLY_MAX + 1));
	end(&rpc, CODE_RESOURCE_EXHAUSTED, "the answer is larger than max");

	begin(&rpc, &single);
	assert_false(add_prefix(&rpc, 0, 0xffffffff));
	end(&rpc, CODE_RESOURCE_EXHAUSTED, "the answer is larger than max");

	/* Each message is small; together they are not. */
	begin(&rpc, &stream);
	for (i = 0; i < 16; i++)
		assert_true(add_prefix(&rpc, 0, MEBIBYTE) && add_megabytes(&rpc, 1, '+'));
	assert_true(rpc.data.len <= LOOKUP_REPLY_MAX);
	assert_false(add_prefix(&rpc, 0, MEBIBYTE));
	end(&rpc, CODE_RESOURCE_EXHAUSTED, "the answer is larger than max");

	/* So is one by what stands around it; not where that is too little. */
	begin(&rpc, &stream);
	assert_true(add_prefix(&rpc, 0, LOOKUP_REPLY_MAX + 2) && add_megabytes(&rpc, 16, '+'));
	assert_false(rpc_body(&rpc, (const uint8_t *)"ab", 2));
	end(&rpc, CODE_RESOURCE_EXHAUSTED, "the answer is larger than max");

	begin(&rpc, &stream);
	assert_true(add_prefix(&rpc, 0, LOOKUP_REPLY_MAX) && add_megabytes(&rpc, 16, '+'));
	assert_int_equal(rpc.data.len, LOOKUP_REPLY_MAX - 1);
	rpc_release(&rpc);
}

static void test_used_again(void **state)
{
	struct rpc rpc;

	(void)state;
	begin(&rpc, &single);
	assert_true(add_message(&rpc, "first"));
	rpc_field(&rpc, STR("grpc-message"), STR("old"));
	rpc_end(&rpc, HTTP2_CANCEL);
	assert_int_equal(rpc.code, CODE_CANCELLED);
	rpc_begin(&rpc, &single, 0);
	rpc_ready(&rpc);
	assert_int_equal(rpc.data.len, 0);
	rpc_field(&rpc, STR(":status"), STR("200"));
	rpc_field(&rpc, STR("content-type"), STR("application/grpc"));
	assert_true(add_message(&rpc, "second"));
	end_ok(&rpc, "second");
}

/* A server's words go to the database: of the longest the beginning is enough. */
static void test_long_words(void **state)
{
	char words[5000];
	struct rpc rpc;

	(void)state;
	memset(words, 'w', sizeof(words));
	begin(&rpc, &single);
	rpc_field(&rpc, STR("grpc-status"), STR("5"));
	rpc_field(&rpc, STR("grpc-message"), (struct str){words, 4097});
	words[4096] = '\0';
	end(&rpc, CODE_NOT_FOUND, words);
	words[4096] = 'w';
	begin(&rpc, &single);
	rpc_field(&rpc, STR("grpc-status"), STR("5"));
	rpc_field(&rpc, STR("grpc-message"), (struct str){words, 4096});
	words[4096] = '\0';
	end(&rpc, CODE_NOT_FOUND, words);
}

/* ---- codes and texts ---- */

static void test_codes(void **state)
{
	(void)state;
	assert_int_equal(status_of_http(404), CODE_UNIMPLEMENTED);
	assert_int_equal(status_of_http(-1), CODE_UNKNOWN);
	assert_int_equal(status_of_reset(7), CODE_UNAVAILABLE);
	assert_int_equal(status_of_reset(11), CODE_RESOURCE_EXHAUSTED);
	assert_int_equal(status_of_reset(0xffffffff), CODE_INTERNAL);
	assert_int_equal(status_parse(STR("16")), 16);
	assert_int_equal(status_parse(STR("")), -1);
	assert_int_equal(status_parse(STR("-1")), -1);
	assert_int_equal(status_parse(STR("4294967296")), -1);
}

static void check_text(struct str value, const char *wanted)
{
	struct buf text = BUF_INIT;

	status_message(value, &text);
	assert_string_equal(text.data, wanted);
	buf_release(&text);
}

static void test_texts(void **state)
{
	(void)state;
	check_text(STR(""), "");
	check_text(STR("a%20b%25%c3%A9"), "a b%\303\251");
	check_text(STR("%"), "%");
	check_text(STR("%4"), "%4");
	check_text(STR("%4g%%41"), "%4g%A");
	check_text(STR("a%00b"), "a%00b");
}

/* ---- what goes out ---- */

static void ignore_end(struct http2_stream *of, uint32_t error)
{
	(void)error;
	((struct rpc *)of)->code = CODE_OK;
}

static const struct http2_events events = {NULL, NULL, ignore_end};

static struct http2 *open_http2(void)
{
	static const uint8_t settings[] = "\0\0\0\4\0\0\0\0";
	struct http2 *http2 = http2_new(&events);
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	assert_false(http2_has_room(http2));
	assert_int_equal(http2_feed(http2, settings, sizeof(settings), &err), 0);
	assert_true(http2_has_room(http2));
	assert_int_equal(http2_take(http2, &out, &err), 0);
	buf_release(&out);
	return http2;
}

static void request(struct http2 *http2, struct rpc *rpc, bool secret)
{
	const struct http2_field fields[] = {{STR(":method"), STR("POST"), false},
					     {STR(":path"), STR("/a.B/C"), false},
					     {STR("from"), STR("Bearer abc"), secret}};

	rpc_init(rpc);
	rpc_begin(rpc, &single, 0);
	rpc_ready(rpc);
	assert_int_equal(http2_request(http2, fields, 3, &rpc->stream), 0);
}

/* What the second of two equal requests has on the wire. */
static void second_request(bool secret, struct buf *out)
{
	struct http2 *http2 = open_http2();
	struct err err = ERR_INIT;
	struct rpc rpcs[2];

	request(http2, &rpcs[0], secret);
	assert_int_equal(http2_take(http2, out, &err), 0);
	buf_clear(out);
	request(http2, &rpcs[1], secret);
	assert_int_equal(http2_take(http2, out, &err), 0);
	assert_int_equal(http2_open(http2), 2);
	http2_free(http2);
	rpc_release(&rpcs[0]);
	rpc_release(&rpcs[1]);
}

static bool is_in(const struct buf *wire, const char *two)
{
	size_t i;

	for (i = 0; i + 2 <= wire->len; i++)
		if (memcmp(wire->data + i, two, 2) == 0)
			return true;
	return false;
}

/*
 * RFC 7541 section 6.2.3: a literal that is never indexed begins with 0001; the
 * name "from" is number 37 of the static table, so 15 and 22.
 */
static void test_secrets_are_in_no_table(void **state)
{
	struct buf out = BUF_INIT, plain = BUF_INIT;

	(void)state;
	second_request(true, &out);
	second_request(false, &plain);
	assert_true(is_in(&out, "\x1f\x16"));
	assert_false(is_in(&plain, "\x1f\x16"));
	assert_true(plain.len + 8 < out.len);
	buf_release(&out);
	buf_release(&plain);
}

/* Nobody hears of a stream that was dropped, also when its place is another's by then. */
static void test_dropped_before_it_was_sent(void **state)
{
	struct http2 *http2 = open_http2();
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	struct rpc rpc;

	(void)state;
	request(http2, &rpc, false);
	http2_drop(http2, &rpc.stream);
	rpc_release(&rpc);
	request(http2, &rpc, false);
	assert_int_equal(http2_take(http2, &out, &err), 0);
	assert_int_equal(rpc.code, -1);
	assert_int_equal(rpc.stream.id, 3);
	assert_int_equal(http2_open(http2), 1);
	http2_free(http2);
	rpc_release(&rpc);
	buf_release(&out);
}

/* HEADERS, DATA … of this stream, as it stands on the wire. */
static unsigned count_frames(const struct buf *wire, int32_t id, unsigned type)
{
	const uint8_t *at = (const uint8_t *)wire->data, *end = at + wire->len;
	unsigned count = 0;

	for (; end - at >= 9; at += 9 + ((size_t)at[1] << 8 | at[2]))
		count += at[3] == type && at[8] == id;
	return count;
}

/* What is left of its question is not sent, however much room there comes to be. */
static void test_dropped_with_its_question_half_sent(void **state)
{
	static const uint8_t little[] = "\0\0\6\4\0\0\0\0\0\0\4\0\0\0\4";
	static const uint8_t room[] = "\0\0\4\10\0\0\0\0\1\0\0\1\0";
	struct http2 *http2 = open_http2();
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	struct rpc rpc;

	(void)state;
	assert_int_equal(http2_feed(http2, little, sizeof(little) - 1, &err), 0);
	request(http2, &rpc, false);
	assert_int_equal(http2_take(http2, &out, &err), 0);
	assert_int_equal(count_frames(&out, 1, 0), 1);
	assert_int_equal(rpc.stream.body_len, 5 - 4);
	http2_drop(http2, &rpc.stream);
	rpc_release(&rpc);
	request(http2, &rpc, false); /* in its place */
	assert_int_equal(http2_feed(http2, room, sizeof(room) - 1, &err), 0);
	buf_clear(&out);
	assert_int_equal(http2_take(http2, &out, &err), 0);
	assert_int_equal(count_frames(&out, 1, 3), 1);
	assert_int_equal(count_frames(&out, 1, 0), 0);
	assert_int_equal(count_frames(&out, 3, 0), 1);
	assert_int_equal(rpc.stream.body_len, 5 - 4);
	http2_free(http2);
	rpc_release(&rpc);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_question),
		cmocka_unit_test(test_one_message),
		cmocka_unit_test(test_stream_of_messages),
		cmocka_unit_test(test_fault_counts_more),
		cmocka_unit_test(test_no_more_than_may_be),
		cmocka_unit_test(test_used_again),
		cmocka_unit_test(test_long_words),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_secrets_are_in_no_table),
		cmocka_unit_test(test_dropped_before_it_was_sent),
		cmocka_unit_test(test_dropped_with_its_question_half_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
