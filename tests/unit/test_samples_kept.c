/* Samples by pod, life and scrape job. */
#include "cluster_samples_kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define S INT64_C(1000000000)

static const struct sample_window windows[] = {
	{.result_id = 3, .pod = {"w-2", 3}, .from_ns = 5 * S, .to_ns = 9 * S},
	{.result_id = 2, .pod = {"w-1", 3}, .from_ns = 7 * S, .to_ns = 8 * S},
	{.result_id = 1, .pod = {"w-2", 3}, .from_ns = 1 * S, .to_ns = 2 * S},
};

static int setup(void **state)
{
	static struct kept_pods pods;

	kept_pods_init(&pods, windows, 3);
	*state = &pods;
	return 0;
}

static int teardown(void **state)
{
	kept_pods_release(*state);
	return 0;
}

/* Two samples of a value, at a second and the next one. NULL: no such label. */
static void add(struct kept_pods *pods, enum sampled metric, const char *pod, const char *id,
		const char *job, int64_t second, double value)
{
	const struct series_label labels[] = {
		{STR("pod"), str_of(pod)},
		{STR("id"), str_of(id)},
		{STR("namespace"), STR("buildbarn")},
		{STR("job"), str_of(job)},
	};
	const struct series_sample samples[] = {{second * S, value}, {(second + 1) * S, value}};
	const struct series series = {labels, 4, samples, 2};
	struct err err = ERR_INIT;

	assert_int_equal(kept_pods_add(pods, metric, &series, &err), 0);
}

static void test_windows_by_pod_and_time(void **state)
{
	struct kept_pods *pods = *state;

	assert_int_equal(pods->count, 2);
	assert_true(str_is(pods->items[0].name, "w-1"));
	assert_int_equal(pods->items[1].window_count, 2);
	assert_int_equal(pods->items[1].windows[0]->result_id, 1);
	assert_int_equal(pods->items[1].windows[1]->result_id, 3);
}

static void test_lives_are_apart(void **state)
{
	struct kept_pods *pods = *state;

	add(pods, SAMPLED_CPU, "w-1", "/a", "j", 1, 10);
	add(pods, SAMPLED_CPU, "w-1", "/b", "j", 3, 1);
	add(pods, SAMPLED_CPU, "w-1", "/a", "j", 5, 20);
	add(pods, SAMPLED_CPU, "w-9", "/a", "j", 0, 1);
	assert_int_equal(pods->items[0].life_count, 2);
	assert_int_equal(pods->items[0].lives[0].of[SAMPLED_CPU].count, 4);
	assert_int_equal(pods->items[0].lives[1].of[SAMPLED_CPU].count, 2);
	assert_int_equal(pods->items[1].life_count, 0);
	assert_int_equal(pods->first_ns, 0); /* a pod's that nobody asked about counts */
	assert_false(kept_pod_is_ambiguous(&pods->items[0]));
}

/* The better job's samples alone, in whatever order they come. */
static void test_one_job_counts(void **state)
{
	static const char *const jobs[][3] = {
		{"a", "b", NULL}, {"b", NULL, "a"}, {NULL, "a", "b"}, {"z", "kubelet", "a"}};
	struct kept_pods *pods = *state;
	const struct sample_list *list;
	const struct life *life;
	char id[] = "/0";
	size_t i, j;

	for (i = 0; i < 4; i++, id[1]++) {
		for (j = 0; j < 3; j++)
			add(pods, SAMPLED_WORKING_SET, "w-1", id, jobs[i][j], (int64_t)j,
			    (double)j);
		life = &pods->items[0].lives[i];
		list = &life->of[SAMPLED_WORKING_SET];
		assert_int_equal(list->count, 2);
		assert_string_equal(life->job[SAMPLED_WORKING_SET], i == 3 ? "kubelet" : "a");
		assert_string_equal(jobs[i][(size_t)list->items[0].value],
				    life->job[SAMPLED_WORKING_SET]);
	}
}

/* Another series of the same job and life: a label that is none of ours has changed. */
static void test_samples_ascend(void **state)
{
	struct kept_pods *pods = *state;

	add(pods, SAMPLED_ANON, "w-1", "/a", "j", 5, 1);
	add(pods, SAMPLED_ANON, "w-1", "/a", "j", 5, 9);
	add(pods, SAMPLED_ANON, "w-1", "/a", "j", 6, 3);
	assert_int_equal(pods->items[0].lives[0].of[SAMPLED_ANON].count, 3);
	assert_int_equal(pods->items[0].lives[0].of[SAMPLED_ANON].items[2].value, 3);
}

static void test_what_is_no_count(void **state)
{
	struct kept_pods *pods = *state;

	add(pods, SAMPLED_ANON, "w-1", "/a", "j", 1, -1);
	add(pods, SAMPLED_ANON, "w-1", "/a", "j", 3, 1e21);
	add(pods, SAMPLED_CPU, "w-1", "/a", "j", 3, 1e10);
	assert_int_equal(pods->items[0].lives[0].of[SAMPLED_ANON].count, 0);
	assert_int_equal(pods->items[0].lives[0].of[SAMPLED_CPU].count, 0);
}

static void test_one_name_in_two_namespaces(void **state)
{
	const struct series_label labels[] = {
		{STR("pod"), STR("w-1")}, {STR("id"), STR("/z")}, {STR("namespace"), STR("other")}};
	const struct series_sample samples[] = {{S, 1}};
	const struct series series = {labels, 3, samples, 1};
	struct kept_pods *pods = *state;
	struct err err = ERR_INIT;

	add(pods, SAMPLED_CPU, "w-1", "/a", "j", 1, 1);
	assert_int_equal(kept_pods_add(pods, SAMPLED_CPU, &series, &err), 0);
	assert_true(kept_pod_is_ambiguous(&pods->items[0]));
}

static void test_too_much(void **state)
{
	struct kept_pods *pods = *state;
	const struct series_label labels[] = {{STR("pod"), STR("w-1")}};
	const struct series_sample samples[] = {{S, 1}};
	const struct series series = {labels, 1, samples, 1};
	struct err err = ERR_INIT;

	pods->bytes = SAMPLES_MAX;
	assert_int_equal(kept_pods_add(pods, SAMPLED_CPU, &series, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_true(pods->too_much);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_windows_by_pod_and_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lives_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_job_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples_ascend, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_no_count, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_name_in_two_namespaces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_much, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
