/*
 * Nothing that a future or a hostile writer sends does harm; and what the first
 * step drops is nothing that the second would give.
 */
#include "decode_testing.h"
#include "log_bytes.h"
#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what others may send ---- */

/* Wraps `len` bytes at the end of `buf`, from `start` on, as a field. */
static void enclose(struct buf *buf, size_t start, unsigned int number)
{
	struct buf inner = BUF_INIT;

	buf_add(&inner, buf->data + start, buf->len - start);
	buf->len = start;
	bytes_varint(buf, number << 3 | 2);
	bytes_frame(buf, inner.data, inner.len);
	buf_release(&inner);
}

/* An action's start, with `extra` at each level of nesting, before and behind. */
static void pack_with(struct buf *out, const void *extra, size_t len)
{
	static const char start_fields[] = "\x18\x03"; /* kind=3: RUN */

	buf_add(out, extra, len);
	buf_add(out, start_fields, 2);
	buf_add(out, extra, len);
	enclose(out, 0, 51);
	buf_add(out, extra, len);
	enclose(out, 0, 20);
	buf_add(out, "\x18\x07", 2); /* span_id=7 */
	buf_add(out, extra, len);
	enclose(out, 0, 1);
	buf_add(out, extra, len);
}

static void test_unknown_fields(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} extras[] = {
		{"", 0},
		{"\xf8\xff\x01\x05", 4},    /* 4095: 5 */
		{"\xfa\xff\x01\x03zzz", 7}, /* 4095: "zzz" */
		{"\xf9\xff\x01"
		 "12345678",
		 11}, /* 4095: fixed64 */
		{"\xfd\xff\x01"
		 "1234",
		 7},						  /* 4095: fixed32 */
		{"\xfb\xff\x01\x08\x01\xfc\xff\x01", 8},	  /* 4095: group {1: 1} */
		{"\xfb\xff\x01\x0b\x0c\xfc\xff\x01", 8},	  /* group in a group */
		{"\xf8\xff\xff\xff\x0f\x80\x80\x80\x80\x00", 10}, /* the largest number, a long 0 */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(extras) / sizeof(extras[0]); i++) {
		struct buf record = BUF_INIT;

		pack_with(&record, extras[i].bytes, extras[i].len);
		expect_text(DECODE_PROTOBUF, record.data, record.len,
			    "6 seq=0 span=7 parent=0\n action type=1 failed=0 kind=3\n");
		buf_release(&record);
	}
}

static void test_deep_nesting(void **state)
{
	struct buf deep = BUF_INIT, record = BUF_INIT;
	char *text;
	int i;

	(void)state;
	for (i = 0; i < 500; i++)
		enclose(&deep, 0, 100);
	pack_with(&record, deep.data, deep.len);
	expect_text(DECODE_PROTOBUF, record.data, record.len,
		    "6 seq=0 span=7 parent=0\n action type=1 failed=0 kind=3\n");
	buf_clear(&deep);
	for (i = 0; i < 500; i++)
		buf_add(&deep, "\xa3\x06", 2); /* group 100 begins */
	for (i = 0; i < 500; i++)
		buf_add(&deep, "\xa4\x06", 2);
	buf_clear(&record);
	pack_with(&record, deep.data, deep.len);
	text = decode_text(DECODE_PROTOBUF, record.data, record.len);
	assert_non_null(strstr(text, "malformed"));
	free(text);
	buf_release(&record);

	/* JSON: deeper than is followed, in an event that would be wanted */
	buf_clear(&deep);
	buf_addstr(&deep, "{\"Event\":{\"data\":{\"SpanEnd\":{\"data\":{\"SpanCancelled\":{\"x\":");
	for (i = 0; i < 100000; i++)
		buf_addch(&deep, '[');
	text = decode_text(DECODE_JSON, deep.data, deep.len);
	assert_non_null(strstr(text, "malformed JSON"));
	free(text);
	buf_release(&deep);
}

static void test_malformed_protobuf(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} cases[] = {
		{"", 0},
		{"\x0a", 1},			 /* a tag, no length */
		{"\x0a\x05x", 3},		 /* longer than the record */
		{"\x0a\x02\x00\x00", 4},	 /* field number 0 */
		{"\x0a\x01\x0f", 3},		 /* wire type 7 */
		{"\x0a\x04\x08\x01\x12\x00", 6}, /* timestamp is no message */
		{"\x0a\x04\x0a\x02\x08\xff", 6}, /* seconds cut */
		{"\x0b", 1},			 /* a group that does not end */
		{"\x0c", 1},			 /* one that does not begin */
		{"\xa0\x06\x01", 3},		 /* neither invocation nor progress */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_text(DECODE_PROTOBUF, cases[i].bytes, cases[i].len,
			    "malformed protobuf message");
}

