/* What store.h says of each call; the laws over many logs are in test_store_laws.c. */
#include "store_fixture.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- unknown is NULL ---- */

static void test_unknown_is_null(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", UNKNOWN);
	struct result result = result_of(UNKNOWN);

	put_action(f, run_id, 10, "i", 1, STATUS_SUCCESS);
	result.exit_code = UNKNOWN;
	assert_ok(store_put_result(f->store, lookup_of(f, "p", 1), &result, &f->err));
	assert_number(
		f,
		"SELECT count(*) FROM run WHERE coalesce(start_ns, duration_us, succeeded,"
		" exit_code, error_count, digest_function, command, argv, host, error) IS NULL",
		1);
	assert_number(f,
		      "SELECT count(*) FROM action WHERE coalesce(kind, execution_kind,"
		      " duration_us, wall_us, output_bytes, input_bytes, upload_result,"
		      " dep_file_upload_result, scheduling_mode, rule_id) IS NULL",
		      1);
	assert_number(f,
		      "SELECT count(*) FROM attempt WHERE coalesce(exit_code, start_ns, wall_us,"
		      " execution_us, queue_us, server_queue_us, input_us, memory_peak_bytes,"
		      " platform_id, use_case_id) IS NULL",
		      1);
	assert_number(f,
		      "SELECT count(*) FROM result WHERE coalesce(wall_ns, cpu_ns, max_rss_bytes,"
		      " exit_code, termination_signal, worker_id, request_id) IS NULL",
		      1);
	assert_number(f, "SELECT count(*) FROM rusage", 0);
	assert_number(f, "SELECT count(*) FROM result_time", 0);
	assert_number(f, "SELECT count(*) FROM attempt_text", 0);
	assert_number(f, "SELECT count(*) FROM action_text", 0);
}

/* Zero is known, and not NULL; so are empty texts where they say something. */
static void test_zero_is_known(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", 0);
	struct result result = result_of(0);

	put_action(f, run_id, 10, "", 1, STATUS_SUCCESS);
	result.has_rusage = true;
	result.rusage.max_rss_bytes = UNKNOWN;
	assert_ok(store_put_result(f->store, lookup_of(f, "p", 1), &result, &f->err));
	assert_number(f, "SELECT start_ns FROM run", 0);
	assert_number(f, "SELECT wall_ns = 0 AND cpu_ns = 0 AND exit_code = 0 FROM result", 1);
	assert_number(f, "SELECT max_rss_bytes IS NULL FROM result", 1);
	assert_number(f, "SELECT major_faults FROM rusage", 0);
	assert_text(f, "SELECT identifier FROM action_name", "");
}

static void test_wall_and_cpu(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);
	struct result result = result_of(UNKNOWN);
	uint8_t i;

	for (i = 1; i <= 4; i++)
		put_action(f, run_id, i, "i", i, STATUS_SUCCESS);
	result.time_ns[TIME_EXECUTION_START] = START;
	result.time_ns[TIME_EXECUTION_COMPLETED] = START + 7;
	result.has_rusage = true;
	result.rusage.user_ns = INT64_MAX;
	result.rusage.system_ns = 1;
	assert_ok(store_put_result(f->store, lookup_of(f, "p", 1), &result, &f->err));
	assert_number(f, "SELECT wall_ns = 7 AND cpu_ns IS NULL FROM result WHERE lookup_id = 1",
		      1);

	/* A clock that ran backwards: unknown, not negative. */
	result.time_ns[TIME_EXECUTION_COMPLETED] = START - 7;
	result.rusage.user_ns = 1;
	assert_ok(store_put_result(f->store, lookup_of(f, "p", 2), &result, &f->err));
	assert_number(f, "SELECT wall_ns IS NULL AND cpu_ns = 2 FROM result WHERE lookup_id = 2",
		      1);
	assert_number(f, "SELECT execution_completed_step_ns FROM result_time WHERE result_id = 2",
		      -7);

	/* The worker's own measure comes first. */
	result.virtual_ns = 99;
	assert_ok(store_put_result(f->store, lookup_of(f, "p", 3), &result, &f->err));
	assert_number(f, "SELECT wall_ns FROM result WHERE lookup_id = 3", 99);

	/* Distances that no integer holds. */
	result.time_ns[TIME_EXECUTION_START] = INT64_MIN + 1;
	result.time_ns[TIME_EXECUTION_COMPLETED] = INT64_MAX;
	result.virtual_ns = UNKNOWN;
	assert_ok(store_put_result(f->store, lookup_of(f, "p", 4), &result, &f->err));
	assert_number(f, "SELECT wall_ns IS NULL FROM result WHERE lookup_id = 4", 1);
}

