#include "cluster_answer.h"

#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define MATRIX(series) \
	"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" series "]}}"

struct fixture {
	struct answer answer;
	struct buf out;
	struct err err;
};

/* "pod: ms=value …" */
static int on_series(void *context, const struct series *series, struct err *err)
{
	struct buf *out = context;
	struct str pod = series_label(series, "pod");
	size_t i;

	if (str_is(pod, "stop"))
		return err_set(err, ERR_DB, "stopped");
	buf_addf(out, "%.*s:", (int)pod.len, pod.data ? pod.data : "");
	for (i = 0; i < series->sample_count; i++)
		buf_addf(out, " %lld=%g", (long long)series->samples[i].time_ns / 1000000,
			 series->samples[i].value);
	buf_addch(out, '\n');
	return 0;
}

static void on_warning(void *context, const char *text)
{
	struct buf *out = context;

	buf_addf(out, "warning %s\n", text);
}

/* Samples after 10 s and not after 20 s. */
static int read_text(struct fixture *f, const char *text)
{
	size_t len = strlen(text), at;

	answer_release(&f->answer);
	answer_init(&f->answer, 10000000000, 20000000000, on_series, &f->out);
	buf_clear(&f->out);
	for (at = 0; at < len; at++)
		if (answer_feed(&f->answer, text + at, 1, &f->err) < 0)
			return -1;
	return answer_end(&f->answer, on_warning, &f->out, &f->err);
}

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){.out = BUF_INIT};
	answer_init(&fixture.answer, 0, 0, on_series, &fixture.out);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	buf_release(&f->out);
	answer_release(&f->answer);
	return 0;
}

static void check(struct fixture *f, const char *text, const char *lines)
{
	if (read_text(f, text) < 0)
		fail_msg("%s", f->err.text);
	assert_string_equal(f->out.data, lines);
}

static void check_error(struct fixture *f, const char *text, enum err_kind kind, const char *error)
{
	assert_int_equal(read_text(f, text), -1);
	assert_int_equal(f->err.kind, kind);
	assert_string_equal(f->err.text, error);
}

static void test_matrix(void **state)
{
	struct fixture *f = *state;

	check(f,
	      MATRIX("{\"metric\":{\"__name__\":\"m\",\"pod\":\"a\"},\"values\":[[11,\"1\"],"
		     "[12.5,\"2.5\"],[19.999,\"9.6e+09\"]]},"
		     "{\"metric\":{},\"values\":[[20,\"0\"]]}"),
	      "a: 11000=1 12500=2.5 19999=9.6e+09\n: 20000=0\n");
	assert_int_equal(f->answer.series, 2);
	assert_int_equal(f->answer.sample_count, 4);
	assert_int_equal(f->answer.newest_ns, 20000000000);
}

