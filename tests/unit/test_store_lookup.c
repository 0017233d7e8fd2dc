/* Digests: who refers to them, which are asked, what was said; runs that change their instance. */
#include "store_fixture.h"

static int64_t wanted_at(struct fixture *f, int64_t now_ns, bool retry_missing)
{
	int64_t count = -1, after_id = 0, walked = 0;
	struct wanted wanted;
	int more;

	assert_ok(store_count_wanted(f->store, "", now_ns, retry_missing, &count, &f->err));
	while ((more = store_next_wanted(f->store, "", after_id, now_ns, retry_missing, &wanted,
					 &f->err)) > 0) {
		assert_true(wanted.lookup_id > after_id);
		after_id = wanted.lookup_id;
		walked++;
	}
	assert_ok(more);
	assert_int_equal(walked, count);
	return count;
}

static void put_state(struct fixture *f, uint8_t digest, enum lookup_state state)
{
	const char *message = state == STATE_NOT_FOUND ? NULL : "the server's words";

	assert_ok(store_put_state(f->store, lookup_of(f, "p", digest), state, message, &f->err));
}

/* ---- what is asked ---- */

static void test_what_is_wanted(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);
	struct wanted wanted;

	put_action(f, run_id, 1, "i", 1, STATUS_SUCCESS);
	assert_return(store_next_wanted(f->store, "", 0, START, false, &wanted, &f->err), 1);
	assert_string_equal(wanted.instance, "p");
	assert_int_equal(wanted.digest.hash_len, 32);
	assert_int_equal(wanted.digest.hash[0], 1);
	assert_int_equal(wanted.digest.function, DIGEST_SHA256);
	assert_int_equal(wanted.digest.size_bytes, 140);
	assert_return(store_next_wanted(f->store, "other", 0, START, false, &wanted, &f->err), 0);
	assert_int_equal(wanted_at(f, START, false), 1);

	/* The same digest in another action is one question. */
	put_action(f, run_id, 2, "i", 1, STATUS_SUCCESS);
	assert_int_equal(wanted_at(f, START, false), 1);
	put_result(f, "p", 1);
	assert_int_equal(wanted_at(f, START, true), 0);
}

static void test_failed_attempts_are_not_asked(void **state)
{
	static const enum attempt_status failed[] = {STATUS_FAILURE, STATUS_TIMEOUT, STATUS_ERROR,
						     STATUS_CANCELLED, STATUS_WORKER_FAILURE};
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);
	uint64_t i;

	for (i = 0; i < sizeof(failed) / sizeof(*failed); i++)
		put_action(f, run_id, i + 1, "i", (uint8_t)(i + 1), failed[i]);
	assert_int_equal(wanted_at(f, START, true), 0);
	/* One that this version does not know may have succeeded. */
	put_action(f, run_id, 20, "i", 20, STATUS_UNKNOWN);
	assert_int_equal(wanted_at(f, START, false), 1);
	/* And so may a second attempt of the same digest. */
	put_action(f, run_id, 21, "i", 1, STATUS_SUCCESS);
	assert_int_equal(wanted_at(f, START, false), 2);
}

static void test_when_to_ask_again(void **state)
{
	static const enum lookup_state answered[] = {STATE_NOT_FOUND, STATE_OUTPUTS_EVICTED,
						     STATE_INVALID, STATE_TOO_LARGE,
						     STATE_MALFORMED};
	static const enum lookup_state vain[] = {STATE_REFUSED, STATE_ERROR, STATE_UNREACHABLE};
	struct fixture *f = *state;
	int64_t late = START + 8 * DAY;
	size_t i;

	put_action(f, put_run(f, "t", START), 1, "i", 1, STATUS_SUCCESS);
	for (i = 0; i < sizeof(answered) / sizeof(*answered); i++) {
		put_state(f, 1, answered[i]);
		assert_int_equal(wanted_at(f, START + 6 * DAY, false), 1);
		assert_int_equal(wanted_at(f, late, false), 0);
		assert_int_equal(wanted_at(f, late, true), 1);
	}
	for (i = 0; i < sizeof(vain) / sizeof(*vain); i++) {
		put_state(f, 1, vain[i]);
		assert_int_equal(wanted_at(f, late, false), 1);
	}
	/* It is the newest run that counts; and the days are the user's. */
	put_state(f, 1, STATE_NOT_FOUND);
	put_action(f, put_run(f, "u", START + 5 * DAY), 1, "i", 1, STATUS_SUCCESS);
	assert_int_equal(wanted_at(f, late, false), 1);
	assert_int_equal(wanted_at(f, START + 13 * DAY, false), 0);
}