/* A result of so many CPUs in a wall time (UNKNOWN: by two timestamps), and what is stored of it.
 */
static void put_measured(struct fixture *f, uint8_t number, int64_t wall_ns, int64_t cpu_ns,
			 int64_t rss_bytes)
{
	struct result result = result_of(wall_ns);

	put_action(f, put_run(f, "t", START), number, "i", number, STATUS_SUCCESS);
	result.has_rusage = true;
	result.rusage.user_ns = cpu_ns;
	result.rusage.max_rss_bytes = rss_bytes;
	result.rusage.termination_signal = STR("KILL");
	assert_ok(store_put_result(f->store, lookup_of(f, "p", number), &result, &f->err));
}

static void assert_measured(struct fixture *f, int number, const char *result,
			    const char *implausible)
{
	char sql[200];

	(void)snprintf(sql, sizeof(sql),
		       "SELECT ifnull(wall_ns, '-') || ' ' || ifnull(cpu_ns, '-') || ' ' ||"
		       " ifnull(max_rss_bytes, '-') FROM result WHERE result_id = %d",
		       number);
	assert_text(f, sql, result);
	(void)snprintf(sql, sizeof(sql),
		       "SELECT ifnull((SELECT ifnull(wall_ns, '-') || ' ' || ifnull(cpu_ns, '-')"
		       " || ' ' || ifnull(max_rss_bytes, '-') FROM implausible"
		       " WHERE result_id = %d), 'none')",
		       number);
	assert_text(f, sql, implausible);
}

#define WALL_MAX "31622400000000000"
#define RSS_MAX "70368744177664"

/* Figures that no machine makes are kept apart, each for itself, and nothing sums them up. */
static void test_what_no_machine_does(void **state)
{
	struct fixture *f = *state;

	put_measured(f, 1, WALL_NS_MAX, WALL_NS_MAX, RSS_BYTES_MAX);
	assert_measured(f, 1, WALL_MAX " " WALL_MAX " " RSS_MAX, "none");
	put_measured(f, 2, WALL_NS_MAX + 1, 7, 8);
	assert_measured(f, 2, "- 7 8", "31622400000000001 - -");
	put_measured(f, 3, 2000000, INT64_C(2000000) * CPUS_MAX - 1, 8);
	assert_measured(f, 3, "2000000 16383999999 8", "none");
	put_measured(f, 4, 2000000, INT64_C(2000000) * CPUS_MAX, 8);
	assert_measured(f, 4, "2000000 - 8", "- 16384000000 -");
	put_measured(f, 5, 0, INT64_C(1000000) * CPUS_MAX - 1, RSS_BYTES_MAX + 1);
	assert_measured(f, 5, "0 8191999999 -", "- - 70368744177665");
	put_measured(f, 6, UNKNOWN, WALL_NS_MAX + 1, INT64_MAX);
	assert_measured(f, 6, "- - -", "- 31622400000000001 9223372036854775807");
	assert_commits(f);
	assert_number(f, "SELECT max(rss_max_bytes) FROM bucket_sum", RSS_BYTES_MAX);
	assert_number(f, "SELECT sum(results) FROM bucket_sum", 4);
	assert_number(f, "SELECT count(*) FROM usage WHERE implausible", 4);
	/* What else it says is believed. */
	assert_number(f, "SELECT count(*) FROM usage WHERE termination_signal = 'KILL'", 6);
	assert_number(f, "SELECT count(*) FROM rusage WHERE user_ns = 16384000000", 1);
}

