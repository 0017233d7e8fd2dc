/* The lookup engine while the server is away, mute, or half well. */
#include "lookup.h"

#include "asking.h"
#include "lookup_breaker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The server falls over with calls in flight, and comes back. */
static void test_outage_loses_nothing(void **state)
{
	static const uint32_t slots[] = {1, 2, 8, 128};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		struct asking a;

		asking_init(&a, slots[i], 50000);
		a.server.away_from_ms = a.begun_ms + 100;
		a.server.away_until_ms = a.begun_ms + 4100;
		assert_int_equal(asking_run(&a, NULL), 0);
		assert_all_found(&a);
		/* Probes, one at a time; before them the calls that were in flight. */
		assert_in_range(a.server.starts_away, 2, 60 + slots[i]);
		assert_true(asking_took_ms(&a) >= 4000);
		asking_release(&a);
	}
}

static struct fate slow(struct fake_server *self, const struct lookup_request *request)
{
	(void)self;
	(void)request;
	return (struct fate){20, 0, "", "result"};
}

static void test_gone_for_ever(void **state)
{
	const struct lookup_options options = {.outage_ms = 10000};
	struct asking a;

	(void)state;
	asking_init(&a, 64, 12000);
	a.server.fate = slow;
	a.server.away_from_ms = a.begun_ms + 1000;
	assert_int_equal(asking_run(&a, &options), 0);
	/* 49 rounds of 64 in the first second */
	assert_int_equal(asking_count(&a, LOOKUP_FOUND), 49 * 64);
	assert_int_equal(asking_count(&a, LOOKUP_UNREACHABLE), 12000 - 49 * 64);
	assert_int_equal(lookup_tally(a.lookup)->unreachable, 12000 - 49 * 64);
	assert_string_equal(a.message, "server: Connection refused (14)");
	assert_in_range(asking_took_ms(&a), 11000, 11200);
	assert_true(a.server.starts_away < 100);
	asking_release(&a);
}

static void test_never_there(void **state)
{
	const struct lookup_options options = {.outage_ms = 3000};
	struct asking a;

	(void)state;
	asking_init(&a, 16, 500);
	a.server.away_from_ms = 0;
	assert_int_equal(asking_run(&a, &options), 0);
	assert_int_equal(asking_count(&a, LOOKUP_UNREACHABLE), 500);
	assert_in_range(asking_took_ms(&a), 3000, 3200);
	asking_release(&a);
}

/* Given up once, a server is not waited for that long again; one that is back is found. */
static void test_second_run(void **state)
{
	const struct lookup_options options = {.outage_ms = 60000, .preflight_ms = 2000};
	struct asking a;

	(void)state;
	asking_init(&a, 16, 300);
	a.count = 100;
	a.server.away_from_ms = 0;
	assert_int_equal(asking_run(&a, &options), 0);
	assert_in_range(asking_took_ms(&a), 60000, 60200);
	a.count = 200;
	a.begun_ms = a.server.now_ms;
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_in_range(asking_took_ms(&a), 2000, 2200);
	assert_int_equal(asking_count(&a, LOOKUP_UNREACHABLE), 200);
	a.count = 300;
	a.server.away_until_ms = 0;
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_int_equal(asking_count(&a, LOOKUP_FOUND), 100);
	asking_release(&a);
}

/* A stopped server: every call in flight runs into its deadline. */
static void test_deadlines_are_an_outage(void **state)
{
	const struct lookup_options options = {.deadline_ms = 500};
	struct asking a;

	(void)state;
	asking_init(&a, 64, 20000);
	a.server.mute_from_ms = a.begun_ms + 100;
	a.server.mute_until_ms = a.begun_ms + 6100;
	assert_int_equal(asking_run(&a, &options), 0);
	assert_all_found(&a);
	assert_true(lookup_tally(a.lookup)->retries < 64 + 8 + 20);
	asking_release(&a);
}

static void test_mute_for_ever(void **state)
{
	const struct lookup_options options = {.deadline_ms = 30000, .outage_ms = 20000};
	struct asking a;

	(void)state;
	asking_init(&a, 64, 1000);
	a.server.mute_from_ms = 0;
	assert_int_equal(asking_run(&a, &options), 0);
	assert_int_equal(asking_count(&a, LOOKUP_UNREACHABLE), 1000);
	/* The first deadline shows the outage; no probe outlives it. */
	assert_in_range(asking_took_ms(&a), 50000, 50200);
	asking_release(&a);
}

static struct fate flapping(struct fake_server *self, const struct lookup_request *request)
{
	(void)request;
	if (self->now_ms % 1000 < 900)
		return (struct fate){0, 14, "Connection refused", NULL};
	return (struct fate){5, 0, "", "result"};
}

/*
 * There for a tenth of each second: however long it takes, nobody's attempts are
 * used up. Probes come at random times: of those of one minute all can miss it.
 */