static void test_more_than_a_batch_is_wanted(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START), after_id = 0, count = 0;
	struct wanted wanted;
	uint64_t i;
	int more;

	for (i = 0; i < 600; i++) {
		struct attempt attempt = attempt_of((uint8_t)i, STATUS_SUCCESS);
		struct action action = action_of("x", &attempt, 1);

		attempt.digest.hash[1] = (uint8_t)(i >> 8);
		assert_ok(store_put_action(f->store, run_id, i, i, START, &action, &f->err));
	}
	/* Answers come while the walk goes on. */
	while ((more = store_next_wanted(f->store, "", after_id, START, true, &wanted, &f->err)) >
	       0) {
		after_id = wanted.lookup_id;
		assert_ok(store_put_state(f->store, after_id, STATE_NOT_FOUND, NULL, &f->err));
		count++;
	}
	assert_ok(more);
	assert_int_equal(count, 600);
}

/* ---- what was said ---- */

static void test_found_is_final(void **state)
{
	struct fixture *f = *state;
	struct result second = result_of(7);

	put_action(f, put_run(f, "t", START), 1, "i", 1, STATUS_SUCCESS);
	put_state(f, 1, STATE_ERROR);
	assert_text(f, "SELECT message FROM lookup", "the server's words");
	put_result(f, "p", 1);
	assert_number(f, "SELECT state = 1 AND message IS NULL FROM lookup", 1);
	put_state(f, 1, STATE_NOT_FOUND);
	assert_ok(store_put_result(f->store, lookup_of(f, "p", 1), &second, &f->err));
	assert_number(f, "SELECT state FROM lookup", STATE_FOUND);
	assert_number(f, "SELECT wall_ns FROM result", 5000000000);
	assert_number(f, "SELECT count(*) FROM result", 1);
}

static void test_a_lookup_that_is_gone(void **state)
{
	struct fixture *f = *state;
	struct result result = result_of(7);

	assert_ok(store_put_result(f->store, 12345, &result, &f->err));
	assert_ok(store_put_state(f->store, 12345, STATE_ERROR, "x", &f->err));
	assert_number(f, "SELECT count(*) FROM result", 0);
}

static void test_find_lookup(void **state)
{
	struct fixture *f = *state;
	struct digest digest = digest_of(1);
	enum lookup_state found = STATE_ERROR;
	int64_t id;

	put_action(f, put_run(f, "t", START), 1, "i", 1, STATUS_SUCCESS);
	assert_return(store_find_lookup(f->store, "", "p", &digest, &id, &found, &f->err), 1);
	assert_int_equal(found, STATE_WANTED);
	assert_return(store_find_lookup(f->store, "", "q", &digest, &id, &found, &f->err), 0);
	assert_return(store_find_lookup(f->store, "c", "p", &digest, &id, &found, &f->err), 0);
	digest.size_bytes++;
	assert_return(store_find_lookup(f->store, "", "p", &digest, &id, &found, &f->err), 0);
	digest = digest_of(1);
	digest.function = DIGEST_BLAKE3;
	assert_return(store_find_lookup(f->store, "", "p", &digest, &id, &found, &f->err), 0);
}

static void fill_usage(struct result *result)
{
	result->has_rusage = result->has_file_pool = result->has_input_root = true;
	result->has_request = true;
	result->rusage = (struct rusage){.user_ns = 1,
					 .system_ns = 2,
					 .max_rss_bytes = 3,
					 .minor_faults = 4,
					 .major_faults = UNKNOWN,
					 .termination_signal = STR("KILL")};
	result->file_pool = (struct file_pool_usage){1, 2, 3, 4, 5, 6, 7, 8};
	result->input_root = (struct input_root_usage){9, 10, 11};
	result->request.tool_invocation_id = STR("inv");
	result->worker = STR("w");
	result->exit_code = -1;
}

