/* Values files: merged as Helm does it, read or refused with the place of the fault. */
#include "cluster_pools.h"
#include "cluster_values.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/mem.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What was read, as text: a line a pool, "! " and the warning. */
struct heard {
	struct buf text;
	struct pool_tally tally;
	struct err err;
};

static void add_number(struct buf *buf, const char *name, int64_t value)
{
	if (value != UNKNOWN)
		buf_addf(buf, " %s=%" PRId64, name, value);
}

static int on_pool(void *context, const struct pool_spec *pool, struct err *err)
{
	struct buf *text = &((struct heard *)context)->text;

	(void)err;
	buf_add(text, pool->pool.data, pool->pool.len);
	if (pool->instance_prefix.data)
		buf_addf(text, " '%.*s'", (int)pool->instance_prefix.len,
			 pool->instance_prefix.data);
	add_number(text, "on", pool->enabled);
	add_number(text, "x", pool->concurrency);
	add_number(text, "cpu", pool->cpu_request_millicores);
	add_number(text, "cpu_max", pool->cpu_limit_millicores);
	add_number(text, "mem", pool->memory_request_bytes);
	add_number(text, "mem_max", pool->memory_limit_bytes);
	add_number(text, "min", pool->workers_min);
	add_number(text, "max", pool->workers_max);
	add_number(text, "cool", pool->cooldown_s);
	buf_addch(text, '\n');
	return 0;
}

static void on_warning(void *context, const char *text)
{
	buf_addf(&((struct heard *)context)->text, "! %s\n", text);
}

static int hear(struct heard *heard, const struct pool_text *files, size_t count)
{
	struct pool_sink sink = {heard, on_pool, on_warning, NULL};

	memset(heard, 0, sizeof(*heard));
	buf_init(&heard->text);
	return cluster_pools_read(files, count, &sink, &heard->tally, &heard->err);
}

/* The files a, b, … in this order; `texts` ends with NULL. */
static int hear_texts(struct heard *heard, const char *const *texts)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct pool_text files[4];
	size_t count;

	for (count = 0; texts[count]; count++)
		files[count] = (struct pool_text){names[count], str_of(texts[count])};
	return hear(heard, files, count);
}

static void assert_heard(const char *wanted, const char *const *texts)
{
	struct heard heard;

	if (hear_texts(&heard, texts) < 0)
		fail_msg("%s", heard.err.text);
	assert_string_equal(heard.text.data, wanted);
	buf_release(&heard.text);
}

#define TEXTS(...)                \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}
#define POOL(text) "pools: {p: {" text "}}\n"
#define RESOURCES(text) POOL("worker: {resources: {" text "}}")

static void assert_refused(const char *wanted, enum err_kind kind, const char *text)
{
	struct heard heard;

	assert_int_equal(hear_texts(&heard, TEXTS(text)), -1);
	if (!strstr(heard.err.text, wanted))
		fail_msg("'%s' says nothing of '%s'", heard.err.text, wanted);
	assert_int_equal(heard.err.kind, kind);
	assert_int_equal(heard.tally.pools, 0);
	buf_release(&heard.text);
}

/* ---- one file ---- */

static void test_a_chart(void **state)
{
	static const char path[] = TEST_DATA "/cluster/values.yaml";
	struct buf text = BUF_INIT;
	struct heard heard;
	struct pool_text file = {path, STR_NULL};

	(void)state;
	assert_int_equal(file_read(path, 1 << 20, &text, &heard.err), 0);
	file.text = (struct str){text.data, text.len};
	assert_int_equal(hear(&heard, &file, 1), 0);
	assert_string_equal(
		heard.text.data,
		"shared '' on=1 x=1 cpu=4500 mem=9663676416 mem_max=9663676416 min=0 max=8 "
		"cool=300\n"
		"legacy 'legacy' on=1 x=1 cpu=7000 mem=12884901888 min=0 max=2 cool=300\n"
		"dedicated 'dedicated' on=0 x=1 cpu=7000 mem=30064771072 min=0 max=4\n");
	assert_int_equal(heard.tally.pools, 3);
	assert_int_equal(heard.tally.bad, 0);
	buf_release(&heard.text);
	buf_release(&text);
}

static void test_quantities(void **state)
{
	(void)state;
	assert_heard("p cpu=1500 mem=2147483648\n",
		     TEXTS(RESOURCES("requests: {cpu: 1.5, memory: 2Gi}")));
	assert_heard("p cpu=7000 mem=12000000000\n",
		     TEXTS(RESOURCES("requests: {cpu: '7', memory: 12G}")));
	assert_heard("p cpu=1 mem=1000000000\n",
		     TEXTS(RESOURCES("requests: {cpu: 100u, memory: 1e9}")));
	assert_heard("p cpu=500 mem=128974848\n",
		     TEXTS(RESOURCES("requests: {cpu: .5, memory: 128974848}")));
	assert_heard("p cpu=2000 mem=1610612736\n",
		     TEXTS(RESOURCES("requests: {cpu: \"2\", memory: 1.5Gi}")));
}

