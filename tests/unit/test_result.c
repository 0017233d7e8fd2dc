#include "result.h"

#include "message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <cmocka.h>

#define TYPE "type.googleapis.com/"
#define POSIX "buildbarn.resourceusage.POSIXResourceUsage"
#define FILE_POOL "buildbarn.resourceusage.FilePoolResourceUsage"
#define INPUT_ROOT "buildbarn.resourceusage.InputRootResourceUsage"
#define MONETARY "buildbarn.resourceusage.MonetaryResourceUsage"
#define REQUEST "build.bazel.remote.execution.v2.RequestMetadata"

struct fixture {
	struct arena arena;
	struct buf metadata, action;
	struct buf bytes; /* of what is parsed: results borrow from it */
	struct result result;
	struct err err;
};

static int setup(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	arena_init(&fixture.arena, RESULT_ARENA_MAX);
	buf_init(&fixture.metadata);
	buf_init(&fixture.action);
	buf_init(&fixture.bytes);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->arena);
	buf_release(&f->metadata);
	buf_release(&f->action);
	buf_release(&f->bytes);
	return 0;
}

/* Takes over the message. */
static void put_aux(struct fixture *f, const char *url, struct buf message)
{
	struct buf any = BUF_INIT;

	put_text(&any, 1, url);
	if (message.len)
		put_bytes(&any, 2, message.data, message.len);
	buf_release(&message);
	put_message(&f->metadata, 11, any);
}

static void put_aux_text(struct fixture *f, const char *url, const char *bytes)
{
	struct buf message = BUF_INIT;

	buf_addstr(&message, bytes);
	put_aux(f, url, message);
}

/* The action so far, with the metadata so far. */
static void close_action(struct fixture *f)
{
	if (f->metadata.len)
		put_bytes(&f->action, 9, f->metadata.data, f->metadata.len);
}

static const struct result *parse(struct fixture *f)
{
	close_action(f);
	assert_int_equal(result_parse_action((const uint8_t *)f->action.data, f->action.len,
					     &f->arena, &f->result, &f->err),
			 0);
	return &f->result;
}

/* `status` < 0: none; `with_result`: the action so far. */
static int parse_historical(struct fixture *f, int status, const char *text, bool with_result)
{
	struct buf response = BUF_INIT, digest = BUF_INIT, inner = BUF_INIT;

	close_action(f);
	put_text(&digest, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	put_number(&digest, 2, 141);
	put_message(&f->bytes, 1, digest);
	if (with_result)
		put_bytes(&response, 1, f->action.data, f->action.len);
	if (status >= 0) {
		put_number(&inner, 1, status);
		put_text(&inner, 2, text);
		put_message(&response, 3, inner);
	}
	put_message(&f->bytes, 3, response);
	return result_parse_historical((const uint8_t *)f->bytes.data, f->bytes.len, &f->arena,
				       &f->result, &f->err);
}

/* ---- what is absent ---- */

static void assert_no_usage(const struct result *r)
{
	assert_false(r->has_rusage || r->has_file_pool || r->has_input_root || r->has_request);
	assert_true(r->rusage.user_ns == UNKNOWN && r->rusage.system_ns == UNKNOWN);
	assert_true(r->rusage.max_rss_bytes == UNKNOWN && r->rusage.major_faults == UNKNOWN);
	assert_true(r->rusage.involuntary_ctx == UNKNOWN);
	assert_null(r->rusage.termination_signal.data);
	assert_true(r->file_pool.files_created == UNKNOWN && r->file_pool.truncates == UNKNOWN);
	assert_true(r->input_root.files_read == UNKNOWN);
	assert_null(r->request.tool_invocation_id.data);
	assert_int_equal(r->expense_count, 0);
	assert_int_equal(r->aux_count, 0);
}

/* bb_storage takes an entirely empty ActionResult. */
static void test_empty(void **state)
{
	const struct result *r = parse(*state);
	size_t i;

	assert_int_equal(r->source, SOURCE_ACTION_CACHE);
	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->status_code, 0);
	assert_null(r->worker.data);
	assert_true(r->virtual_ns == UNKNOWN);
	for (i = 0; i < TIME_COUNT; i++)
		assert_true(r->time_ns[i] == UNKNOWN);
	assert_int_equal(r->output_files, 0);
	assert_int_equal(r->stdout_digest.hash_len, 0);
	assert_no_usage(r);
}

