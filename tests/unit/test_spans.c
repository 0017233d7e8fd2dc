/* The table of open spans: copies outlive the event, starts and ends meet, the ceiling holds. */
#include "spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct event start_event(uint64_t span_id, const char *identifier)
{
	struct event event = {
		.kind = EVENT_ACTION_START,
		.seq = span_id + 100,
		.span_id = span_id,
		.time_ns = (int64_t)span_id * 1000,
	};

	event.action.type = ACTION_RUN;
	event.action.name.buck_package = STR("root//a");
	event.action.name.target = STR("b");
	event.action.name.identifier = str_of(identifier);
	return event;
}

static void test_a_start_outlives_its_event(void **state)
{
	struct spans spans = SPANS_INIT;
	char identifier[] = "first";
	struct event event = start_event(7, identifier);
	const struct span *span;

	(void)state;
	spans_start(&spans, &event);
	memset(identifier, 'x', 5);
	span = spans_find(&spans, 7);
	assert_non_null(span);
	assert_true(str_is(span->name.identifier, "first"));
	assert_true(str_is(span->name.buck_package, "root//a"));
	assert_null(span->name.category.data);
	assert_int_equal(span->start_ns, 7000);
	assert_int_equal(span->seq, 107);
	spans_release(&spans);
}

static void test_the_last_stage_with_a_digest_stays(void **state)
{
	struct spans spans = SPANS_INIT;
	struct event event = start_event(3, "");
	struct stage stage = {.digest = {.hash_len = 32, .size_bytes = 141}, .name = STR("queue")};
	const struct span *span;

	(void)state;
	spans_start(&spans, &event);
	spans_stage(&spans, 3, 111, &stage);
	stage.name = STR("execute");
	spans_stage(&spans, 3, 112, &stage);
	spans_stage(&spans, 999, 113, &stage); /* nobody's: ignored */
	spans_settle(&spans);
	span = spans_find(&spans, 3);
	assert_int_equal(span->stage_seq, 112);
	assert_int_equal(span->stage.digest.size_bytes, 141);
	assert_true(str_is(span->stage.name, "execute"));
	spans_release(&spans);
}

/* Whenever they are brought to their spans. */
static void test_many_stages(void **state)
{
	struct spans spans = SPANS_INIT;
	struct stage stage = {.digest = {.hash_len = 32}, .name = STR("queue")};
	const uint64_t count = 1000;
	uint64_t id;

	(void)state;
	for (id = 1; id <= count; id++) {
		struct event event = start_event(id, "");

		spans_start(&spans, &event);
		stage.digest.size_bytes = (int64_t)id;
		spans_stage(&spans, id, count + id, &stage);
	}
	spans_settle(&spans);
	for (id = 1; id <= count; id++) {
		assert_int_equal(spans_find(&spans, id)->stage.digest.size_bytes, id);
		assert_int_equal(spans_find(&spans, id)->stage_seq, count + id);
	}
	spans_release(&spans);
}

static void test_a_stage_is_not_the_next_ones(void **state)
{
	struct spans spans = SPANS_INIT;
	struct event event = start_event(3, "");
	const struct stage stage = {.digest = {.hash_len = 32}, .name = STR("queue")};

	(void)state;
	spans_start(&spans, &event);
	spans_stage(&spans, 3, 111, &stage);
	spans_end(&spans, 3);
	event.seq = 120;
	spans_start(&spans, &event);
	spans_settle(&spans);
	assert_int_equal(spans_find(&spans, 3)->stage_seq, 0);
	assert_int_equal(spans_find(&spans, 3)->stage.digest.hash_len, 0);
	spans_release(&spans);
}

static int count_span(void *context, const struct span *span)
{
	(void)span;
	++*(int *)context;
	return 0;
}

static void test_thousands_open_and_end(void **state)
{
	struct spans spans = SPANS_INIT;
	uint64_t id;
	int open = 0;

	(void)state;
	for (id = 1; id <= 5000; id++) {
		struct event event = start_event(id, "x");

		spans_start(&spans, &event);
	}
	for (id = 1; id <= 5000; id += 2)
		spans_end(&spans, id);
	spans_end(&spans, 1); /* twice does nothing */
	for (id = 1; id <= 5000; id++)
		assert_int_equal(spans_find(&spans, id) != NULL, id % 2 == 0);
	assert_int_equal(spans_each(&spans, count_span, &open), 0);
	assert_int_equal(open, 2500);
	assert_int_equal(spans.count, 2500);
	spans_release(&spans);
}

static void test_a_hostile_log_meets_the_ceiling(void **state)
{
	struct spans spans = SPANS_INIT;
	uint64_t id;

	(void)state;
	for (id = 1; id <= SPANS_MAX + 10; id++) {
		struct event event = start_event(id, "");

		spans_start(&spans, &event);
	}
	assert_int_equal(spans.count, SPANS_MAX);
	assert_int_equal(spans.refused, 10);
	spans_release(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_start_outlives_its_event),
		cmocka_unit_test(test_the_last_stage_with_a_digest_stays),
		cmocka_unit_test(test_many_stages),
		cmocka_unit_test(test_a_stage_is_not_the_next_ones),
		cmocka_unit_test(test_thousands_open_and_end),
		cmocka_unit_test(test_a_hostile_log_meets_the_ceiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
