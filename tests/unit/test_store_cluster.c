/* What pods and Prometheus say, in any order: nothing known is lost, nothing counts twice. */
#include "store_fixture.h"

#include <string.h>

#define S INT64_C(1000000000)

static struct container_spec spec_of(const char *pod, const char *container)
{
	return (struct container_spec){
		.layer = LAYER_PODS,
		.namespace = STR("buildbarn"),
		.pod = str_of(pod),
		.container = str_of(container),
		.cpu_request_millicores = UNKNOWN,
		.cpu_limit_millicores = UNKNOWN,
		.memory_request_bytes = UNKNOWN,
		.memory_limit_bytes = UNKNOWN,
		.restart_count = UNKNOWN,
	};
}

static struct termination end_of(const char *pod, int64_t second)
{
	return (struct termination){
		.layer = LAYER_PODS,
		.namespace = STR("buildbarn"),
		.pod = str_of(pod),
		.container = STR("runner"),
		.exit_code = UNKNOWN,
		.signal = UNKNOWN,
		.started_ns = UNKNOWN,
		.finished_ns = second * S,
		.restarts = UNKNOWN,
	};
}

static struct oom_count oom_of(const char *pod, int64_t first, int64_t last, int64_t count)
{
	return (struct oom_count){
		.layer = LAYER_PROMETHEUS,
		.namespace = STR("buildbarn"),
		.pod = str_of(pod),
		.container = STR("runner"),
		.container_id = STR("/kubepods/1"),
		.first_ns = first,
		.last_ns = last,
		.count = count,
	};
}

/* ---- containers ---- */

static void test_containers(void **state)
{
	struct container_spec little = spec_of("w-1", "runner"), more = spec_of("w-1", "runner");
	struct fixture *f = *state;

	little.restart_count = 3;
	little.memory_limit_bytes = 1 << 30;
	more.uid = STR("uid-1");
	more.node = STR("n1");
	more.cpu_request_millicores = 4500;
	more.restart_count = 2;
	assert_ok(store_put_container(f->store, &little, &f->err));
	assert_text(f, "SELECT ifnull(uid, '-') || ifnull(node, '-') FROM pod", "--");
	assert_ok(store_put_container(f->store, &more, &f->err));
	assert_ok(store_put_container(f->store, &little, &f->err));
	assert_text(f, "SELECT namespace || name || uid || node FROM pod", "buildbarnw-1uid-1n1");
	assert_text(f,
		    "SELECT name || cpu_request_milli || ifnull(cpu_limit_milli, '-')"
		    " || ifnull(memory_request_bytes, '-') || memory_limit_bytes || restarts"
		    " FROM container",
		    "runner4500--10737418243");
}

/* A pod of a StatefulSet that came again, a resize in place: any order, and nothing is made up. */
static void test_those_that_disagree(void **state)
{
	static const char rows[] =
		"SELECT group_concat(line, '; ') FROM (SELECT ifnull(uid, '-') || ' ' ||"
		" ifnull(node, '-') || ' ' || ifnull(cpu_request_milli, '-') || ' ' ||"
		" ifnull(memory_limit_bytes >> 30, '-') || ' ' || disputed AS line"
		" FROM container c JOIN pod p ON p.pod_id = c.pod_id ORDER BY p.name)";
	struct container_spec then = spec_of("w-0", "runner"), now = then, bare;
	struct container_spec resized = spec_of("w-1", "runner"), before = resized;
	struct container_spec limited = spec_of("w-2", "runner"), free = limited;
	struct container_spec *const specs[] = {&then,	 &now,	   &bare, &resized,
						&before, &limited, &free};
	struct fixture *f = *state;
	size_t i;

	then.uid = STR("u-old");
	then.node = STR("n1");
	then.cpu_request_millicores = 4500;
	then.memory_limit_bytes = INT64_C(12) << 30;
	now = then;
	now.uid = STR("u-new");
	now.memory_limit_bytes = INT64_C(9) << 30;
	bare = now;
	bare.uid = STR_NULL;
	bare.node = STR("n2");
	bare.cpu_request_millicores = UNKNOWN;
	before.uid = resized.uid = STR("u-1");
	resized.memory_limit_bytes = INT64_C(2) << 30;
	before.memory_limit_bytes = INT64_C(1) << 30;
	limited.uid = STR("u-1");
	limited.memory_limit_bytes = INT64_C(2) << 30;
	free.uid = STR("u-2");
	free.cpu_request_millicores = UNKNOWN;
	for (i = 0; i < 14; i++)
		assert_ok(store_put_container(f->store, specs[i * 5 % 7], &f->err));
	assert_text(f, rows, "- - 4500 - 1; u-1 - - - 1; - - - - 1");
	assert_number(f, "SELECT count(*) FROM container_said", 7);
}