static void test_empty_metadata(void **state)
{
	struct fixture *f = *state;
	const struct result *r;

	put_text(&f->metadata, 1, "");
	put_time(&f->metadata, 2, 0, 0);
	put_time(&f->metadata, 12, 0, 0);
	r = parse(f);
	assert_null(r->worker.data);
	assert_true(r->time_ns[TIME_QUEUED] == UNKNOWN);
	assert_int_equal(r->virtual_ns, 0); /* a duration of 0 is one */
	assert_no_usage(r);
}

/* Present but empty: plain numbers are 0, as the wire means it; RSS and signal unknown. */
static void test_empty_usage(void **state)
{
	struct fixture *f = *state;
	const struct result *r;

	put_aux_text(f, TYPE POSIX, "");
	put_aux_text(f, TYPE FILE_POOL, "");
	put_aux_text(f, TYPE INPUT_ROOT, "");
	put_aux_text(f, TYPE REQUEST, "");
	put_aux_text(f, TYPE MONETARY, "");
	r = parse(f);
	assert_true(r->has_rusage && r->has_file_pool && r->has_input_root && r->has_request);
	assert_int_equal(r->rusage.major_faults, 0);
	assert_int_equal(r->rusage.involuntary_ctx, 0);
	assert_true(r->rusage.max_rss_bytes == UNKNOWN);
	assert_true(r->rusage.user_ns == UNKNOWN); /* an absent message */
	assert_null(r->rusage.termination_signal.data);
	assert_int_equal(r->file_pool.files_count_peak, 0);
	assert_int_equal(r->input_root.directories_read, 0);
	assert_null(r->request.tool_name.data);
	assert_int_equal(r->expense_count, 0);
	assert_int_equal(r->aux_count, 0);
}

/* ---- what is there ---- */

static void put_posix(struct fixture *f, int64_t rss, const char *signal)
{
	struct buf usage = BUF_INIT;
	uint32_t number;

	put_time(&usage, 1, 2, 500);
	put_time(&usage, 2, 0, 0);
	if (rss)
		put_number(&usage, 3, rss);
	for (number = 7; number <= 16; number++)
		put_number(&usage, number, number * 10);
	if (signal)
		put_text(&usage, 17, signal);
	put_aux(f, TYPE POSIX, usage);
}

static void test_posix(void **state)
{
	struct fixture *f = *state;
	const struct rusage *u;

	put_posix(f, INT64_C(1) << 62, "KILL");
	u = &parse(f)->rusage;
	assert_int_equal(u->user_ns, 2000000500);
	assert_int_equal(u->system_ns, 0); /* an empty message, not an absent one */
	assert_true(u->max_rss_bytes == INT64_C(1) << 62);
	assert_int_equal(u->minor_faults, 70);
	assert_int_equal(u->major_faults, 80);
	assert_true(u->swaps == 90 && u->block_in == 100 && u->block_out == 110);
	assert_true(u->messages_sent == 120 && u->messages_received == 130);
	assert_int_equal(u->signals_received, 140);
	assert_int_equal(u->voluntary_ctx, 150);
	assert_int_equal(u->involuntary_ctx, 160);
	assert_true(str_is(u->termination_signal, "KILL"));
	assert_int_equal(f->result.aux_count, 0);
}

static void test_no_rss(void **state)
{
	struct fixture *f = *state;

	put_posix(f, 0, "");
	assert_true(parse(f)->rusage.max_rss_bytes == UNKNOWN);
	assert_null(f->result.rusage.termination_signal.data);
	buf_clear(&f->metadata);
	put_posix(f, -5, NULL);
	assert_true(parse(f)->rusage.max_rss_bytes == UNKNOWN);
}

static void test_metadata(void **state)
{
	struct fixture *f = *state;
	const struct result *r;
	uint32_t number;

	put_text(&f->metadata, 1, "{\"pool\":\"x\"}");
	for (number = 2; number <= 10; number++)
		put_time(&f->metadata, number, 1796003700 + number, 7);
	put_time(&f->metadata, 12, 3, 999999999);
	r = parse(f);
	assert_true(str_is(r->worker, "{\"pool\":\"x\"}"));
	for (number = 2; number <= 10; number++)
		assert_int_equal(r->time_ns[number - 2],
				 (1796003700 + (int64_t)number) * 1000000000 + 7);
	assert_int_equal(r->virtual_ns, 3999999999);
}