/* ---- text ---- */

static void test_text_is_clean(void **state)
{
	struct fixture *f = *state;
	struct attempt attempt = attempt_of(1, STATUS_FAILURE);
	struct action action = action_of("x", &attempt, 1);
	int64_t run_id = put_run(f, "t", START);

	action.name.identifier = (struct str){"a\0b\xff\xed\xa0\x80 ü", 10};
	attempt.stderr_text = (struct str){"long enough for words: \0.", 25};
	attempt.use_case = STR("\xc3");
	assert_ok(store_put_action(f->store, run_id, 1, 1, START, &action, &f->err));
	assert_text(f, "SELECT identifier FROM action_name",
		    "a\xef\xbf\xbd"
		    "b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd ü");
	assert_text(f, "SELECT stderr FROM attempt_stderr", "long enough for words: \xef\xbf\xbd.");
	assert_text(f, "SELECT name FROM rule", "\xef\xbf\xbd");

	/* Another text that is stored as the same name is that name. */
	action.name.identifier = (struct str){"a\xfe"
					      "b\xff\xed\xa0\x80 ü",
					      10};
	assert_ok(store_put_action(f->store, run_id, 2, 2, START, &action, &f->err));
	assert_number(f, "SELECT count(*) FROM action_name", 1);
}

static void test_stderr_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct attempt attempts[3] = {attempt_of(1, STATUS_FAILURE), attempt_of(1, STATUS_SUCCESS),
				      attempt_of(1, STATUS_ERROR)};
	struct action action = action_of("x", attempts, 3);
	size_t len = STORE_STDERR_MAX + 1001;
	char *text = xmalloc(len), *kept;

	/* Two-byte characters behind an odd number of bytes: the cut would fall inside one. */
	memset(text, 'a', len);
	memcpy(text + len - STORE_STDERR_MAX - 1, "\xc3\xbc", 2);
	text[len - 1] = 'z';
	attempts[0].stderr_text = (struct str){text, len};
	attempts[1].stderr_text = STR("warning: not kept");
	attempts[2].stderr_text = STR("");
	attempts[2].error_stage = STR("remote_prepare");
	attempts[2].error_text = STR("local_only");
	assert_ok(
		store_put_action(f->store, put_run(f, "t", START), 1, 1, START, &action, &f->err));
	assert_number(f, "SELECT length(CAST(stderr AS BLOB)) FROM attempt_stderr WHERE idx = 0",
		      (int64_t)STORE_STDERR_MAX - 1);
	assert_number(f, "SELECT stderr_bytes FROM attempt_stderr WHERE idx = 0", (int64_t)len);
	kept = made_text(f->store, "SELECT substr(stderr, 1, 2) || substr(stderr, -2)"
				   " FROM attempt_stderr WHERE idx = 0");
	assert_string_equal(kept, "aaaz");
	free(kept);
	assert_number(f, "SELECT count(*) FROM attempt_stderr", 1);
	assert_number(f, "SELECT count(*) FROM attempt_text WHERE idx <> 2", 0);
	assert_number(f,
		      "SELECT error = 'local_only' AND error_stage = 'remote_prepare'"
		      " FROM attempt_text WHERE idx = 2",
		      1);
	free(text);
}

/* Stray bytes grow threefold when they are cleaned: the bound holds all the same. */
static void test_stray_stderr_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct attempt attempt = attempt_of(1, STATUS_FAILURE);
	struct action action = action_of("x", &attempt, 1);
	char *text = xmalloc(STORE_STDERR_MAX);

	memset(text, 0xff, STORE_STDERR_MAX);
	attempt.stderr_text = (struct str){text, STORE_STDERR_MAX};
	assert_ok(
		store_put_action(f->store, put_run(f, "t", START), 1, 1, START, &action, &f->err));
	assert_number(f,
		      "SELECT length(CAST(stderr AS BLOB)) BETWEEN 65534 AND 65536"
		      " AND stderr NOT GLOB '*[^' || char(65533) || ']*' FROM attempt_stderr",
		      1);
	free(text);
}