/* Kubernetes takes the limit for a request that is left out. */
static void test_limits_without_requests(void **state)
{
	(void)state;
	assert_heard("p cpu=2000 cpu_max=2000 mem=1073741824 mem_max=1073741824\n",
		     TEXTS(RESOURCES("limits: {cpu: 2, memory: 1Gi}")));
	assert_heard("p cpu=1000 cpu_max=2000\n",
		     TEXTS(RESOURCES("requests: {cpu: 1}, limits: {cpu: 2}")));
}

static void test_workers(void **state)
{
	(void)state;
	assert_heard("p min=3 max=3\n", TEXTS(POOL("worker: {replicas: 3}")));
	assert_heard("p max=4\n", TEXTS(POOL("worker: {replicas: 3}, scaling: {max: 4}")));
	assert_heard("p min=3 max=3\n", TEXTS(POOL("worker: {replicas: 3}, scaling: null")));
}

static void test_bools(void **state)
{
	(void)state;
	assert_heard("p on=1\n", TEXTS(POOL("enabled: yes")));
	assert_heard("p on=0\n", TEXTS(POOL("enabled: off")));
	assert_heard("p\n", TEXTS(POOL("enabled: ~")));
	assert_heard("! a:1:22: pools.p.enabled: neither true nor false, without quotes; this pool "
		     "is left out\n",
		     TEXTS(POOL("enabled: 'false'")));
}

static void test_what_is_not_looked_at(void **state)
{
	(void)state;
	assert_heard("p x=2\n", TEXTS("COMPUTED VALUES:\nimage: {tag: [1, 2]}\n" POOL(
					"worker: {concurrency: 2, other: {cpu: x}}, more: [1]")));
}

/* ---- files over each other ---- */

static void test_merging(void **state)
{
	static const char base[] =
		POOL("enabled: true, worker: {concurrency: 1, resources: {requests: {cpu: 4, "
		     "memory: 9Gi}}}");

	(void)state;
	assert_heard("p on=1 x=1 cpu=2000 mem=9663676416\n",
		     TEXTS(base, RESOURCES("requests: {cpu: 2}")));
	assert_heard("p on=1 x=1 cpu=4000 mem=9663676416\n",
		     TEXTS(RESOURCES("requests: {cpu: 2}"), base));
	assert_heard("p on=0 x=1 cpu=3000 mem=9663676416\n",
		     TEXTS(base, RESOURCES("requests: {cpu: 2}"), POOL("enabled: false"),
			   RESOURCES("requests: {cpu: 3}")));
	assert_heard("p on=1 x=1 cpu=4000 mem=9663676416\nq on=0\n",
		     TEXTS(base, "pools: {q: {enabled: no}}\n"));
	assert_heard("p on=1 x=1 cpu=4000 mem=9663676416\n", TEXTS(base, "", "image: x\n"));
}

static void test_null_takes_away(void **state)
{
	static const char base[] =
		POOL("worker: {concurrency: 1, resources: {requests: {cpu: 4, memory: 9Gi}}}");

	(void)state;
	assert_heard("p x=1 mem=9663676416\n", TEXTS(base, RESOURCES("requests: {cpu: null}")));
	assert_heard("p x=1\n", TEXTS(base, RESOURCES("requests: ")));
	assert_heard("p x=1 cpu=1000\n",
		     TEXTS(base, RESOURCES("requests: ~"), RESOURCES("requests: {cpu: 1}")));
	assert_heard("q\n", TEXTS(base, "pools: {p: null, q: {}}\n"));
}

static void test_what_is_no_map_hides_maps(void **state)
{
	static const char base[] = POOL("worker: {concurrency: 1}");

	(void)state;
	assert_heard("! b:1:21: pools.p.worker: no map; this pool is left out\n",
		     TEXTS(base, POOL("worker: 3")));
	assert_heard("p x=2\n", TEXTS(base, POOL("worker: 3"), POOL("worker: {concurrency: 2}")));
	assert_heard("! b:1:13: pools.p: no map; this pool is left out\n",
		     TEXTS(base, "pools: {p:  []}\n"));
}

/* ---- YAML as Helm's library takes it ---- */