static void test_malformed_json(void **state)
{
	static const char *const cases[] = {
		"{",
		"null",
		"[]",
		"{}",
		"{\"Event\":{\"data\":{\"SpanEnd\":{\"data\":{\"SpanCancelled\":{}",
		"{\"Event\":7}",
		"{\"command_report\":1}",
		"{\"Event\":{\"timestamp\":\"now\",\"data\":{\"SpanEnd\":{\"data\":"
		"{\"SpanCancelled\":{}}}}}}",
		"{\"Event\":{\"span_id\":\"x\",\"data\":{\"SpanEnd\":{\"data\":"
		"{\"SpanCancelled\":{}}}}}}",
		"{\"command_line_args\":[7]}",
	};
	struct decoder *decoder = decoder_new(DECODE_JSON);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *data = (const uint8_t *)cases[i];
		struct err err = ERR_INIT;
		struct event *event;

		assert_int_equal(decode_wants(decoder, data, strlen(cases[i]), strlen(cases[i])),
				 DECODE_WANT);
		assert_int_equal(decode_record(decoder, data, strlen(cases[i]), &event, &err), -1);
		assert_int_equal(err.kind, ERR_FORMAT);
	}
	assert_int_equal(decode_wants(decoder, (const uint8_t *)"\0\0\0\0", 4, 4), DECODE_WANT);
	decoder_free(decoder);
}

/* The text of an action's end where all that is counted has this value. Caller frees. */
static char *counted_text(const char *value)
{
	static const char *const names[] = {"wall_time_us",	   "output_size",
					    "input_files_bytes",   "scheduling_mode",
					    "cache_upload_result", "something_new"};
	struct buf line = BUF_INIT;
	char *text;
	size_t i;

	buf_addf(&line,
		 "{\"Event\":{\"timestamp\":[1,0],\"new\":[%s,{\"a\":%s}],\"span_id\":7,\"data\":"
		 "{\"SpanEnd\":{\"duration_us\":%s,\"data\":{\"ActionExecution\":{"
		 "\"commands\":[{\"details\":{\"metadata\":{\"start_time\":[%s,0],"
		 "\"execution_stats\":{\"memory_peak\":%s}},\"signed_exit_code\":%s}}]",
		 value, value, value, value, value, value);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		buf_addf(&line, ",\"%s\":%s", names[i], value);
	buf_addstr(&line, "}}}}}}");
	text = decode_text(DECODE_JSON, line.data, line.len);
	buf_release(&line);
	return text;
}

static void expect_counted(const char *value, const char *want)
{
	char *text = counted_text(value), *quoted = xasprintf("\"%s\"", value);
	char *of_text = counted_text(quoted);

	assert_string_equal(text, want);
	assert_string_equal(of_text, want);
	free(text);
	free(quoted);
	free(of_text);
}

/* Of a record with a number that does not fit, that number is unknown, and no more. */
static void test_numbers_that_do_not_fit(void **state)
{
	static const char *const cases[] = {
		"9223372036854775808",
		"18446744073709551615",
		"18446744073709551616",
		"-9223372036854775809",
		"1.5",
		"1e30",
		"123456789012345678901234567890",
	};
	size_t i;

	(void)state;
	expect_counted("5",
		       "8 seq=0 span=7 parent=0 time_ns=1000000000 duration_us=5\n"
		       " action type=1 failed=0 kind=0 execution_kind=0 wall_us=5 duration_us=5"
		       " output_bytes=5 input_bytes=5 upload=5 scheduling_mode=5\n"
		       "  attempt kind=0 status=0 hit=0 worker=0 exit=5 start_ns=5000000000"
		       " memory_peak=5\n");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_counted(cases[i], "8 seq=0 span=7 parent=0 time_ns=1000000000\n"
					 " action type=1 failed=0 kind=0 execution_kind=0\n"
					 "  attempt kind=0 status=0 hit=0 worker=0\n");
}

/* Spans have numbers of 64 bits. */
static void test_large_spans(void **state)
{
	static const char *const cases[] = {"18446744073709551615", "\"18446744073709551615\""};
	char *text, *line;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		line = xasprintf("{\"Event\":{\"timestamp\":[1,0],\"span_id\":%s,\"data\":{"
				 "\"SpanEnd\":{\"data\":{\"ActionExecution\":{}}}}}}",
				 cases[i]);
		text = decode_text(DECODE_JSON, line, strlen(line));
		assert_non_null(strstr(text, " span=18446744073709551615 "));
		free(text);
		free(line);
	}
}