static void test_action(void **state)
{
	struct fixture *f = *state;
	struct buf digest = BUF_INIT;
	const struct result *r;

	put_text(&f->action, 2, "an OutputFile");
	put_text(&f->action, 2, "another");
	put_text(&f->action, 3, "an OutputDirectory");
	put_number(&f->action, 4, -1);
	put_text(&digest, 1, "d41d8cd98f00b204e9800998ecf8427e");
	put_number(&digest, 2, 5);
	put_message(&f->action, 6, digest);
	r = parse(f);
	assert_int_equal(r->output_files, 2);
	assert_int_equal(r->output_directories, 1);
	assert_int_equal(r->exit_code, -1);
	assert_int_equal(r->stdout_digest.hash_len, 16);
	assert_int_equal(r->stdout_digest.hash[0], 0xd4);
	assert_int_equal(r->stdout_digest.size_bytes, 5);
	assert_int_equal(r->stderr_digest.hash_len, 0);
}

static void test_digest_that_is_none(void **state)
{
	static const char *const hashes[] = {"", "xyz", "D41D8CD98F00B204E9800998ECF8427E"};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
		struct buf digest = BUF_INIT;

		put_text(&digest, 1, hashes[i]);
		put_message(&f->action, 6, digest);
		assert_int_equal(parse(f)->stdout_digest.hash_len, 0);
	}
}

static void test_times_out_of_range(void **state)
{
	struct fixture *f = *state;
	const struct result *r;

	put_time(&f->metadata, 2, INT64_MAX, 0);
	put_time(&f->metadata, 3, INT64_MIN, 0);
	put_time(&f->metadata, 4, 5, 1000000000);
	put_time(&f->metadata, 5, 5, -1);
	put_time(&f->metadata, 6, 9223372036, 854775807); /* the last one */
	put_time(&f->metadata, 7, 0, 1);
	put_time(&f->metadata, 12, -3, 0);
	r = parse(f);
	assert_true(r->time_ns[TIME_QUEUED] == UNKNOWN);
	assert_true(r->time_ns[TIME_WORKER_START] == UNKNOWN);
	assert_true(r->time_ns[TIME_WORKER_COMPLETED] == UNKNOWN);
	assert_true(r->time_ns[TIME_FETCH_START] == UNKNOWN);
	assert_true(r->time_ns[TIME_FETCH_COMPLETED] == INT64_MAX);
	assert_int_equal(r->time_ns[TIME_EXECUTION_START], 1);
	assert_true(r->virtual_ns == UNKNOWN); /* no length is negative */
}

static void test_request(void **state)
{
	struct fixture *f = *state;
	struct buf request = BUF_INIT, tool = BUF_INIT;
	const struct request_metadata *r;

	put_text(&tool, 1, "buck2");
	put_message(&request, 1, tool);
	put_text(&request, 2, "");
	put_bytes(&request, 3, "a\0b", 3);
	put_text(&request, 6, "//:t");
	put_aux(f, TYPE REQUEST, request);
	r = &parse(f)->request;
	assert_true(str_is(r->tool_name, "buck2"));
	assert_null(r->tool_version.data);
	assert_null(r->action_id.data);
	assert_int_equal(r->tool_invocation_id.len, 3); /* not cut at the NUL */
	assert_true(str_is(r->target_id, "//:t"));
	assert_null(r->configuration_id.data);
}

/* ---- expenses ---- */

static void put_expense(struct buf *usage, const char *name, const char *currency, double cost)
{
	struct buf entry = BUF_INIT, expense = BUF_INIT;

	put_text(&entry, 1, name);
	put_text(&expense, 1, currency);
	put_double(&expense, 2, cost);
	put_message(&entry, 2, expense);
	put_message(usage, 1, entry);
}

static void test_expenses_sorted(void **state)
{
	struct fixture *f = *state;
	struct buf usage = BUF_INIT;
	const struct result *r;

	put_expense(&usage, "b", "EUR", 2.5);
	put_expense(&usage, "ab", "USD", 1);
	put_expense(&usage, "a", "USD", 0.25);
	put_aux(f, TYPE MONETARY, usage);
	r = parse(f);
	assert_int_equal(r->expense_count, 3);
	assert_true(str_is(r->expenses[0].name, "a"));
	assert_true(str_is(r->expenses[1].name, "ab"));
	assert_true(str_is(r->expenses[2].name, "b"));
	assert_true(str_is(r->expenses[2].currency, "EUR"));
	assert_true(r->expenses[2].cost > 2.49 && r->expenses[2].cost < 2.51);
}