/* ---- runs ---- */

static void test_facts_add_up(void **state)
{
	struct fixture *f = *state;
	struct sighting sighting = {"/a", "p", 2, "v2"};
	struct run_facts facts = RUN_FACTS_INIT;
	int64_t first, second;

	facts.trace_id = STR("t");
	facts.command = STR("build");
	facts.exit_code = 0;
	assert_ok(store_put_run(f->store, &facts, &sighting, &first, &f->err));
	facts = (struct run_facts)RUN_FACTS_INIT;
	facts.trace_id = STR("t");
	facts.start_ns = START;
	facts.complete = true;
	assert_ok(store_put_run(f->store, &facts, &sighting, &second, &f->err));
	assert_int_equal(first, second);
	facts.complete = false;
	facts.start_ns = UNKNOWN;
	assert_ok(store_put_run(f->store, &facts, &sighting, &second, &f->err));
	assert_number(f,
		      "SELECT command = 'build' AND exit_code = 0 AND complete = 1"
		      " AND duration_us IS NULL FROM run",
		      1);
	assert_number(f, "SELECT start_ns FROM run", START);
}

static void put_counted(struct fixture *f, const char *instance, uint8_t digest)
{
	struct result result = result_of(5000000000);

	result.has_rusage = true;
	result.rusage = (struct rusage){.user_ns = 1, .system_ns = 2, .max_rss_bytes = 3};
	assert_ok(store_put_result(f->store, lookup_of(f, instance, digest), &result, &f->err));
}

static void test_project_of_several_places(void **state)
{
	static const struct sighting sightings[] = {
		{"/copies/1.pb", "home", 0, NULL},
		{"/copies/z/2.pb", "zlib", 1, NULL},
		{"/copies/a/3.pb", "alib", 1, NULL},
		{"/q/buck-out/v2/log/1.pb", "qemu", 2, "v2"},
		{"/p/buck-out/w/log/1.pb", "pc", 2, "wrapped-remote"},
		{"/copies/4.pb", "flag", 3, NULL},
	};
	static const char *const projects[] = {"home", "zlib", "alib", "qemu", "pc", "flag"};
	static const char *const dirs[] = {NULL, NULL, NULL, "v2", "wrapped-remote", NULL};
	struct fixture *f = *state;
	int64_t run_id = 0;
	size_t i;

	for (i = 0; i < sizeof(sightings) / sizeof(*sightings); i++) {
		run_id = put_run_at(f, "t", START, &sightings[i]);
		if (i == 0) {
			choose(f, run_id, "p", "log", false);
			put_action(f, run_id, 1, "i", 1, STATUS_SUCCESS);
			put_counted(f, "p", 1);
		}
		assert_text(f, "SELECT name FROM project JOIN run USING (project_id)", projects[i]);
		assert_text(f, "SELECT name FROM project JOIN result USING (project_id)",
			    projects[i]);
		assert_commits(f);
		/* Kept sums move along: a row left behind would make two of it. */
		assert_text(f,
			    "SELECT group_concat(DISTINCT name) FROM project JOIN size_count"
			    " USING (project_id)",
			    projects[i]);
		assert_text(f,
			    "SELECT group_concat(name) FROM project JOIN busy_sum"
			    " USING (project_id) WHERE results = 1",
			    projects[i]);
		assert_text(f, "SELECT isolation_dir FROM run", dirs[i]);
	}
	/* The same file seen again with less certainty. */
	put_run_at(f, "t", START, &(struct sighting){"/copies/4.pb", "aaa", 0, "x"});
	assert_text(f, "SELECT name FROM project JOIN run USING (project_id)", "flag");
}

