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
	spans_stage(&spans, 3, 11, &stage);
	stage.name = STR("a stage name longer than the room for it");
	spans_stage(&spans, 3, 12, &stage);
	spans_stage(&spans, 999, 13, &stage); /* nobody's: ignored */
	span = spans_find(&spans, 3);
	assert_int_equal(span->stage_seq, 12);
	assert_int_equal(span->stage.digest.size_bytes, 141);
	assert_int_equal(span->stage.name.len, sizeof(span->stage_name) - 1);
	assert_true(str_starts(span->stage.name, "a stage name longer"));
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
		cmocka_unit_test(test_thousands_open_and_end),
		cmocka_unit_test(test_a_hostile_log_meets_the_ceiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
