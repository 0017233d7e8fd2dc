/* Whole log files -> events: every encoding alike, cut, joined, damaged, huge. */
#include "decode_testing.h"
#include "event_text.h"
#include "log_bytes.h"
#include "reader.h"
#include "scratch.h"
#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LOGS TEST_DATA "/logs"
#define ENCODED LOGS "/encodings/20261130-015932_build_b5fe85a1-cda7-4935-baf7-8caab7fecd4b_events"

/* ---- reading a file whole ---- */

struct outcome {
	struct buf text; /* of all events */
	struct log_tally tally;
	enum stream_ending ending;
	char fault[256], complaint[512];
};

static void add_event(struct buf *text, const struct event *event)
{
	struct decoder *decoder = NULL;
	struct event *whole;

	if (event->kind == EVENT_ACTION_START || event->kind == EVENT_STAGE) {
		decoder = decode_rest(event, &whole);
		event = whole;
	}
	event_text(text, event);
	decoder_free(decoder);
}

static void read_fd(int fd, struct outcome *out)
{
	struct log_reader *reader;
	const struct event *event;
	struct err err = ERR_INIT;
	int rc;

	buf_init(&out->text);
	if (log_reader_open(&reader, fd, "made", true, &err) < 0)
		fail_msg("%s", err.text);
	while ((rc = log_reader_next(reader, &event, &err)) > 0)
		add_event(&out->text, event);
	assert_int_equal(rc, 0);
	out->tally = *log_reader_tally(reader);
	out->ending = log_reader_ending(reader);
	snprintf(out->fault, sizeof(out->fault), "%s", log_reader_fault(reader));
	snprintf(out->complaint, sizeof(out->complaint), "%s", log_reader_complaint(reader));
	assert_int_equal(out->tally.records, out->tally.events + out->tally.unwanted +
						     out->tally.malformed + out->tally.too_large);
	log_reader_free(reader);
}

static void read_bytes(const struct buf *file, struct outcome *out)
{
	read_fd(bytes_open(file->data, file->len), out);
}

/* ---- encodings ---- */

static void expect_same(const struct buf *file, const struct outcome *whole)
{
	struct outcome outcome;

	read_bytes(file, &outcome);
	assert_int_equal(outcome.ending, STREAM_WHOLE);
	assert_memory_equal(&outcome.tally, &whole->tally, sizeof(whole->tally));
	assert_string_equal(outcome.text.data, whole->text.data);
	buf_release(&outcome.text);
}

static void load_whole(struct buf *plain, struct outcome *whole)
{
	bytes_load_unpacked(plain, ENCODED ".pb.zst");
	read_bytes(plain, whole);
	assert_int_equal(whole->ending, STREAM_WHOLE);
	assert_int_equal(whole->tally.events, 286);
}

static void test_encodings(void **state)
{
	static const char *const suffixes[] = {".pb.zst", ".pb.gz", ".json-lines.zst",
					       ".json-lines.gz"};
	struct buf plain = BUF_INIT;
	struct outcome whole;
	size_t i;

	(void)state;
	load_whole(&plain, &whole);
	for (i = 0; i < 4; i++) {
		char *path = xasprintf("%s%s", ENCODED, suffixes[i]);
		struct buf file = BUF_INIT;

		bytes_load(&file, path);
		expect_same(&file, &whole);
		buf_clear(&file);
		bytes_load_unpacked(&file, path);
		expect_same(&file, &whole);
		buf_release(&file);
		free(path);
	}
	buf_release(&plain);
	buf_release(&whole.text);
}

static void test_split_frames(void **state)
{
	struct buf plain = BUF_INIT, file = BUF_INIT;
	struct outcome whole;

	(void)state;
	load_whole(&plain, &whole);
	bytes_zstd(&file, plain.data, 300001, 0);
	bytes_zstd(&file, plain.data + 300001, plain.len - 300001, 3000);
	expect_same(&file, &whole);
	buf_clear(&file);
	bytes_gzip(&file, plain.data, 123457);
	bytes_gzip(&file, plain.data + 123457, plain.len - 123457);
	expect_same(&file, &whole);
	buf_release(&file);
	buf_release(&plain);
	buf_release(&whole.text);
}

/* ---- cut short ---- */

/* Every 97th byte: the events are the whole log's first ones. */
static void cut_everywhere(const char *path, size_t stride)
{
	struct buf file = BUF_INIT;
	struct outcome whole;
	size_t at, most = 0;

	bytes_load(&file, path);
	read_bytes(&file, &whole);
	for (at = 0; at < file.len; at += stride) {
		struct buf part = {file.data, at, file.cap};
		struct outcome outcome;

		read_bytes(&part, &outcome);
		assert_int_equal(outcome.ending, at ? STREAM_CUT : STREAM_WHOLE);
		assert_int_equal(outcome.tally.malformed, 0);
		assert_true(outcome.text.len >= most);
		most = outcome.text.len;
		assert_memory_equal(outcome.text.data, whole.text.data, most);
		buf_release(&outcome.text);
	}
	assert_true(most > 0);
	buf_release(&file);
	buf_release(&whole.text);
}