static void test_aliases(void **state)
{
	(void)state;
	assert_heard("p x=2 cpu=1000\nq x=2 cpu=1000\n",
		     TEXTS("w: &w {concurrency: 2, resources: {requests: {cpu: 1}}}\n"
			   "pools: {p: {worker: *w}, q: {worker: *w}}\n"));
	assert_heard("p x=3\n", TEXTS("a: &n 3\n" POOL("worker: {concurrency: *n}")));
}

/* Checked with sigs.k8s.io/yaml 1.4.0: `<<` writes over what stands before it. */
static void test_merge_keys(void **state)
{
	(void)state;
	assert_heard("p on=0 x=2\n", TEXTS("d: &d {enabled: true, worker: {concurrency: 2}}\n" POOL(
					     "<<: *d, enabled: false")));
	assert_heard("p on=1 x=2\n", TEXTS("d: &d {enabled: true, worker: {concurrency: 2}}\n" POOL(
					     "enabled: false, <<: *d")));
	assert_heard("p 'b' on=1\n",
		     TEXTS("a: &a {enabled: true}\n"
			   "b: &b {enabled: false, instancePrefix: b}\n" POOL("<<: [*a, *b]")));
	assert_heard("p\n", TEXTS(POOL("'<<': {enabled: true}")));
}

static void test_keys_and_documents(void **state)
{
	(void)state;
	assert_heard("p on=0\n", TEXTS(POOL("enabled: true, enabled: false")));
	assert_heard("1 on=1\n", TEXTS("pools: {1: {enabled: true}}\n"));
	assert_heard("! a: more than one document: Helm takes the first one only\np\n",
		     TEXTS("pools: {p: {}}\n---\npools: {q: {}}\n"));
	assert_heard("p\n", TEXTS("---\npools: {p: {}}\n...\n"));
}

/* ---- faults ---- */

static void test_a_bad_pool_spoils_no_other(void **state)
{
	struct heard heard;

	(void)state;
	assert_int_equal(
		hear_texts(
			&heard,
			TEXTS("pools:\n  a: {enabled: true}\n  b:\n    worker:\n      resources:\n"
			      "        requests: {cpu: 4 cores}\n  c: {enabled: false}\n")),
		0);
	assert_string_equal(heard.text.data,
			    "a on=1\n! a:6:25: pools.b.worker.resources.requests.cpu: '4 cores' is "
			    "no Kubernetes quantity (such as 4500m or 9Gi); this pool is left out\n"
			    "c on=0\n");
	assert_int_equal(heard.tally.pools, 2);
	assert_int_equal(heard.tally.bad, 1);
	buf_release(&heard.text);
}

static void test_values_that_cannot_be(void **state)
{
	static const char *const bad[][2] = {
		{POOL("worker: {concurrency: 0}"), "0 runs nothing"},
		{POOL("worker: {concurrency: 1.5}"), "no whole number"},
		{POOL("worker: {concurrency: -1}"), "no whole number"},
		{POOL("worker: {concurrency: [1]}"), "a map or a list"},
		{POOL("scaling: {max: 010}"), "YAML reads another number"},
		{POOL("scaling: {max: 1_0}"), "YAML reads another number"},
		{POOL("scaling: {max: 99999999999999999999}"), "no whole number"},
		{POOL("instancePrefix: {a: b}"), "no text"},
		{POOL("scaling: []"), "pools.p.scaling: no map"},
		{RESOURCES("requests: {memory: 512m}"), "is it M or Mi"},
		{RESOURCES("requests: {memory: 5000Ti}"), "more memory than any machine"},
		{RESOURCES("requests: {cpu: 2000k}"), "more cores than any machine"},
		{RESOURCES("requests: {cpu: -1}"), "below zero"},
		{RESOURCES("requests: {cpu: ''}"), "no Kubernetes quantity"},
		{RESOURCES("requests: {memory: 2Gi}, limits: {memory: 1Gi}"),
		 "requests more memory than its limit"},
		{RESOURCES("requests: {cpu: 2}, limits: {cpu: 1}"), "requests more cpu"},
		{"pools: {'a b': {}}\n", "names no pool"},
		{"pools: {'': {}}\n", "names no pool"},
		{"pools: {\"a\\x9bb\": {}}\n", "names no pool"},
		{"pools: {\"a\\x7fb\": {}}\n", "names no pool"},
		{"pools: {\"a\\0b\": {}}\n", "names no pool"},
		{"pools: {\"a\\u202eb\": {}}\n", "names no pool"},
		{POOL("instancePrefix: \"x\\0y\""), "pools.p.instancePrefix: control characters"},
		{POOL("instancePrefix: \"x\\x85y\""), "control characters"},
	};
	struct heard heard;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(hear_texts(&heard, TEXTS(bad[i][0])), 0);
		if (heard.tally.bad != 1 || heard.tally.pools ||
		    !strstr(heard.text.data, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], heard.text.data);
		assert_non_null(strstr(heard.text.data, "! a:1:"));
		buf_release(&heard.text);
	}
}