static void test_the_whole_of_a_result(void **state)
{
	struct expense expenses[] = {{STR("cpu"), STR("EUR"), 0.5}, {STR("odd"), STR(""), 0}};
	struct aux_message aux[] = {{STR("x.Y"), {"\0\x01", 2}}, {STR("x.Y"), {NULL, 0}}};
	struct fixture *f = *state;
	struct result result = result_of(9);
	int64_t run_id = put_run(f, "t", START);
	volatile double zero = 0;

	put_action(f, run_id, 1, "i", 1, STATUS_SUCCESS);
	put_action(f, run_id, 2, "i", 2, STATUS_SUCCESS);
	fill_usage(&result);
	expenses[1].cost = zero / zero; /* a server may send what it likes */
	result.expenses = expenses;
	result.aux = aux;
	result.expense_count = result.aux_count = 2;
	result.time_ns[TIME_WORKER_START] = START;
	result.time_ns[TIME_UPLOAD_COMPLETED] = START + 50;
	assert_ok(store_put_result(f->store, lookup_of(f, "p", 1), &result, &f->err));
	result.rusage.max_rss_bytes = 2;
	result.time_ns[TIME_WORKER_START] = START - 10;
	assert_ok(store_put_result(f->store, lookup_of(f, "p", 2), &result, &f->err));

	assert_number(f,
		      "SELECT cpu_ns = 3 AND exit_code = -1 AND termination_signal = 'KILL'"
		      " FROM result WHERE lookup_id = 1",
		      1);
	assert_number(f,
		      "SELECT minor_faults = 4 AND major_faults IS NULL FROM rusage"
		      " WHERE result_id = 1",
		      1);
	assert_number(f,
		      "SELECT files_created + 10 * truncates FROM file_pool_usage"
		      " WHERE result_id = 1",
		      81);
	assert_number(f, "SELECT files_read FROM input_root_usage WHERE result_id = 1", 11);
	assert_text(f,
		    "SELECT group_concat(name || '=' || ifnull(cost, 'NULL'), ' ') FROM expense"
		    " WHERE result_id = 1",
		    "cpu=0.5 odd=NULL");
	assert_text(f,
		    "SELECT group_concat(idx || type || hex(bytes), ' ') FROM aux_message"
		    " WHERE result_id = 1",
		    "0x.Y0001 1x.Y");
	assert_number(f, "SELECT base_ns FROM result_time WHERE result_id = 1", START);
	assert_number(f,
		      "SELECT upload_completed_step_ns = 50 AND queued_step_ns IS NULL"
		      " FROM result_time WHERE result_id = 1",
		      1);
	assert_commits(f);
	assert_number(f,
		      "SELECT results = 2 AND failed = 2 AND with_usage = 2 AND wall_ns = 18"
		      " AND cpu_ns = 6 AND rss_min_bytes = 2 AND rss_max_bytes = 3 FROM worker",
		      1);
	assert_number(f,
		      "SELECT results = 2 AND with_usage = 2 AND wall_ns = 18 AND cpu_ns = 6"
		      " FROM request",
		      1);
	assert_number(f, "SELECT first_ns FROM request", START - 10);
	assert_number(f, "SELECT last_ns FROM request", START + 50);
}

static void test_sums_stop_at_the_largest(void **state)
{
	struct fixture *f = *state;
	struct result result = result_of(WALL_NS_MAX);
	int64_t run_id = put_run(f, "t", START);
	uint8_t i;

	fill_usage(&result);
	result.rusage.user_ns = INT64_MAX - 2;
	result.rusage.max_rss_bytes = RSS_BYTES_MAX;
	for (i = 0; i < TIME_COUNT; i++)
		result.time_ns[i] = START;
	for (i = 1; i <= 3; i++) {
		put_action(f, run_id, i, "i", i, STATUS_SUCCESS);
		assert_ok(store_put_result(f->store, lookup_of(f, "p", i), &result, &f->err));
	}
	assert_commits(f);
	assert_number(f, "SELECT cpu_ns FROM worker", INT64_MAX);
	assert_number(f, "SELECT cpu_ns FROM request", INT64_MAX);
	assert_number(f, "SELECT wall_ns FROM worker", 3 * WALL_NS_MAX);
	/* These do not stop: three times the largest integer in two parts. */
	assert_number(f, "SELECT known FROM busy_sum", 3);
	assert_number(f, "SELECT cpu_high FROM busy_sum", 3 * (INT64_MAX >> 32));
	assert_number(f, "SELECT held_high FROM busy_sum", 3 * (INT64_MAX >> 32));
	assert_number(f, "SELECT held_low FROM busy_sum", 3 * (INT64_MAX & UINT32_MAX));
}