/* Neither can be a row of its own: the whole message is kept as bytes. */
static void test_expenses_odd(void **state)
{
	struct fixture *f = *state;
	struct buf twice = BUF_INIT, not_a_number = BUF_INIT;
	const struct result *r;

	put_expense(&twice, "a", "EUR", 1);
	put_expense(&twice, "a", "EUR", 2);
	put_aux(f, TYPE MONETARY, twice);
	put_expense(&not_a_number, "a", "EUR", NAN);
	put_aux(f, TYPE MONETARY, not_a_number);
	r = parse(f);
	assert_int_equal(r->expense_count, 0);
	assert_int_equal(r->aux_count, 2);
}

/* ---- auxiliary messages ---- */

static void assert_aux(const struct result *r, size_t i, const char *type, const char *bytes)
{
	assert_true(i < r->aux_count);
	assert_true(str_is(r->aux[i].type, type));
	assert_true(str_is(r->aux[i].bytes, bytes));
}

static void test_unknown_aux(void **state)
{
	struct fixture *f = *state;
	const struct result *r;

	put_aux_text(f, TYPE "x.New", "first");
	put_posix(f, 1, NULL);
	put_aux_text(f, "plain", "");
	put_aux_text(f, "", "no type");
	put_aux_text(f, "https://x/y/" POSIX "2", "not that one");
	r = parse(f);
	assert_true(r->has_rusage);
	assert_int_equal(r->aux_count, 4);
	assert_aux(r, 0, "x.New", "first");
	assert_aux(r, 1, "plain", "");
	assert_aux(r, 2, "", "no type");
	assert_aux(r, 3, POSIX "2", "not that one");
}

static void test_any_prefix(void **state)
{
	struct fixture *f = *state;

	put_aux_text(f, FILE_POOL, "\x08\x05");
	put_aux_text(f, "https://example.org/a/b/" INPUT_ROOT, "\x18\x07");
	parse(f);
	assert_int_equal(f->result.file_pool.files_created, 5);
	assert_int_equal(f->result.input_root.files_read, 7);
}

/* Known types that do not parse, then one that does. */
static void test_malformed_aux(void **state)
{
	struct fixture *f = *state;
	const struct result *r;

	put_number(&f->action, 4, 3);
	put_aux_text(f, TYPE POSIX, "\x0a\x7f");
	put_aux_text(f, TYPE REQUEST, "\xff\xff");
	put_aux_text(f, TYPE FILE_POOL, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	put_posix(f, 4096, NULL);
	r = parse(f);
	assert_int_equal(r->exit_code, 3);
	assert_int_equal(r->rusage.max_rss_bytes, 4096);
	assert_false(r->has_request || r->has_file_pool);
	assert_int_equal(r->aux_count, 3);
	assert_aux(r, 0, POSIX, "\x0a\x7f");
	assert_aux(r, 1, REQUEST, "\xff\xff");
}

static void test_duplicate_aux(void **state)
{
	struct fixture *f = *state;
	const struct result *r;

	put_aux_text(f, TYPE FILE_POOL, "\x08\x01");
	put_aux_text(f, TYPE FILE_POOL, "\x08\x02");
	r = parse(f);
	assert_int_equal(r->file_pool.files_created, 1);
	assert_int_equal(r->aux_count, 1);
	assert_aux(r, 0, FILE_POOL, "\x08\x02");
}

static void test_groups_and_unknown_fields(void **state)
{
	struct fixture *f = *state;
	struct buf usage = BUF_INIT;
	const struct result *r;

	put_group(&f->action, 4);
	put_number(&f->action, 4, 9);
	put_group(&f->metadata, 99);
	put_text(&f->metadata, 1, "w");
	put_group(&usage, 4);
	put_number(&usage, 8, 6);
	put_number(&usage, 99, 6);
	put_aux(f, TYPE POSIX, usage);
	r = parse(f);
	assert_int_equal(r->exit_code, 9);
	assert_true(str_is(r->worker, "w"));
	assert_int_equal(r->rusage.major_faults, 6);
	assert_int_equal(r->aux_count, 0);
}

/* ---- historical ones ---- */

static void test_historical(void **state)
{
	struct fixture *f = *state;
	const struct result *r = &f->result;

	put_number(&f->action, 4, 137);
	put_posix(f, 1000, "KILL");
	assert_int_equal(parse_historical(f, -1, "", true), 0);
	assert_int_equal(r->source, SOURCE_HISTORICAL);
	assert_int_equal(r->status_code, 0);
	assert_null(r->status_message.data);
	assert_int_equal(r->exit_code, 137);
	assert_int_equal(r->rusage.max_rss_bytes, 1000);
	assert_int_equal(r->action_digest.hash_len, 32);
	assert_int_equal(r->action_digest.hash[0], 0xe3);
	assert_int_equal(r->action_digest.size_bytes, 141);
}

/* A timeout: exit code 0 is not meant, and there is no POSIX usage. */
static void test_historical_timeout(void **state)
{
	struct fixture *f = *state;
	const struct result *r = &f->result;

	put_text(&f->metadata, 1, "w");
	put_aux_text(f, TYPE FILE_POOL, "");
	assert_int_equal(
		parse_historical(f, 4, "Failed to run command: context deadline exceeded", true),
		0);
	assert_int_equal(r->status_code, 4);
	assert_true(str_starts(r->status_message, "Failed to run command"));
	assert_true(r->exit_code == UNKNOWN);
	assert_false(r->has_rusage);
	assert_true(r->has_file_pool);
	assert_true(str_is(r->worker, "w"));
}

static void test_historical_without_result(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse_historical(f, 0, "", false), 0);
	assert_true(f->result.exit_code == UNKNOWN);
	assert_true(f->result.output_files == UNKNOWN);
	assert_no_usage(&f->result);
}