static void test_files_that_are_none(void **state)
{
	(void)state;
	assert_refused("a: no `pools` in it", ERR_FORMAT, "");
	assert_refused("a: no `pools` in it", ERR_FORMAT, "image: x\n");
	assert_refused("a: no `pools` in it", ERR_FORMAT, "pools:\n");
	assert_refused("a:1:8: pools: no map of pools", ERR_FORMAT, "pools: 3\n");
	assert_refused("a:1:1: no values file", ERR_FORMAT, "- pools\n");
	assert_refused("a:1:1: no values file", ERR_FORMAT, "just words\n");
	assert_refused("a:2:1: found character that cannot start any token", ERR_FORMAT,
		       "pools:\n\tp: {}\n");
	assert_refused("a:3:", ERR_FORMAT, "pools:\n  p: {enabled: true\n");
	assert_refused("a:2:1: ", ERR_FORMAT, "pools: {}\n\xff\n");
	assert_refused("a:1:12: an alias of no anchor", ERR_FORMAT, "pools: {p: *q}\n");
	assert_refused("contains itself", ERR_FORMAT, "pools: &p {p: {x: *p}}\n");
	assert_refused("<< wants a map", ERR_FORMAT, "pools: {<<: 3}\n");
	assert_refused("a map's key", ERR_FORMAT, "? {a: 1}\n: 2\n");
}

/* ---- bombs ---- */

static void test_aliases_that_multiply(void **state)
{
	struct buf text = BUF_INIT;
	int i;

	(void)state;
	buf_addstr(&text, "a0: &a0 {enabled: true}\n");
	for (i = 1; i < 60; i++) /* 2^60 values, were they copied */
		buf_addf(&text, "a%d: &a%d {enabled: true, l: *a%d, r: *a%d}\n", i, i, i - 1,
			 i - 1);
	buf_addstr(&text, "pools: {p: *a59}\n");
	assert_heard("p on=1\n", TEXTS(text.data));
	assert_heard("p on=1\n", TEXTS(text.data, text.data, text.data));
	buf_release(&text);
}

static void test_merge_keys_that_multiply(void **state)
{
	struct buf text = BUF_INIT;
	int i;

	(void)state;
	buf_addstr(&text, "a0: &a0 {a: 1, b: 2}\n");
	for (i = 1; i < 60; i++)
		buf_addf(&text, "a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i - 1, i - 1);
	assert_refused("too many values", ERR_LIMIT, text.data);
	buf_release(&text);
}

static char *repeated(const char *text, size_t times)
{
	struct buf buf = BUF_INIT;

	while (times-- > 0)
		buf_addstr(&buf, text);
	return buf_detach(&buf);
}

static void test_too_much(void **state)
{
	static const struct {
		const char *text;
		size_t times;
		const char *wanted;
	} floods[] = {
		{"[", 500000, "inside each other"},
		{"a: {", 1000, "inside each other"},
		{"- \n", 60000, "too many values"},
		{"- &a 1\n", 2000, "too many anchors"},
		{"a: b\n", 300000, "more than 1048576 bytes"},
	};
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(floods) / sizeof(*floods); i++) {
		text = repeated(floods[i].text, floods[i].times);
		assert_refused(floods[i].wanted, ERR_LIMIT, text);
		free(text);
	}
}

static void test_too_many_pools(void **state)
{
	struct buf text = BUF_INIT;
	struct heard heard;
	int i;

	(void)state;
	buf_addstr(&text, "pools:\n");
	for (i = 0; i <= POOLS_MAX; i++)
		buf_addf(&text, "  p%d: {}\n", i);
	assert_int_equal(hear_texts(&heard, TEXTS(text.data)), -1);
	assert_int_equal(heard.err.kind, ERR_LIMIT);
	buf_release(&heard.text);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_chart),
		cmocka_unit_test(test_quantities),
		cmocka_unit_test(test_limits_without_requests),
		cmocka_unit_test(test_workers),
		cmocka_unit_test(test_bools),
		cmocka_unit_test(test_what_is_not_looked_at),
		cmocka_unit_test(test_merging),
		cmocka_unit_test(test_null_takes_away),
		cmocka_unit_test(test_what_is_no_map_hides_maps),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_merge_keys),
		cmocka_unit_test(test_keys_and_documents),
		cmocka_unit_test(test_a_bad_pool_spoils_no_other),
		cmocka_unit_test(test_values_that_cannot_be),
		cmocka_unit_test(test_files_that_are_none),
		cmocka_unit_test(test_aliases_that_multiply),
		cmocka_unit_test(test_merge_keys_that_multiply),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_too_many_pools),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