static void test_cut_zstd(void **state)
{
	(void)state;
	cut_everywhere(LOGS "/cut/20261130-015922_build_c2f6c9dc-0de7-4686-b15c-cd990af45c00_"
			    "events.pb.zst",
		       97);
	cut_everywhere(ENCODED ".pb.zst", 97 * 41);
	cut_everywhere(ENCODED ".json-lines.zst", 97 * 83);
}

static void test_cut_gzip(void **state)
{
	(void)state;
	cut_everywhere(ENCODED ".pb.gz", 97 * 101);
}

static void test_cut_plain(void **state)
{
	struct buf plain = BUF_INIT;
	struct outcome whole, outcome;

	(void)state;
	load_whole(&plain, &whole);
	plain.len -= 1;
	read_bytes(&plain, &outcome);
	assert_int_equal(outcome.ending, STREAM_CUT);
	assert_int_equal(outcome.tally.records, whole.tally.records - 1);
	buf_release(&outcome.text);
	buf_release(&plain);
	buf_release(&whole.text);
}

/* ---- several logs in one file ---- */

static void expect_twice(const struct buf *file, const struct outcome *whole)
{
	struct outcome outcome;
	struct buf twice = BUF_INIT;

	buf_add(&twice, whole->text.data, whole->text.len);
	buf_add(&twice, whole->text.data, whole->text.len);
	read_bytes(file, &outcome);
	assert_string_equal(outcome.text.data, twice.data);
	assert_int_equal(outcome.tally.records, 2 * whole->tally.records);
	buf_release(&outcome.text);
	buf_release(&twice);
}

static void test_two_logs_in_a_file(void **state)
{
	struct buf plain = BUF_INIT, file = BUF_INIT;
	struct outcome whole;

	(void)state;
	load_whole(&plain, &whole);
	buf_add(&file, plain.data, plain.len);
	buf_add(&file, plain.data, plain.len);
	expect_twice(&file, &whole);
	buf_clear(&file);
	bytes_zstd(&file, plain.data, plain.len, 0);
	bytes_zstd(&file, plain.data, plain.len, 0);
	expect_twice(&file, &whole);
	buf_clear(&file);
	bytes_load(&file, ENCODED ".json-lines.gz");
	bytes_load(&file, ENCODED ".json-lines.gz");
	expect_twice(&file, &whole);
	buf_release(&file);
	buf_release(&plain);
	buf_release(&whole.text);
}

/* ---- made logs ---- */

#define TRACE "83f0a2c4-0000-4000-8000-123456789abc"
#define OTHER "99f0a2c4-0000-4000-8000-123456789abc"
#define HEADER(trace) "{\"command_line_args\":[\"buck2\"],\"trace_id\":\"" trace "\"}\n"
#define CANCELLED(trace, span)                                      \
	"{\"Event\":{\"trace_id\":\"" trace "\",\"span_id\":" #span \
	",\"data\":{\"SpanEnd\":{\"data\":{\"SpanCancelled\":{}}}}}}\n"

static void read_text(const char *text, size_t len, struct outcome *out)
{
	read_fd(bytes_open(text, len), out);
}

static void expect_reader_text(const char *log, const char *events)
{
	struct outcome outcome;

	read_text(log, strlen(log), &outcome);
	assert_string_equal(outcome.text.data, events);
	buf_release(&outcome.text);
}

#define INVOCATION(seq, trace)                                                       \
	"1 seq=" #seq " span=0 parent=0 trace=\"" trace "\" trace_id=\"" trace "\" " \
	"arg=\"buck2\"\n"
#define EVENT(seq, trace, id) "9 seq=" #seq " span=" #id " parent=0 trace=\"" trace "\"\n"

static void test_where_a_log_begins(void **state)
{
	(void)state;
	expect_reader_text(HEADER(TRACE) CANCELLED(TRACE, 1) HEADER(OTHER) CANCELLED(OTHER, 2),
			   INVOCATION(1, TRACE) EVENT(2, TRACE, 1) INVOCATION(1, OTHER)
				   EVENT(2, OTHER, 2));
	/* the first two swapped: still one log */
	expect_reader_text(CANCELLED(TRACE, 1) HEADER(TRACE) CANCELLED(TRACE, 2),
			   EVENT(1, TRACE, 1) INVOCATION(2, TRACE) EVENT(3, TRACE, 2));
	/* the end of one whose beginning is lost, then another */
	expect_reader_text(CANCELLED(TRACE, 1) HEADER(OTHER) CANCELLED(OTHER, 2),
			   EVENT(1, TRACE, 1) INVOCATION(1, OTHER) EVENT(2, OTHER, 2));
	expect_reader_text(HEADER(TRACE), INVOCATION(1, TRACE));
}

static void test_holes_in_lines(void **state)
{
	static const char log[] = HEADER(TRACE) CANCELLED(TRACE, 1) "\0\0\0\0\n{\"Event\n"
								    "\n" CANCELLED(TRACE, 2);
	struct outcome outcome;

	(void)state;
	read_text(log, sizeof(log) - 1, &outcome);
	assert_string_equal(outcome.text.data,
			    INVOCATION(1, TRACE) EVENT(2, TRACE, 1) EVENT(5, TRACE, 2));
	assert_int_equal(outcome.tally.malformed, 2);
	assert_int_equal(outcome.tally.events, 3);
	assert_int_equal(outcome.ending, STREAM_WHOLE);
	assert_true(strncmp(outcome.complaint, "record 3: ", 10) == 0);
	buf_release(&outcome.text);
}

