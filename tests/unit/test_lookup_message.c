/* Questions about blobs as bytes, and answers that hold them. */
#include "lookup_message.h"

#include "digest.h"
#include "lookup_reply.h"
#include "util/buf.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

/* ---- making messages ---- */

static void add_varint(struct buf *out, uint64_t value)
{
	for (; value > 127; value >>= 7)
		buf_addch(out, (char)(value & 127) | (char)0x80);
	buf_addch(out, (char)value);
}

static void add_part(struct buf *out, unsigned number, const void *data, size_t len)
{
	add_varint(out, number << 3 | 2);
	add_varint(out, len);
	buf_add(out, data, len);
}

static void add_number(struct buf *out, unsigned number, uint64_t value)
{
	add_varint(out, number << 3);
	add_varint(out, value);
}

static struct digest digest_of(char digit, size_t hash_len, enum digest_function function,
			       int64_t size)
{
	struct digest digest = {.hash_len = (uint8_t)hash_len, .function = (uint8_t)function};

	memset(digest.hash, (digit - 'a' + 10) * 0x11, hash_len);
	digest.size_bytes = size;
	return digest;
}

static struct lookup_request request_of(const char *instance, struct digest digest)
{
	return (struct lookup_request){1, LOOKUP_BLOB, instance, digest};
}

/* ---- resource names ---- */

static void assert_name(const char *instance, struct digest digest, const char *prefix,
			const char *suffix)
{
	struct lookup_request request = request_of(instance, digest);
	struct buf name = BUF_INIT, wanted = BUF_INIT;
	char text[DIGEST_TEXT_MAX];

	message_resource_name(&request, &name);
	digest_format(&digest, text);
	*strchr(text, ':') = '\0';
	buf_addf(&wanted, "%s%s%s", prefix, text, suffix);
	assert_string_equal(name.data, wanted.data);
	buf_release(&name);
	buf_release(&wanted);
}

static void test_resource_names(void **state)
{
	(void)state;
	assert_name("main", digest_of('a', 32, DIGEST_SHA256, 7), "main/blobs/", "/7");
	/* No leading slash where there is no instance (remote-apis-sdks#490). */
	assert_name("", digest_of('a', 32, DIGEST_SHA256, 0), "blobs/", "/0");
	/* Not percent-encoded. */
	assert_name("a/b c", digest_of('a', 20, DIGEST_SHA1, 7), "a/b c/blobs/", "/7");
	assert_name("i", digest_of('a', 16, DIGEST_MD5, 7), "i/blobs/", "/7");
	assert_name("i", digest_of('a', 64, DIGEST_SHA512, 7), "i/blobs/", "/7");
	/* Functions that the length does not tell. */
	assert_name("i", digest_of('b', 32, DIGEST_SHA256TREE, 7), "i/blobs/sha256tree/", "/7");
	assert_name("i", digest_of('b', 32, DIGEST_BLAKE3, 7), "i/blobs/blake3/", "/7");
	assert_name("", digest_of('b', 20, DIGEST_GITSHA1, 7), "blobs/gitsha1/", "/7");
}

/* ---- questions ---- */

static void test_batch(void **state)
{
	struct lookup_request requests[2] = {
		request_of("in st", digest_of('a', 32, DIGEST_BLAKE3, 7)),
		request_of("in st", digest_of('b', 32, DIGEST_BLAKE3, 0)),
	};
	const struct lookup_request *list[2] = {&requests[0], &requests[1]};
	struct buf out = BUF_INIT, wanted = BUF_INIT, digest = BUF_INIT;
	char hash[64];

	(void)state;
	add_part(&wanted, 1, "in st", 5);
	memset(hash, 'a', sizeof(hash));
	add_part(&digest, 1, hash, sizeof(hash));
	add_number(&digest, 2, 7);
	add_part(&wanted, 2, digest.data, digest.len);
	buf_clear(&digest);
	memset(hash, 'b', sizeof(hash));
	add_part(&digest, 1, hash, sizeof(hash));
	add_number(&digest, 2, 0);
	add_part(&wanted, 2, digest.data, digest.len);
	add_number(&wanted, 4, DIGEST_BLAKE3);
	message_batch(list, 2, &out);
	assert_int_equal(out.len, wanted.len);
	assert_memory_equal(out.data, wanted.data, out.len);
	buf_release(&out);
	buf_release(&wanted);
	buf_release(&digest);
}

static void test_read(void **state)
{
	struct lookup_request request = request_of("", digest_of('c', 16, DIGEST_MD5, 12));
	static const char name[] = "blobs/cccccccccccccccccccccccccccccccc/12";
	struct buf out = BUF_INIT, wanted = BUF_INIT;

	(void)state;
	add_part(&wanted, 1, name, sizeof(name) - 1);
	message_read(&request, &out);
	assert_int_equal(out.len, wanted.len);
	assert_memory_equal(out.data, wanted.data, out.len);
	buf_release(&out);
	buf_release(&wanted);
}

/* ---- answers ---- */