/* ---- what is no result ---- */

static void test_malformed(void **state)
{
	static const char garbage[] = "\x4a\x7fgarbage";
	struct fixture *f = *state;

	assert_int_equal(result_parse_action((const uint8_t *)garbage, sizeof(garbage) - 1,
					     &f->arena, &f->result, &f->err),
			 -1);
	assert_int_equal(f->err.kind, ERR_FORMAT);
	assert_string_equal(f->err.text, "the bytes are not an ActionResult");
	assert_int_equal(result_parse_historical(NULL, 0, &f->arena, &f->result, &f->err), -1);
	assert_string_equal(f->err.text, "the bytes are not a HistoricalExecuteResponse");
}

static void test_cut_anywhere(void **state)
{
	struct fixture *f = *state;
	size_t len, refused = 0;

	put_text(&f->metadata, 1, "w");
	put_posix(f, 1, "KILL");
	put_number(&f->action, 4, 1);
	close_action(f);
	for (len = 0; len < f->action.len; len++) {
		arena_reset(&f->arena);
		refused += result_parse_action((const uint8_t *)f->action.data, len, &f->arena,
					       &f->result, &f->err) < 0;
	}
	/* Whole at 0 bytes and behind the exit code, nowhere else. */
	assert_int_equal(refused, f->action.len - 2);
}

static void test_too_large(void **state)
{
	struct fixture *f = *state;
	size_t i;

	f->arena.limit = 1 << 20;
	for (i = 0; i < 200000; i++)
		put_bytes(&f->action, 2, "", 0);
	assert_int_equal(result_parse_action((const uint8_t *)f->action.data, f->action.len,
					     &f->arena, &f->result, &f->err),
			 -1);
	assert_int_equal(f->err.kind, ERR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_metadata, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_usage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_posix, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_rss, setup, teardown),
		cmocka_unit_test_setup_teardown(test_metadata, setup, teardown),
		cmocka_unit_test_setup_teardown(test_action, setup, teardown),
		cmocka_unit_test_setup_teardown(test_digest_that_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times_out_of_range, setup, teardown),
		cmocka_unit_test_setup_teardown(test_request, setup, teardown),
		cmocka_unit_test_setup_teardown(test_expenses_sorted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_expenses_odd, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_aux, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_prefix, setup, teardown),
		cmocka_unit_test_setup_teardown(test_malformed_aux, setup, teardown),
		cmocka_unit_test_setup_teardown(test_duplicate_aux, setup, teardown),
		cmocka_unit_test_setup_teardown(test_groups_and_unknown_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(test_historical, setup, teardown),
		cmocka_unit_test_setup_teardown(test_historical_timeout, setup, teardown),
		cmocka_unit_test_setup_teardown(test_historical_without_result, setup, teardown),
		cmocka_unit_test_setup_teardown(test_malformed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_anywhere, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_large, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