static void test_empty_file(void **state)
{
	struct outcome outcome;

	(void)state;
	read_text("", 0, &outcome);
	assert_int_equal(outcome.ending, STREAM_WHOLE);
	assert_int_equal(outcome.tally.records, 0);
	buf_release(&outcome.text);
}

static void test_not_a_log(void **state)
{
	struct log_reader *reader;
	struct err err = ERR_INIT;
	int fd = bytes_open("some text", 9);

	(void)state;
	assert_int_equal(log_reader_open(&reader, fd, "notes.pb", true, &err), -1);
	assert_int_equal(err.kind, ERR_FORMAT);
	assert_non_null(strstr(err.text, "notes.pb"));
}

/* A window that no one has memory for, and damage: said, and no error of the run. */
static void test_broken_files(void **state)
{
	struct buf plain = BUF_INIT, file = BUF_INIT;
	struct outcome whole, outcome;

	(void)state;
	read_text("\x28\xb5\x2f\xfd\x00\xa8\x09\x00\x00x", 10, &outcome);
	assert_int_equal(outcome.ending, STREAM_BROKEN);
	assert_non_null(strstr(outcome.fault, "2048 MiB"));
	buf_release(&outcome.text);

	load_whole(&plain, &whole);
	bytes_zstd(&file, plain.data, plain.len, 3000);
	memset(file.data + file.len / 2, 0xff, 1500); /* some block's header is among them */
	read_bytes(&file, &outcome);
	assert_int_equal(outcome.ending, STREAM_BROKEN);
	assert_true(outcome.text.len > 0);
	assert_memory_equal(outcome.text.data, whole.text.data, outcome.text.len);
	buf_release(&outcome.text);
	buf_release(&file);
	buf_release(&plain);
	buf_release(&whole.text);
}

/* ---- memory ---- */

static long peak_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long kib = 0;

	assert_non_null(file);
	while (!kib && fgets(line, sizeof(line), file))
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	fclose(file);
	assert_true(kib > 0);
	return kib;
}

/* Packs `head`, 1 GiB of spaces and `tail`: a small file. */
static void pack_huge(struct buf *packed, const struct buf *head, const struct buf *tail)
{
	struct buf frame = BUF_INIT;
	char *part = xmalloc(1 << 20);
	unsigned int i;

	bytes_zstd(packed, head->data, head->len, 0);
	memset(part, ' ', 1 << 20);
	bytes_zstd(&frame, part, 1 << 20, 0);
	for (i = 0; i < 1 << 10; i++)
		buf_add(packed, frame.data, frame.len);
	bytes_zstd(packed, tail->data, tail->len, 0);
	buf_release(&frame);
	free(part);
}

/* A wanted record of 1 GiB, then a real one: the first is passed over, in little memory. */
static void expect_bounded(const struct buf *head, const struct buf *tail)
{
	struct buf packed = BUF_INIT;
	struct outcome outcome;
	long before;

	pack_huge(&packed, head, tail);
	before = peak_kib();
	read_bytes(&packed, &outcome);
	assert_true(peak_kib() - before < 64 << 10);
	assert_int_equal(outcome.ending, STREAM_WHOLE);
	assert_int_equal(outcome.tally.records, 2);
	assert_int_equal(outcome.tally.too_large, 1);
	assert_int_equal(outcome.tally.events, 1);
	assert_non_null(strstr(outcome.complaint, "record 1: "));
	buf_release(&outcome.text);
	buf_release(&packed);
}

static void test_memory_is_bounded(void **state)
{
	struct buf head = BUF_INIT, tail = BUF_INIT;

	(void)state;
	bytes_varint(&head, (1ull << 30) + 6);
	buf_add(&head, "\x12\x80\x80\x80\x80\x04", 6); /* CommandProgress.result, 2^30 bytes */
	bytes_frame(&tail, "\x1a\x24" TRACE, 38);
	expect_bounded(&head, &tail);
	buf_clear(&head);
	buf_clear(&tail);
	buf_addstr(&head, "{\"Result\":");
	buf_addstr(&tail, "{}}\n" HEADER(TRACE));
	expect_bounded(&head, &tail);
	buf_release(&head);
	buf_release(&tail);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_is_bounded), /* first: it looks at the peak */
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_split_frames),
		cmocka_unit_test(test_cut_zstd),
		cmocka_unit_test(test_cut_gzip),
		cmocka_unit_test(test_cut_plain),
		cmocka_unit_test(test_two_logs_in_a_file),
		cmocka_unit_test(test_where_a_log_begins),
		cmocka_unit_test(test_holes_in_lines),
		cmocka_unit_test(test_empty_file),
		cmocka_unit_test(test_not_a_log),
		cmocka_unit_test(test_broken_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