/* ---- who refers to it ---- */

static void assert_first(struct fixture *f, const char *trace_id, int64_t seq,
			 const char *identifier)
{
	assert_text(f, "SELECT trace_id FROM lookup JOIN run ON run_id = first_run_id", trace_id);
	assert_text(f, "SELECT trace_id FROM result JOIN run ON run_id = first_run_id", trace_id);
	assert_number(f, "SELECT first_seq FROM lookup", seq);
	assert_text(f, "SELECT identifier FROM lookup JOIN action_name USING (name_id)",
		    identifier);
	assert_text(f, "SELECT identifier FROM result JOIN action_name USING (name_id)",
		    identifier);
}

static void test_earliest_reference(void **state)
{
	struct fixture *f = *state;
	int64_t late = put_run(f, "m", START + 10), run_id;

	put_action(f, late, 50, "late-50", 1, STATUS_SUCCESS);
	put_result(f, "p", 1);
	assert_first(f, "m", 50, "late-50");
	put_action(f, late, 60, "late-60", 1, STATUS_SUCCESS);
	assert_first(f, "m", 50, "late-50");
	put_action(f, late, 40, "late-40", 1, STATUS_SUCCESS);
	assert_first(f, "m", 40, "late-40");
	put_action(f, put_run(f, "n", START + 10), 1, "n", 1, STATUS_SUCCESS);
	assert_first(f, "m", 40, "late-40"); /* same start: the smaller trace id */
	put_action(f, put_run(f, "l", START + 10), 70, "l", 1, STATUS_SUCCESS);
	assert_first(f, "l", 70, "l");
	run_id = put_run(f, "z", UNKNOWN); /* an unknown start comes last */
	put_action(f, run_id, 1, "z", 1, STATUS_SUCCESS);
	assert_first(f, "l", 70, "l");
	put_run(f, "z", START); /* … until it is known */
	assert_first(f, "z", 1, "z");
	put_action(f, put_run(f, "y", START - 1), 3, "y", 1, STATUS_SUCCESS);
	assert_first(f, "y", 3, "y");
}

/* ---- another instance ---- */

static void test_attempts_move(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START), other = put_run(f, "u", START + 1);
	struct instance_choice choice;

	put_action(f, run_id, 1, "a", 1, STATUS_SUCCESS);
	put_action(f, run_id, 2, "b", 1, STATUS_SUCCESS);
	put_action(f, run_id, 3, "c", 2, STATUS_SUCCESS);
	put_action(f, run_id, 4, "d", 3, STATUS_SUCCESS);
	put_action(f, other, 1, "e", 2, STATUS_SUCCESS);
	put_result(f, "p", 3);
	choose(f, run_id, "q", "link", false);
	/* 1 moved and left nothing; 2 is still asked for by the other; 3 was found. */
	assert_text(f,
		    "SELECT group_concat(name || hash, ' ') FROM (SELECT i.name AS name,"
		    " substr(hex(hash), 2, 1) AS hash FROM lookup JOIN instance i"
		    " USING (instance_id) ORDER BY 1, 2)",
		    "p2 p3 q1 q2 q3");
	assert_text(f,
		    "SELECT trace_id FROM run JOIN lookup ON run_id = first_run_id"
		    " JOIN instance i USING (instance_id)"
		    " WHERE i.name = 'p' AND digest LIKE '02%'",
		    "u");
	assert_number(f, "SELECT count(*) FROM result", 1);
	assert_number(f,
		      "SELECT count(*) FROM attempt JOIN lookup USING (lookup_id)"
		      " JOIN instance i USING (instance_id) WHERE i.name = 'q'",
		      4);
	/* What comes later goes there as well. */
	put_action(f, run_id, 5, "f", 4, STATUS_SUCCESS);
	lookup_of(f, "q", 4);
	assert_return(store_get_instance(f->store, run_id, &choice, &f->err), 1);
	assert_string_equal(choice.name, "q");
	assert_string_equal(choice.source, "link");
	assert_false(choice.proved);
	/* Back again: the digests that were left are found. */
	choose(f, run_id, "p", "flag", true);
	assert_text(f,
		    "SELECT group_concat(DISTINCT name) FROM lookup JOIN instance"
		    " USING (instance_id)",
		    "p");
	assert_number(f, "SELECT count(*) FROM lookup", 4);
}