/* One Response; size 0 is left out, as proto3 does. NULL: no such field. */
static void add_response(struct buf *out, char digit, int64_t size, const char *data, int code,
			 const char *message)
{
	struct buf response = BUF_INIT, digest = BUF_INIT, status = BUF_INIT;
	char hash[64];

	memset(hash, digit, sizeof(hash));
	add_part(&digest, 1, hash, sizeof(hash));
	if (size)
		add_number(&digest, 2, (uint64_t)size);
	add_part(&response, 1, digest.data, digest.len);
	if (data)
		add_part(&response, 2, data, strlen(data));
	if (code)
		add_number(&status, 1, (uint64_t)code);
	if (message)
		add_part(&status, 2, message, strlen(message));
	add_part(&response, 3, status.data, status.len);
	add_part(out, 1, response.data, response.len);
	buf_release(&response);
	buf_release(&digest);
	buf_release(&status);
}

static struct blob_answer find(const struct buf *batch, char digit, int64_t size)
{
	struct digest digest = digest_of(digit, 32, DIGEST_SHA256, size);
	struct blob_answer answer;

	message_batch_find((const uint8_t *)batch->data, batch->len, &digest, &answer);
	return answer;
}

static void test_batch_answer(void **state)
{
	struct buf batch = BUF_INIT;
	struct blob_answer answer;

	(void)state;
	add_part(&batch, 99, "unknown", 7);
	add_response(&batch, 'b', 4, NULL, CODE_NOT_FOUND, "Object not found");
	add_response(&batch, 'a', 5, "other", 0, NULL);
	add_response(&batch, 'a', 4, "data", 0, NULL);
	add_response(&batch, 'e', 0, NULL, 0, NULL);

	answer = find(&batch, 'a', 4);
	assert_int_equal(answer.code, CODE_OK);
	assert_true(str_is(answer.data, "data"));
	answer = find(&batch, 'b', 4);
	assert_int_equal(answer.code, CODE_NOT_FOUND);
	assert_true(str_is(answer.message, "Object not found"));
	/* An empty blob is one that is there. */
	answer = find(&batch, 'e', 0);
	assert_int_equal(answer.code, CODE_OK);
	assert_non_null(answer.data.data);
	assert_int_equal(answer.data.len, 0);
	/* What is left out, by hash or by size. */
	assert_int_equal(find(&batch, 'c', 4).code, CODE_INTERNAL);
	assert_int_equal(find(&batch, 'b', 5).code, CODE_INTERNAL);
	buf_release(&batch);
}

/* A number where bytes are meant, and fields of tomorrow, are passed over. */
static void test_odd_fields(void **state)
{
	struct buf batch = BUF_INIT, whole = BUF_INIT, odd = BUF_INIT;
	struct blob_answer answer;

	(void)state;
	add_response(&whole, 'a', 4, "data", CODE_NOT_FOUND, "gone");
	add_number(&odd, 1, 7);
	add_number(&odd, 3, 2);
	add_part(&odd, 77, "tomorrow", 8);
	buf_add(&odd, whole.data + 2, whole.len - 2); /* behind tag and length, one byte each */
	add_number(&odd, 2, 9);
	assert_true(odd.len < 128);
	add_part(&batch, 1, odd.data, odd.len);
	answer = find(&batch, 'a', 4);
	assert_int_equal(answer.code, CODE_NOT_FOUND);
	assert_true(str_is(answer.message, "gone"));
	assert_true(str_is(answer.data, "data"));
	buf_release(&batch);
	buf_release(&whole);
	buf_release(&odd);
}

/* Whatever a server writes there, a code is one of google.rpc.Code. */
static void test_odd_codes(void **state)
{
	struct buf batch = BUF_INIT;

	(void)state;
	add_response(&batch, 'a', 1, NULL, 17, "x");
	add_response(&batch, 'b', 1, NULL, -1, "x");
	add_response(&batch, 'c', 1, NULL, 16, "x");
	assert_int_equal(find(&batch, 'a', 1).code, CODE_UNKNOWN);
	assert_int_equal(find(&batch, 'b', 1).code, CODE_UNKNOWN);
	assert_int_equal(find(&batch, 'c', 1).code, CODE_UNAUTHENTICATED);
	buf_release(&batch);
}

/* Cut at any byte: whatever is still whole is found, nothing is read beyond the end. */
static void test_cut_batch(void **state)
{
	struct buf batch = BUF_INIT;
	size_t len;

	(void)state;
	add_response(&batch, 'a', 4, "data", 0, NULL);
	for (len = 0; len <= batch.len; len++) {
		struct buf cut = BUF_INIT;
		struct blob_answer answer;

		buf_add(&cut, batch.data, len);
		answer = find(&cut, 'a', 4);
		assert_int_equal(answer.code, len == batch.len ? CODE_OK : CODE_INTERNAL);
		buf_release(&cut);
	}
	buf_release(&batch);
}

static void test_read_part(void **state)
{
	struct buf message = BUF_INIT, data = BUF_INIT;

	(void)state;
	assert_true(message_read_part((const uint8_t *)"", 0, &data));
	assert_int_equal(data.len, 0);
	add_part(&message, 10, "ab", 2);
	assert_true(message_read_part((const uint8_t *)message.data, message.len, &data));
	assert_true(message_read_part((const uint8_t *)message.data, message.len, &data));
	assert_string_equal(data.data, "abab");
	assert_false(message_read_part((const uint8_t *)message.data, message.len - 1, &data));
	buf_release(&message);
	buf_release(&data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resource_names), cmocka_unit_test(test_batch),
		cmocka_unit_test(test_read),	       cmocka_unit_test(test_batch_answer),
		cmocka_unit_test(test_odd_fields),     cmocka_unit_test(test_odd_codes),
		cmocka_unit_test(test_cut_batch),      cmocka_unit_test(test_read_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