static void test_vector(void **state)
{
	check(*state,
	      "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":["
	      "{\"metric\":{\"pod\":\"a\"},\"value\":[12,\"7\"]}]}}",
	      "a: 12000=7\n");
}

static void test_empty(void **state)
{
	struct fixture *f = *state;

	check(f, MATRIX(""), "");
	assert_int_equal(f->answer.newest_ns, INT64_MIN);
}

/* Version 2 gives the sample at the left edge again; a scrape that is told twice counts once. */
static void test_edges(void **state)
{
	check(*state,
	      MATRIX("{\"metric\":{\"pod\":\"a\"},\"values\":[[9,\"1\"],[10,\"2\"],[10.001,\"3\"],"
		     "[10.001,\"4\"],[20,\"5\"],[20.001,\"6\"]]},"
		     "{\"metric\":{\"pod\":\"none\"},\"values\":[[10,\"1\"]]}"),
	      "a: 10001=3 20000=5\n");
}

static void test_odd_values(void **state)
{
	struct fixture *f = *state;

	check(f,
	      MATRIX("{\"metric\":{\"pod\":\"a\"},\"values\":[[11,\"NaN\"],[12,\"+Inf\"],"
		     "[13,\"-Inf\"],[14,\"1000000000000000000000\"],[15,\"-3\"]],"
		     "\"histograms\":[[16,{\"count\":\"1\"}]]}"),
	      "a: 14000=1e+21 15000=-3\n");
	assert_int_equal(f->answer.not_finite, 3);
	assert_int_equal(f->answer.malformed, 0);
	check(f,
	      MATRIX("{\"metric\":{\"pod\":7,\"x\":\"\"},\"values\":[[11,1],[12],[\"13\",\"1\"],"
		     "[14,\"\"],[15,\"1x\"],7,[1e300,\"1\"],[16,\"1\\u0000\"],[17,\"2\"]]}"),
	      ": 17000=2\n");
	assert_int_equal(f->answer.malformed, 8);
	check(f, MATRIX("{\"metric\":7,\"values\":7},{\"values\":[[11,\"1\"]]}"), ": 11000=1\n");
}

/* They may come with data. */
static void test_warnings(void **state)
{
	check(*state,
	      "{\"warnings\":[\"w\",7],\"status\":\"success\",\"data\":{\"result\":["
	      "{\"metric\":{\"pod\":\"a\"},\"values\":[[11,\"1\"]]}],\"resultType\":\"matrix\"},"
	      "\"infos\":[\"i\"]}",
	      "a: 11000=1\nwarning w\nwarning i\n");
}

static void test_errors(void **state)
{
	struct fixture *f = *state;

	check_error(f,
		    "{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"parse error\"}",
		    ERR_NET, "Prometheus answers with an error: parse error (bad_data)");
	assert_false(f->answer.too_much);
	check_error(
		f,
		"{\"status\":\"error\",\"errorType\":\"execution\",\"error\":\"query processing "
		"would load too many samples into memory in query execution\"}",
		ERR_NET,
		"Prometheus answers with an error: query processing would load too many samples "
		"into memory in query execution (execution)");
	assert_true(f->answer.too_much);
	check_error(f, "{\"status\":\"error\",\"errorType\":\"timeout\",\"error\":\"t\"}", ERR_NET,
		    "Prometheus answers with an error: t (timeout)");
	assert_true(f->answer.too_much);
	check_error(f, "{\"status\":\"error\"}", ERR_NET,
		    "Prometheus answers with an error: no text (no type)");
}

static void test_not_an_answer(void **state)
{
	static const char none[] = "the answer is JSON, but none of Prometheus's";
	struct fixture *f = *state;

	check_error(f, "{}", ERR_FORMAT, none);
	check_error(f, "[]", ERR_FORMAT, none);
	check_error(f, "{\"status\":\"success\"}", ERR_FORMAT, none);
	check_error(f, "{\"status\":\"success\",\"data\":{\"result\":null}}", ERR_FORMAT, none);
	check_error(f, "{\"status\":\"ok\",\"data\":{\"result\":[]}}", ERR_FORMAT, none);
	check_error(f, "<html>", ERR_FORMAT,
		    "the answer is not JSON, or cut short: '[' or '{' expected near '<'");
	check_error(f, "", ERR_FORMAT,
		    "the answer is not JSON, or cut short: '[' or '{' expected near end of file");
	check_error(f, MATRIX("[7]"), ERR_FORMAT,
		    "a series of the answer is no JSON object: another value");
	check_error(
		f, MATRIX("{\"metric\":{}},"), ERR_FORMAT,
		"a series of the answer is no JSON object: '[' or '{' expected near end of file");
}

/* What came before the cut was part of an answer. */
static void test_cut_short(void **state)
{
	struct fixture *f = *state;

	check_error(f,
		    "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"pod\":\"a\"},"
		    "\"values\":[[11,\"1\"]]},{\"metric\":{\"po",
		    ERR_FORMAT,
		    "the answer is not JSON, or cut short: ']' expected near end of file");
	assert_string_equal(f->out.data, "a: 11000=1\n");
}

static void test_function_stops(void **state)
{
	struct fixture *f = *state;

	check_error(f,
		    MATRIX("{\"metric\":{\"pod\":\"stop\"},\"values\":[[11,\"1\"]]},"
			   "{\"metric\":{\"pod\":\"b\"},\"values\":[[11,\"1\"]]}"),
		    ERR_DB, "stopped");
	assert_string_equal(f->out.data, "");
}

static void test_huge_series(void **state)
{
	struct fixture *f = *state;
	char *blank = xmalloc(ANSWER_SERIES_MAX + 1);
	char *text;

	memset(blank, ' ', ANSWER_SERIES_MAX);
	blank[ANSWER_SERIES_MAX] = '\0';
	text = xasprintf("{\"data\":{\"result\":[%s{}]}}", blank);
	assert_int_equal(read_text(f, text), -1);
	assert_int_equal(f->err.kind, ERR_LIMIT);
	free(text);
	free(blank);
}

static void test_jobs(void **state)
{
	(void)state;
	assert_true(series_job_before(STR("kubelet"), STR("a")));
	assert_false(series_job_before(STR("a"), STR("kubelet")));
	assert_false(series_job_before(STR("kubelet"), STR("kubelet")));
	assert_true(series_job_before(STR("a"), STR("ab")));
	assert_false(series_job_before(STR("ab"), STR("a")));
	assert_true(series_job_before(STR("ab"), STR("b")));
	assert_true(series_job_before(STR("z"), STR_NULL));
	assert_false(series_job_before(STR_NULL, STR("kubelet")));
	assert_false(series_job_before(STR_NULL, STR_NULL));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_matrix),	   TEST(test_vector),	     TEST(test_empty),
		TEST(test_edges),	   TEST(test_odd_values),    TEST(test_warnings),
		TEST(test_errors),	   TEST(test_not_an_answer), TEST(test_cut_short),
		TEST(test_function_stops), TEST(test_huge_series),   cmocka_unit_test(test_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