/* An answer that only a moved attempt wanted goes with it. */
static void test_an_answer_that_nobody_wanted(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START), other = put_run(f, "u", START + 1);

	put_action(f, run_id, 1, "a", 1, STATUS_SUCCESS);
	put_action(f, other, 1, "a", 1, STATUS_FAILURE);
	put_state(f, 1, STATE_NOT_FOUND);
	choose(f, run_id, "q", "link", false);
	assert_number(f, "SELECT count(*) FROM lookup WHERE state = 0", 2);
}

static void test_which_choice_stays(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);
	const char *chosen = "SELECT i.name || instance_proved || instance_source FROM run"
			     " JOIN instance i USING (instance_id)";

	choose(f, run_id, "a", "log", false);
	assert_text(f, chosen, "p0.buckconfig");
	choose(f, run_id, "q", ".buckconfig", false);
	assert_text(f, chosen, "p0.buckconfig");
	choose(f, run_id, "pool/p", ".buckconfig", false);
	assert_text(f, chosen, "pool/p0.buckconfig");
	choose(f, run_id, "zz", "link", false);
	assert_text(f, chosen, "zz0link");
	choose(f, run_id, "p", ".buckconfig", true);
	assert_text(f, chosen, "p1.buckconfig");
	choose(f, run_id, "zz", "link", false);
	assert_text(f, chosen, "p1.buckconfig");
	choose(f, run_id, "p", "link", false); /* the same name: proved, by the better source */
	assert_text(f, chosen, "p1link");
	choose(f, run_id, "flag", "flag", true);
	assert_text(f, chosen, "flag1flag");
}

static void test_unproved_runs(void **state)
{
	static const struct instance_choice candidates[] = {{"", "a/b", "link", false},
							    {"", "b", "link", false},
							    {"", "p", ".buckconfig", false},
							    {"other", "x", "log", false}};
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START), failed = put_run(f, "u", START);
	struct unproved unproved;

	put_action(f, run_id, 1, "i", 1, STATUS_SUCCESS);
	put_action(f, run_id, 2, "i", 1, STATUS_SUCCESS);
	put_action(f, run_id, 3, "i", 2, STATUS_FAILURE);
	put_action(f, run_id, 4, "i", 3, STATUS_SUCCESS);
	put_action(f, run_id, 5, "i", 4, STATUS_SUCCESS);
	put_action(f, failed, 1, "i", 5, STATUS_FAILURE);
	assert_return(store_next_unproved(f->store, "", 0, 8, &unproved, &f->err), 0);
	assert_ok(store_put_candidates(f->store, run_id, candidates + 2, 2, &f->err));
	assert_ok(store_put_candidates(f->store, run_id, candidates, 3, &f->err));
	assert_ok(store_put_candidates(f->store, failed, candidates, 3, &f->err));
	assert_return(store_next_unproved(f->store, "", 0, 2, &unproved, &f->err), 1);
	assert_int_equal(unproved.run_id, run_id);
	assert_true(str_is(unproved.trace_id, "t"));
	assert_int_equal(unproved.candidate_count, 3);
	assert_string_equal(unproved.candidates[0].name, "a/b");
	assert_string_equal(unproved.candidates[0].source, "link");
	assert_string_equal(unproved.candidates[0].cache, "");
	assert_string_equal(unproved.candidates[1].name, "b");
	assert_string_equal(unproved.candidates[2].name, "p");
	assert_int_equal(unproved.digest_count, 2);
	assert_int_equal(unproved.digests[0].hash[0], 1);
	assert_int_equal(unproved.digests[1].hash[0], 3);
	assert_return(store_next_unproved(f->store, "", run_id, 8, &unproved, &f->err), 0);
	assert_return(store_next_unproved(f->store, "other", 0, 8, &unproved, &f->err), 1);
	assert_int_equal(unproved.candidate_count, 1);
	assert_int_equal(unproved.digest_count, 3);
	choose(f, run_id, "b", "link", true);
	assert_return(store_next_unproved(f->store, "", 0, 8, &unproved, &f->err), 0);
}