static void test_pods_are_told_apart(void **state)
{
	struct container_spec a = spec_of("w-1", "runner"), b = a, c = a, d = a;
	struct fixture *f = *state;

	b.container = STR("worker");
	c.pod = STR("w-2");
	d.namespace = STR_NULL;
	assert_ok(store_put_container(f->store, &a, &f->err));
	assert_ok(store_put_container(f->store, &b, &f->err));
	assert_ok(store_put_container(f->store, &c, &f->err));
	assert_ok(store_put_container(f->store, &d, &f->err));
	assert_number(f, "SELECT count(*) FROM pod", 3);
	assert_number(f, "SELECT count(*) FROM container", 4);
	assert_number(f, "SELECT count(*) FROM pod WHERE namespace = ''", 1);
}

/* ---- ends ---- */

static void test_terminations(void **state)
{
	struct termination reasoned = end_of("w-1", 100), numbered = end_of("w-1", 100);
	struct termination seen = end_of("w-1", 100), other = end_of("w-1", 101);
	struct fixture *f = *state;

	reasoned.reason = STR("OOMKilled");
	reasoned.restarts = 2;
	numbered.exit_code = 137;
	numbered.restarts = 1;
	numbered.container_id = STR("containerd://1");
	numbered.started_ns = 50 * S;
	seen.layer = LAYER_PROMETHEUS;
	assert_ok(store_put_termination(f->store, &reasoned, &f->err));
	assert_ok(store_put_termination(f->store, &numbered, &f->err));
	assert_ok(store_put_termination(f->store, &reasoned, &f->err));
	assert_number(f, "SELECT count(*) FROM termination", 1);
	assert_text(f,
		    "SELECT reason || exit_code || restarts || container_id || started_ns"
		    " || ifnull(signal, '-') FROM termination",
		    "OOMKilled1372containerd://150000000000-");
	assert_ok(store_put_termination(f->store, &seen, &f->err));
	assert_ok(store_put_termination(f->store, &other, &f->err));
	assert_number(f, "SELECT count(*) FROM termination", 3);
}

static void test_an_end_without_a_time(void **state)
{
	struct termination end = end_of("w-1", 0);
	struct fixture *f = *state;

	end.finished_ns = UNKNOWN;
	assert_ok(store_put_termination(f->store, &end, &f->err));
	assert_number(f, "SELECT count(*) FROM termination", 0);
}

static void test_oom_counts(void **state)
{
	struct oom_count first = oom_of("w-1", UNKNOWN, 100 * S, 2);
	struct oom_count later = oom_of("w-1", 90 * S, 100 * S, 2);
	struct oom_count next = oom_of("w-1", 100 * S, 160 * S, 1), other = first;
	struct fixture *f = *state;

	other.container_id = STR_NULL;
	assert_ok(store_put_oom_count(f->store, &first, &f->err));
	assert_ok(store_put_oom_count(f->store, &later, &f->err));
	assert_ok(store_put_oom_count(f->store, &first, &f->err));
	assert_number(f, "SELECT count(*) FROM oom_count", 1);
	assert_number(f, "SELECT first_ns + count FROM oom_count", 90 * S + 2);
	assert_ok(store_put_oom_count(f->store, &next, &f->err));
	assert_ok(store_put_oom_count(f->store, &other, &f->err));
	assert_number(f, "SELECT sum(count) FROM oom_count", 5);
	assert_number(f, "SELECT count(*) FROM pod", 1);
}

/* ---- looks ---- */

static void put_look(struct fixture *f, int64_t from, int64_t to)
{
	struct look look = {LAYER_PROMETHEUS, "", "buildbarn/runner"};

	assert_ok(store_put_look(f->store, &look, (struct interval){from, to}, &f->err));
}

static void assert_looks(struct fixture *f, const char *wanted)
{
	assert_text(f,
		    "SELECT group_concat(from_ns || '-' || to_ns, ' ') FROM (SELECT * FROM"
		    " layer_look WHERE layer = 4 AND cache = '' AND selector ="
		    " 'buildbarn/runner' ORDER BY from_ns)",
		    wanted);
}