static void test_last_value_of_a_key(void **state)
{
	struct fixture *f = *state;
	struct config_value values[] = {
		{STR_NULL, STR("a"), STR("b"), STR("1"), true},
		{STR("cell"), STR("a"), STR("b"), STR("2"), true},
		{STR_NULL, STR("a"), STR("b"), STR("3"), true},
		{STR_NULL, STR("a"), STR("c"), STR_NULL, true},
	};
	int64_t run_id = put_run(f, "t", START);

	assert_ok(store_put_config(f->store, run_id, values, 4, &f->err));
	assert_number(f, "SELECT count(*) FROM run_config", 3);
	assert_text(f, "SELECT value FROM run_config WHERE key = 'a.b'", "3");
	assert_text(f, "SELECT value FROM run_config WHERE key = 'cell//a.b'", "2");
	assert_text(f, "SELECT value FROM run_config WHERE key = 'a.c'", "");
	assert_ok(store_put_config(f->store, run_id, values, 1, &f->err));
	assert_text(f, "SELECT value FROM run_config WHERE key = 'a.b'", "1");
	assert_ok(store_put_config(f->store, run_id, NULL, 0, &f->err));
	/* Stray bytes: two keys that only they tell apart are one. */
	values[0].key = STR("b\xff");
	values[2].key = STR("b\xfe");
	assert_ok(store_put_config(f->store, run_id, values, 3, &f->err));
	assert_text(f, "SELECT value FROM run_config WHERE key = 'a.b\xef\xbf\xbd'", "3");
	assert_number(f, "SELECT count(*) FROM run_config", 4);
}

/* ---- actions ---- */

static void test_digests_that_are_never_asked(void **state)
{
	struct fixture *f = *state;
	struct attempt attempts[] = {attempt_of(1, STATUS_ERROR), attempt_of(1, STATUS_SUCCESS),
				     attempt_of(2, STATUS_SUCCESS), attempt_of(3, STATUS_SUCCESS)};
	struct action action = action_of("x", attempts, 4);

	attempts[1].kind = ATTEMPT_LOCAL;
	attempts[2].kind = ATTEMPT_WORKER;
	attempts[3].digest.hash_len = 0;
	attempts[3].cache_hit = true;
	attempts[3].cache_hit_type = HIT_REMOTE_DEP_FILE;
	assert_ok(
		store_put_action(f->store, put_run(f, "t", START), 1, 1, START, &action, &f->err));
	assert_number(f, "SELECT count(*) FROM lookup", 1);
	assert_number(f, "SELECT count(*) FROM attempt WHERE lookup_id IS NOT NULL", 1);
	assert_text(f,
		    "SELECT group_concat(idx || '=' || substr(hex(hash), 1, 2), ' ')"
		    " FROM attempt_digest",
		    "1=01 2=02");
	assert_text(f, "SELECT group_concat(ifnull(cache_hit, 'NULL'), ' ') FROM attempt",
		    "0 NULL NULL 2");
}

/* An action's host is kept whether or not the run's is known yet, and is the same one. */
static void test_texts_that_few_actions_have(void **state)
{
	struct fixture *f = *state;
	struct sighting sighting = {"/a", "p", 2, "v2"};
	struct run_facts facts = RUN_FACTS_INIT;
	struct action action = action_of("x", NULL, 0);
	int64_t run_id;

	facts.trace_id = STR("t");
	assert_ok(store_put_run(f->store, &facts, &sighting, &run_id, &f->err));
	assert_ok(store_put_action(f->store, run_id, 1, 1, START, &action, &f->err));
	assert_number(f, "SELECT count(*) FROM action_text", 0);
	action.host = STR("here");
	assert_ok(store_put_action(f->store, run_id, 2, 2, START, &action, &f->err));
	facts.host = STR("here");
	assert_ok(store_put_run(f->store, &facts, &sighting, &run_id, &f->err));
	action.type = ACTION_TEST;
	action.suite = STR("suite");
	action.name.category = action.name.identifier = STR_NULL;
	assert_ok(store_put_action(f->store, run_id, 3, 3, START, &action, &f->err));
	assert_text(f, "SELECT group_concat(host || ifnull(suite, '-'), ' ') FROM action_text",
		    "here- heresuite");
	assert_text(f,
		    "SELECT c.name || '|' || n.identifier FROM action a JOIN action_name n"
		    " USING (name_id) JOIN category c USING (category_id) WHERE a.type = 2",
		    "|");
}