/* ---- questions ---- */

static int stop_at_second(void *context, const struct row *row, struct err *err)
{
	int *rows = context;

	(void)row;
	(void)err;
	return ++*rows == 2;
}

static int refuse(void *context, const struct row *row, struct err *err)
{
	(void)context;
	(void)row;
	return err_set(err, ERR_LIMIT, "enough");
}

static int check_types(void *context, const struct row *row, struct err *err)
{
	(void)err;
	assert_int_equal(row->count, 6);
	assert_string_equal(row->names[0], "n");
	assert_int_equal(row->values[0].type, VALUE_NULL);
	assert_int_equal(row->values[1].integer, 7);
	assert_true(row->values[2].real == 0.5);
	assert_true(str_is(row->values[3].text, "it's"));
	assert_int_equal(row->values[4].type, VALUE_BLOB);
	assert_memory_equal(row->values[4].text.data, "\0\x01", 2);
	assert_int_equal(row->values[5].type, VALUE_NULL); /* a parameter that was not given */
	*(int *)context += 1;
	return 0;
}

static void test_questions(void **state)
{
	struct fixture *f = *state;
	const struct param params[] = {
		{":i", {.type = VALUE_INTEGER, .integer = 7}},
		{":r", {.type = VALUE_REAL, .real = 0.5}},
		{":t", {.type = VALUE_TEXT, .text = STR("it's")}},
		{":b", {.type = VALUE_BLOB, .text = {"\0\x01", 2}}},
		{":n", {.type = VALUE_NULL}},
		{":unused", {.type = VALUE_INTEGER, .integer = 1}},
	};
	const char *three = "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3";
	int rows = 0;

	assert_ok(store_query(f->store, "SELECT :n AS n, :i, :r, :t, :b, :absent", params, 6,
			      check_types, &rows, &f->err));
	assert_int_equal(rows, 1);
	rows = 0;
	assert_ok(store_query(f->store, three, NULL, 0, stop_at_second, &rows, &f->err));
	assert_int_equal(rows, 2);
	assert_ok(store_query(f->store, three, NULL, 0, NULL, NULL, &f->err));
	assert_return(store_query(f->store, three, NULL, 0, refuse, NULL, &f->err), -1);
	assert_string_equal(f->err.text, "enough");
	assert_return(store_query(f->store, "SELECT nothing", NULL, 0, NULL, NULL, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_DB);
	assert_non_null(strstr(f->err.text, "nothing"));
	assert_return(store_query(f->store, "DELETE FROM variant", NULL, 0, NULL, NULL, &f->err),
		      -1);
	assert_number(f, "SELECT count(*) FROM variant", 2);
	assert_return(store_query(f->store, "", NULL, 0, NULL, NULL, &f->err), -1);
}

static void test_quoted_names(void **state)
{
	struct fixture *f = *state;
	struct buf sql = BUF_INIT;

	buf_addstr(&sql, "SELECT 5 AS ");
	store_quote_name(&sql, "a \"b\"; DROP");
	assert_string_equal(sql.data, "SELECT 5 AS \"a \"\"b\"\"; DROP\"");
	assert_number(f, sql.data, 5);
	buf_release(&sql);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_wanted),
		TEST(test_failed_attempts_are_not_asked),
		TEST(test_when_to_ask_again),
		TEST(test_more_than_a_batch_is_wanted),
		TEST(test_found_is_final),
		TEST(test_a_lookup_that_is_gone),
		TEST(test_find_lookup),
		TEST(test_the_whole_of_a_result),
		TEST(test_sums_stop_at_the_largest),
		TEST(test_earliest_reference),
		TEST(test_attempts_move),
		TEST(test_an_answer_that_nobody_wanted),
		TEST(test_which_choice_stays),
		TEST(test_unproved_runs),
		TEST(test_questions),
		TEST(test_quoted_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