/* Half the record is a million attempts that say nothing: refused, and the next one is read. */
static void test_too_many_parts(void **state)
{
	struct decoder *decoder = decoder_new(DECODE_PROTOBUF);
	struct buf record = BUF_INIT;
	struct err err = ERR_INIT;
	struct event *event;
	int i;

	(void)state;
	for (i = 0; i < 1000000; i++)
		buf_add(&record, "\xca\x01\x00", 3); /* commands=25 {} */
	enclose(&record, 0, 51);
	enclose(&record, 0, 21);
	enclose(&record, 0, 1);
	assert_int_equal(decode_record(decoder, (uint8_t *)record.data, record.len, &event, &err),
			 -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	buf_clear(&record);
	pack_with(&record, "", 0);
	assert_int_equal(decode_record(decoder, (uint8_t *)record.data, record.len, &event, &err),
			 1);
	buf_release(&record);
	decoder_free(decoder);
}

/* critical_path2=5 of `count` steps, each with these bytes, in its event. */
static void pack_path(struct buf *out, int count, const char *step, size_t len)
{
	int i;

	for (i = 0; i < count; i++) {
		bytes_varint(out, 5 << 3 | 2);
		bytes_frame(out, step, len);
	}
	enclose(out, 0, 4);
	enclose(out, 0, 22);
	enclose(out, 0, 1);
}

static void expect_path(int count, const char *step, size_t len, int rc, enum err_kind kind)
{
	struct decoder *decoder = decoder_new(DECODE_PROTOBUF);
	struct buf record = BUF_INIT;
	struct err err = ERR_INIT;
	struct event *event;

	pack_path(&record, count, step, len);
	assert_int_equal(decode_record(decoder, (uint8_t *)record.data, record.len, &event, &err),
			 rc);
	if (rc > 0)
		assert_int_equal(event->graph.paths[PATH_CRITICAL].count, count);
	else
		assert_int_equal(err.kind, kind);
	buf_release(&record);
	decoder_free(decoder);
}

static void test_paths(void **state)
{
	(void)state;
	expect_path(10000, "\x0a\x02\xac\x02", 4, 1, 0);	   /* span_ids {300} */
	expect_path(1, "\x08\xac\x02\x08\x07", 5, 1, 0);	   /* not packed */
	expect_path(1, "\x0a\x01\xac", 3, -1, ERR_FORMAT);	   /* a number cut */
	expect_path(1, "\x0d\x01\x02\x03\x04", 5, -1, ERR_FORMAT); /* fixed32 */
	expect_path(1, "\xaa\x06\x02\x0a\x09", 5, -1, ERR_FORMAT); /* action_execution cut */
	expect_path(100000, "", 0, -1, ERR_LIMIT);
}

static void test_too_many_json_values(void **state)
{
	struct buf line = BUF_INIT;
	char *text;
	int i;

	(void)state;
	buf_addstr(&line, "{\"command_line_args\":[\"x\"");
	for (i = 0; i < 2000000; i++)
		buf_addstr(&line, ",\"\"");
	buf_addstr(&line, "]}");
	text = decode_text(DECODE_JSON, line.data, line.len);
	assert_non_null(strstr(text, "more parts"));
	free(text);
	buf_release(&line);
}

static void test_a_nul_in_a_text(void **state)
{
	static const char json[] = "{\"trace_id\":\"t\",\"working_dir\":\"a\\u0000b\"}";
	struct decoder *decoder = decoder_new(DECODE_JSON);
	struct err err = ERR_INIT;
	struct event *event;

	(void)state;
	assert_int_equal(decode_record(decoder, (const uint8_t *)json, strlen(json), &event, &err),
			 1);
	assert_int_equal(event->invocation.working_dir.len, 3);
	decoder_free(decoder);
}

/* ---- the first step ---- */

/* Whatever the head's length: never SKIP for what is wanted, SKIP for the rest once it can tell. */
static void expect_wants(enum decode_format format, const void *data, size_t len, bool wanted)
{
	struct decoder *decoder = decoder_new(format);
	size_t head;
	bool skipped = false;

	for (head = 0; head <= len; head++) {
		if (decode_wants(decoder, data, head, len) == DECODE_WANT) {
			assert_false(skipped);
			continue;
		}
		assert_false(wanted);
		skipped = true;
	}
	assert_int_equal(skipped, !wanted);
	decoder_free(decoder);
}

static void test_wants(void **state)
{
	static const char snapshot[] = JSON_INSTANT("\"Snapshot\":{\"buck2_rss\":1}");
	static const char local[] =
		JSON_STAGE("\"Local\":{\"stage\":{\"Execute\":{\"command\":{\"argv\":[\"x\"]}}}}");
	static const char query[] = JSON_STAGE("\"CacheQuery\":{\"action_digest\":\"x\"}");
	static const char end[] = JSON_END("\"ActionExecution\":{}");
	static const char other[] = JSON_END("\"Materialization\":{\"path\":\"{\\\"\"}");
	struct buf record = BUF_INIT;

	(void)state;
	expect_wants(DECODE_JSON, snapshot, strlen(snapshot), false);
	expect_wants(DECODE_JSON, local, strlen(local), false);
	expect_wants(DECODE_JSON, query, strlen(query), true);
	expect_wants(DECODE_JSON, end, strlen(end), true);
	expect_wants(DECODE_JSON, other, strlen(other), false);

	pack_with(&record, "", 0);
	expect_wants(DECODE_PROTOBUF, record.data, record.len, true);
	buf_clear(&record);
	buf_addstr(&record, "a snapshot");
	enclose(&record, 0, 10);
	enclose(&record, 0, 22);
	enclose(&record, 0, 1);
	expect_wants(DECODE_PROTOBUF, record.data, record.len, false);
	buf_release(&record);
}

/* Of one event: a span's end with nothing in it that we read, and an action's end. */
static void pack_two_ends(struct buf *out)
{
	buf_addstr(out, "a snapshot");
	enclose(out, 0, 10);
	enclose(out, 0, 21);
	enclose(out, out->len, 51); /* an action's end, all of whose fields are unset */
	enclose(out, out->len - 3, 21);
}

/* The same within one span's start: a stage that we do not read, and an action's start. */
static void pack_two_starts(struct buf *out)
{
	buf_addstr(out, "a command");
	enclose(out, 0, 2);
	enclose(out, 0, 21);
	enclose(out, 0, 54);
	enclose(out, out->len, 51);
	enclose(out, 0, 20);
}

/* `twice` in an event that begins with `head`. */
static void expect_second(const char *head, size_t head_len, const struct buf *twice,
			  enum event_kind kind)
{
	struct decoder *decoder = decoder_new(DECODE_PROTOBUF);
	struct buf record = BUF_INIT;
	struct err err = ERR_INIT;
	struct event *event;

	buf_add(&record, head, head_len);
	buf_add(&record, twice->data, twice->len);
	enclose(&record, 0, 1);
	expect_wants(DECODE_PROTOBUF, record.data, record.len, true);
	assert_int_equal(
		decode_record(decoder, (const uint8_t *)record.data, record.len, &event, &err), 1);
	assert_int_equal(event->kind, kind);
	buf_release(&record);
	decoder_free(decoder);
}

/*
 * No Buck2 writes them. The second step reads both, so the first must not pass over them; in
 * the order of the usual event (timestamp, trace id) neither.
 */
static void test_wants_what_follows(void **state)
{
	static const char usual[] = "\x0a\x02\x08\x01\x12\x24"
				    "00000000-0000-0000-0000-000000000000";
	struct buf ends = BUF_INIT, starts = BUF_INIT;

	(void)state;
	pack_two_ends(&ends);
	pack_two_starts(&starts);
	expect_second("", 0, &ends, EVENT_ACTION_END);
	expect_second("", 0, &starts, EVENT_ACTION_START);
	expect_second(usual, sizeof(usual) - 1, &ends, EVENT_ACTION_END);
	expect_second(usual, sizeof(usual) - 1, &starts, EVENT_ACTION_START);
	buf_release(&ends);
	buf_release(&starts);
}

/* A huge unwanted record is known by its head alone. */
static void test_wants_by_the_head(void **state)
{
	struct decoder *decoder = decoder_new(DECODE_PROTOBUF);
	struct buf record = BUF_INIT;

	(void)state;
	memset(buf_reserve(&record, 1 << 20), 'x', 1 << 20);
	buf_grew(&record, 1 << 20);
	enclose(&record, 0, 2);	 /* LocalStage.execute */
	enclose(&record, 0, 21); /* ExecutorStageStart.local */
	enclose(&record, 0, 54); /* SpanStartEvent.executor_stage */
	enclose(&record, 0, 20);
	enclose(&record, 0, 1);
	assert_int_equal(decode_wants(decoder, (uint8_t *)record.data, 64, record.len),
			 DECODE_SKIP);
	assert_int_equal(decode_wants(decoder, (uint8_t *)record.data, record.len, record.len),
			 DECODE_SKIP);
	buf_release(&record);
	decoder_free(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_fields),
		cmocka_unit_test(test_deep_nesting),
		cmocka_unit_test(test_malformed_protobuf),
		cmocka_unit_test(test_malformed_json),
		cmocka_unit_test(test_numbers_that_do_not_fit),
		cmocka_unit_test(test_large_spans),
		cmocka_unit_test(test_too_many_parts),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_too_many_json_values),
		cmocka_unit_test(test_a_nul_in_a_text),
		cmocka_unit_test(test_wants),
		cmocka_unit_test(test_wants_what_follows),
		cmocka_unit_test(test_wants_by_the_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