static void test_an_end_completes_its_start(void **state)
{
	struct fixture *f = *state;
	struct attempt attempt = attempt_of(1, STATUS_SUCCESS);
	struct action action = action_of("x", &attempt, 1);
	int64_t run_id = put_run(f, "t", START);

	assert_ok(store_put_action(f->store, run_id, 7, 70, UNKNOWN, &action, &f->err));
	assert_ok(store_put_action(f->store, run_id, 7, 60, START, &action, &f->err));
	assert_ok(store_put_action(f->store, run_id, 7, 65, START + 5, &action, &f->err));
	assert_number(f, "SELECT seq FROM action", 60);
	assert_number(f, "SELECT start_ns FROM action", START);
	assert_number(f, "SELECT first_seq FROM lookup", 60);
	assert_number(f, "SELECT count(*) FROM attempt", 1);
}

static void put_started(struct fixture *f, int64_t run_id, uint64_t span_id, const char *stage,
			uint64_t stage_seq)
{
	struct action action = action_of("x", NULL, 0);
	struct started started = {.span_id = span_id, .seq = span_id, .start_ns = START};

	started.action = &action;
	if (stage) {
		started.stage = (struct stage){digest_of(1), str_of(stage)};
		started.stage_seq = stage_seq;
	}
	assert_ok(store_put_in_flight(f->store, run_id, &started, &f->err));
}

static void test_in_flight(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);
	struct run_facts facts = RUN_FACTS_INIT;
	struct sighting sighting = {"/p/buck-out/v2/log/a.pb", "p", 2, "v2"};

	put_started(f, run_id, 1, NULL, 0);
	put_started(f, run_id, 2, "queue", 20);
	put_started(f, run_id, 3, NULL, 0);
	assert_number(f, "SELECT count(*) FROM in_flight", 3);
	assert_number(f, "SELECT stage IS NULL AND hash IS NULL FROM in_flight WHERE span_id = 1",
		      1);
	/* A later stage wins, an earlier one does not. */
	put_started(f, run_id, 2, "execute", 30);
	put_started(f, run_id, 2, "queue", 20);
	put_started(f, run_id, 2, NULL, 0);
	assert_text(f, "SELECT stage FROM in_flight WHERE span_id = 2", "execute");
	/* Ended, cancelled: gone, and an older copy does not bring them back. */
	put_action(f, run_id, 1, "x", 1, STATUS_SUCCESS);
	assert_ok(store_drop_in_flight(f->store, run_id, 3, &f->err));
	put_started(f, run_id, 1, NULL, 0);
	put_started(f, run_id, 3, NULL, 0);
	assert_number(f, "SELECT group_concat(span_id) = '2' FROM in_flight", 1);
	/* A complete run has none. */
	facts.trace_id = STR("t");
	facts.complete = true;
	assert_ok(store_put_run(f->store, &facts, &sighting, &run_id, &f->err));
	put_started(f, run_id, 4, NULL, 0);
	assert_number(f, "SELECT count(*) FROM in_flight", 0);
}

/* ---- paths ---- */

static void put_path(struct fixture *f, int64_t run_id, uint64_t seq, size_t count)
{
	struct path_step steps[2] = {
		{.kind = STEP_WAITING, .detail = STR("unknown"), .execution_kind = UNKNOWN},
		{.kind = UNKNOWN, .execution_kind = UNKNOWN, .potential_us = UNKNOWN},
	};
	struct build_graph graph = {
		.nodes = (int64_t)seq,
		.paths = {[PATH_CRITICAL] = {steps, count}, [PATH_SLOWEST] = {steps, 1}},
	};

	assert_int_equal(store_put_graph(f->store, run_id, seq, &graph, &f->err), 0);
}

