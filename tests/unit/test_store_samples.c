/* Samples of containers: an answer with fewer of them takes nothing away. */
#include "store_fixture.h"

static void put_a_result(struct fixture *f)
{
	static const struct made_log log = {.run = 1, .records = MADE_RECORDS};

	assert_ok(store_commit(f->store, &f->err));
	made_ingest(f->store, &log);
	made_answer(f->store);
	assert_ok(store_begin(f->store, &f->err));
}

static struct result_usage usage_of(struct fixture *f, enum sample_status status, int64_t samples,
				    int64_t peak)
{
	return (struct result_usage){
		.result_id = made_number(f->store, "SELECT min(result_id) FROM result"
						   " WHERE source = 1 AND cpu_ns IS NOT NULL"),
		.status = status,
		.interval_ms = 15000,
		.lives = samples > 0,
		.figures = {samples, peak, UNKNOWN, samples, UNKNOWN, UNKNOWN},
		.cores_peak_milli = UNKNOWN,
	};
}

static void put(struct fixture *f, const struct result_usage *usage)
{
	assert_ok(store_put_result_usage(f->store, usage, &f->err));
}

#define STORED                                                            \
	"SELECT status || ' ' || settled || ' ' || memory_samples || ' '" \
	" || ifnull(working_set_peak_bytes, '-') || ' ' || worth FROM result_container"

static void test_more_samples_win(void **state)
{
	struct fixture *f = *state;
	struct result_usage young, whole, forgotten;

	put_a_result(f);
	young = usage_of(f, SAMPLE_OK, 2, 7);
	whole = usage_of(f, SAMPLE_OK, 4, 9);
	forgotten = usage_of(f, SAMPLE_EXPIRED, 0, UNKNOWN);
	whole.settled = forgotten.settled = true;
	put(f, &young);
	assert_text(f, STORED, "1 0 2 7 3");
	put(f, &whole);
	assert_text(f, STORED, "1 1 4 9 2");
	put(f, &young);
	put(f, &forgotten);
	assert_text(f, STORED, "1 1 4 9 2");
	assert_number(f,
		      "SELECT count(*) FROM result_container c JOIN result r"
		      " ON r.result_id = c.result_id AND r.wall_ns = c.wall_ns",
		      1);
}

static void test_the_better_status_wins(void **state)
{
	struct fixture *f = *state;
	struct result_usage none, unknown;

	put_a_result(f);
	none = usage_of(f, SAMPLE_NONE, 0, UNKNOWN);
	unknown = usage_of(f, SAMPLE_NO_SERIES, 0, UNKNOWN);
	put(f, &unknown);
	assert_text(f, STORED, "3 0 0 - 5");
	put(f, &none);
	put(f, &unknown);
	assert_text(f, STORED, "2 0 0 - 4");
	none.settled = true;
	put(f, &none);
	assert_text(f, STORED, "2 1 0 - 4");
}

static void test_a_result_that_has_gone(void **state)
{
	struct fixture *f = *state;
	struct result_usage usage = {.result_id = 12345, .status = SAMPLE_OK};

	put(f, &usage);
	assert_number(f, "SELECT count(*) FROM result_container", 0);
}

/* ---- minutes ---- */

static struct minute_usage minute_of(const char *id, int64_t minute, int64_t samples, int64_t peak)
{
	return (struct minute_usage){
		.namespace = STR("buildbarn"),
		.pod = STR("w-1"),
		.container = STR("runner"),
		.container_id = str_of(id),
		.minute = minute,
		.figures = {samples, peak, peak, 0, UNKNOWN, UNKNOWN},
	};
}

static void test_minutes(void **state)
{
	struct minute_usage usage[] = {
		minute_of("/1", 7, 2, 20), minute_of("/1", 7, 4, 10), minute_of("/1", 7, 3, 30),
		minute_of("/1", 8, 1, 5),  minute_of("/2", 7, 1, 6),
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < 5; i++)
		assert_ok(store_put_minute_usage(f->store, &usage[i], &f->err));
	assert_number(f, "SELECT count(*) FROM pod", 1);
	assert_number(f, "SELECT count(*) FROM container_life", 2);
	assert_text(f,
		    "SELECT group_concat(x) FROM (SELECT container_id || ' ' || minute || ' '"
		    " || memory_samples || ' ' || working_set_peak_bytes AS x"
		    " FROM container_usage JOIN container_life USING (life_id) ORDER BY 1)",
		    "/1 7 4 10,/1 8 1 5,/2 7 1 6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_more_samples_win, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_better_status_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_result_that_has_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_minutes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