static void test_looks_that_touch(void **state)
{
	struct fixture *f = *state;

	put_look(f, 10, 20);
	put_look(f, 30, 40);
	put_look(f, 50, 60);
	assert_looks(f, "10-20 30-40 50-60");
	put_look(f, 12, 18);
	assert_looks(f, "10-20 30-40 50-60");
	put_look(f, 21, 29);
	assert_looks(f, "10-20 21-29 30-40 50-60");
	put_look(f, 20, 21);
	assert_looks(f, "10-29 30-40 50-60");
	put_look(f, 25, 55);
	assert_looks(f, "10-60");
	put_look(f, 0, 100);
	assert_looks(f, "0-100");
	put_look(f, 200, 200);
	assert_looks(f, "0-100 200-200");
}

static void test_looks_of_others(void **state)
{
	static const struct look looks[] = {{LAYER_PODS, "", ""},
					    {LAYER_PROMETHEUS, "east", "buildbarn/runner"},
					    {LAYER_PROMETHEUS, "", "other/runner"},
					    {LAYER_PROMETHEUS, "", "buildbarn/runner"}};
	struct fixture *f = *state;
	struct intervals found = INTERVALS_INIT;
	size_t i;

	for (i = 0; i < 3; i++)
		assert_ok(store_put_look(f->store, &looks[i], (struct interval){0, 50}, &f->err));
	put_look(f, 10, 20);
	put_look(f, 30, 40);
	assert_looks(f, "10-20 30-40");
	assert_number(f, "SELECT count(*) FROM layer_look", 5);
	assert_ok(store_get_looks(f->store, &looks[3], &found, &f->err));
	assert_int_equal(found.count, 2);
	assert_int_equal(found.items[0].from, 10);
	assert_int_equal(found.items[1].to, 40);
	intervals_release(&found);
}

/* ---- the laws ---- */

/* Everything that a cluster said, in the order of a seed. */
static void say_all(struct fixture *f, unsigned seed)
{
	struct container_spec specs[4];
	struct termination ends[4];
	struct oom_count ooms[4];
	unsigned i, step, at;

	for (i = 0; i < 4; i++) {
		specs[i] = spec_of("w-1", "runner");
		specs[i].restart_count = i == 1 ? UNKNOWN : (int64_t)i;
		specs[i].uid = i % 2 ? STR_NULL : STR("uid");
		specs[i].memory_limit_bytes = i < 2 ? UNKNOWN : 1000 * (int64_t)i;
		ends[i] = end_of("w-1", 100 + i / 2);
		ends[i].reason = i == 0 ? STR("Error") : i == 1 ? STR("OOMKilled") : STR_NULL;
		ends[i].exit_code = i == 3 ? 137 : UNKNOWN;
		ooms[i] = oom_of("w-1", i % 2 ? UNKNOWN : 50 * S, (100 + i / 2) * S, 1 + i / 2);
	}
	for (step = 0; step < 16; step++) {
		at = (step * 7 + seed * 5) % 16;
		if (seed % 2)
			at = 15 - at;
		if (at < 4)
			assert_ok(store_put_container(f->store, &specs[at], &f->err));
		else if (at < 8)
			assert_ok(store_put_termination(f->store, &ends[at - 4], &f->err));
		else if (at < 12)
			assert_ok(store_put_oom_count(f->store, &ooms[at - 8], &f->err));
		else
			put_look(f, 10 * (int64_t)at, 10 * (int64_t)at + 10);
	}
	assert_ok(store_commit(f->store, &f->err));
}

static void test_any_order(void **state)
{
	struct fixture *f = *state;
	char *wanted, *rows;
	unsigned seed;

	say_all(f, 0);
	wanted = made_dump(f->db);
	assert_non_null(strstr(wanted, "OOMKilled"));
	for (seed = 1; seed < 12; seed++) {
		void *other;

		assert_int_equal(setup(&other), 0);
		say_all(other, seed);
		rows = made_dump(((struct fixture *)other)->db);
		made_assert_same(rows, wanted);
		free(rows);
		teardown(&other);
	}
	free(wanted);
	assert_ok(store_begin(f->store, &f->err));
}

static void test_twice_changes_no_byte(void **state)
{
	struct fixture *f = *state;
	size_t before_len, after_len;
	char *before, *after;

	say_all(f, 3);
	before = made_bytes(f->db, &before_len);
	assert_ok(store_begin(f->store, &f->err));
	say_all(f, 4);
	after = made_bytes(f->db, &after_len);
	assert_int_equal(before_len, after_len);
	assert_memory_equal(before, after, before_len);
	free(before);
	free(after);
	assert_ok(store_begin(f->store, &f->err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_containers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_those_that_disagree, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pods_are_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_terminations, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_end_without_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_oom_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_looks_that_touch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_looks_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_twice_changes_no_byte, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