/* Of several records the first one in the log stays, whichever is stored first. */
static void test_the_first_graph_stays(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "trace-1", START);

	put_path(f, run_id, 20, 2);
	assert_number(f, "SELECT count(*) FROM path_step WHERE path = 1", 2);
	assert_number(f, "SELECT count(*) FROM path_step WHERE kind IS NULL AND span_id IS NULL",
		      1);
	put_path(f, run_id, 30, 1);
	assert_number(f, "SELECT nodes FROM build_graph", 20);
	assert_number(f, "SELECT count(*) FROM path_step WHERE path = 1", 2);
	put_path(f, run_id, 10, 1);
	assert_number(f, "SELECT nodes FROM build_graph", 10);
	assert_number(f, "SELECT count(*) FROM path_step WHERE path = 1", 1);
	assert_number(f, "SELECT count(*) FROM path_step WHERE path = 2", 1);
	assert_text(f,
		    "SELECT r.name FROM path_step s JOIN rule r ON r.rule_id = s.detail_id"
		    " WHERE s.path = 1",
		    "unknown");
}

/* ---- questions that are held together ---- */

/* Does another process find SQLite's lock of readers on the file? */
static bool is_locked(const char *path)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000002, .l_len = 510};
	pid_t child = fork();
	int status = 0, fd;

	if (child == 0) { /* its own locks no process finds */
		fd = open(path, O_RDWR | O_CLOEXEC);
		_exit(fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 ? 2 : lock.l_type != F_UNLCK);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 1;
}

static void test_held_questions(void **state)
{
	struct fixture *f = *state;

	assert_ok(store_commit(f->store, &f->err));
	assert_return(store_knows_file(f->store, "/a.pb", 1, 1, &f->err), 0);
	assert_false(is_locked(f->db));
	assert_ok(store_hold(f->store, &f->err));
	assert_return(store_knows_file(f->store, "/a.pb", 1, 1, &f->err), 0);
	assert_true(is_locked(f->db));
	store_release(f->store);
	assert_false(is_locked(f->db));

	/* Inside a transaction, which is not ended. */
	assert_ok(store_begin(f->store, &f->err));
	put_run(f, "t", START);
	assert_ok(store_hold(f->store, &f->err));
	assert_number(f, "SELECT count(*) FROM run", 1);
	store_release(f->store);
	store_rollback(f->store);
	assert_number(f, "SELECT count(*) FROM run", 0);
}

/* One that must be there: all of the transaction goes. */
static void test_row_that_is_gone(void **state)
{
	struct fixture *f = *state;
	struct attempt attempt = attempt_of(1, STATUS_SUCCESS);
	struct action action = action_of("i", &attempt, 1);

	put_run(f, "t", START);
	assert_return(store_put_action(f->store, 99, 1, 1, START, &action, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_DB);
	assert_non_null(strstr(f->err.text, ": a row that was stored is not there"));
	assert_return(store_commit(f->store, &f->err), -1);
	assert_ok(store_begin(f->store, &f->err));
	assert_number(f, "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM action)", 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_row_that_is_gone),
		TEST(test_unknown_is_null),
		TEST(test_zero_is_known),
		TEST(test_wall_and_cpu),
		TEST(test_what_no_machine_does),
		TEST(test_text_is_clean),
		TEST(test_stderr_is_bounded),
		TEST(test_stray_stderr_is_bounded),
		TEST(test_facts_add_up),
		TEST(test_project_of_several_places),
		TEST(test_last_value_of_a_key),
		TEST(test_digests_that_are_never_asked),
		TEST(test_texts_that_few_actions_have),
		TEST(test_an_end_completes_its_start),
		TEST(test_in_flight),
		TEST(test_the_first_graph_stays),
		TEST(test_held_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