static void test_flapping(void **state)
{
	static const struct lookup_options patient = {.outage_ms = 600000};
	struct asking a;

	(void)state;
	asking_init(&a, 32, 10000);
	a.server.fate = flapping;
	assert_int_equal(asking_run(&a, &patient), 0);
	assert_all_found(&a);
	asking_release(&a);
}

static struct fate at_most_ten(struct fake_server *self, const struct lookup_request *request)
{
	(void)request;
	if (self->flying >= 10)
		return (struct fate){0, 14, "RST_STREAM with error code 7", NULL};
	return (struct fate){5, 0, "", "result"};
}

/* A server that refuses streams over its limit. */
static void test_refused_streams(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 128, 2000);
	a.server.fate = at_most_ten;
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_true(asking_count(&a, LOOKUP_FOUND) > 1900);
	assert_int_equal(asking_count(&a, LOOKUP_UNREACHABLE), 0);
	asking_release(&a);
}

static struct fate seventh_is_poison(struct fake_server *self, const struct lookup_request *request)
{
	(void)self;
	if (request->id == 7)
		return (struct fate){1000000, 0, "", "never"};
	return (struct fate){1, 0, "", "result"};
}

/* One call that always runs into its deadline is that call's fault. */
static void test_poison(void **state)
{
	const struct lookup_options options = {.deadline_ms = 100};
	struct asking a;

	(void)state;
	asking_init(&a, 8, 20000);
	a.server.fate = seventh_is_poison;
	assert_int_equal(asking_run(&a, &options), 0);
	assert_int_equal(asking_count(&a, LOOKUP_FOUND), 19999);
	assert_int_equal(a.ids[7].outcome, LOOKUP_ERROR);
	assert_int_equal(a.ids[7].code, 4);
	asking_release(&a);
}

/*
 * Nothing waits: those that fail are at fault themselves, as one is answered before. What
 * is asked again of that one fails too, and one call is on its way for long.
 */
static struct fate none_left(struct fake_server *self, const struct lookup_request *request)
{
	const struct asking *asking = self->context;

	if (request->id < BREAKER_FAILURES)
		return (struct fate){100, 14, "no", NULL};
	if (request->id > BREAKER_FAILURES)
		return (struct fate){3000, 0, "", "late"};
	if (self->now_ms > asking->begun_ms)
		return (struct fate){0, 14, "no", NULL};
	return (struct fate){50, 0, "", "result"};
}

/* A probe is due, and there is nothing to ask: what is on its way tells. */
static void test_nothing_to_probe_with(void **state)
{
	const struct lookup_options options = {.attempts = 1};
	struct asking a;

	(void)state;
	asking_init(&a, BREAKER_FAILURES + 2, BREAKER_FAILURES + 2);
	a.server.fate = none_left;
	assert_int_equal(asking_run(&a, &options), 0);
	assert_int_equal(asking_count(&a, LOOKUP_ERROR), BREAKER_FAILURES);
	assert_int_equal(asking_count(&a, LOOKUP_FOUND), 2);
	assert_int_equal(asking_took_ms(&a), 3000);
	assert_int_equal(a.server.starts, BREAKER_FAILURES + 3);
	asking_release(&a);
}

/* As many slots as fail and are answered, so the last of these leaves one to the probe. */
static void test_source_fails_a_probe(void **state)
{
	const struct lookup_options options = {.attempts = 1};
	struct asking a;

	(void)state;
	asking_init(&a, BREAKER_FAILURES + 1, 100);
	a.server.fate = none_left;
	a.fail_source_at = 2 * BREAKER_FAILURES + 1;
	assert_int_equal(asking_run(&a, &options), -1);
	assert_string_equal(a.err.text, "the source failed");
	assert_in_range(asking_took_ms(&a), 101, 2999);
	asking_release(&a);
}

/* Stays set, as a signal to the process does: so this is the last test. */
static void test_interrupt_while_giving_up(void **state)
{
	const struct lookup_options options = {.outage_ms = 3000};
	struct asking a;

	(void)state;
	asking_init(&a, 8, 500);
	a.server.away_from_ms = 0;
	a.interrupt_at = 100;
	assert_int_equal(asking_run(&a, &options), -1);
	assert_string_equal(a.err.text, "interrupted");
	assert_int_equal(lookup_tally(a.lookup)->unreachable, 101);
	asking_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outage_loses_nothing),
		cmocka_unit_test(test_gone_for_ever),
		cmocka_unit_test(test_never_there),
		cmocka_unit_test(test_second_run),
		cmocka_unit_test(test_deadlines_are_an_outage),
		cmocka_unit_test(test_mute_for_ever),
		cmocka_unit_test(test_flapping),
		cmocka_unit_test(test_refused_streams),
		cmocka_unit_test(test_poison),
		cmocka_unit_test(test_nothing_to_probe_with),
		cmocka_unit_test(test_source_fails_a_probe),
		cmocka_unit_test(test_interrupt_while_giving_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
