#include "lookup.h"

#include "asking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- a server that is there ---- */

static void test_all_answered(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 64, 5000);
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_all_found(&a);
	assert_int_equal(a.server.starts, 5000);
	assert_int_equal(a.server.most_flying, 64);
	assert_int_equal(lookup_tally(a.lookup)->bytes, 5000 * strlen("result"));
	asking_release(&a);
}

static void test_in_flight_is_bounded(void **state)
{
	const struct lookup_options options = {.in_flight = 3};
	struct asking a;

	(void)state;
	asking_init(&a, 64, 100);
	assert_int_equal(asking_run(&a, &options), 0);
	assert_all_found(&a);
	assert_int_equal(a.server.most_flying, 3);
	asking_release(&a);
}

static void test_nothing_to_ask(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 4, 0);
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_int_equal(a.server.starts, 0);
	asking_release(&a);
}

/* ---- in steps ---- */

static void poll_once(struct asking *a)
{
	assert_int_equal(lookup_poll(a->lookup, asking_next, asking_take, a, &a->err), 0);
}

static void test_steps_do_not_wait(void **state)
{
	static const struct lookup_options options;
	struct asking a;

	(void)state;
	asking_init(&a, 8, 100);
	a.lookup = lookup_new(&a.server.base, &options);
	poll_once(&a);
	assert_int_equal(a.server.starts, 8);
	assert_int_equal(lookup_tally(a.lookup)->found, 0);
	assert_int_equal(asking_took_ms(&a), 0);
	a.server.now_ms++;
	poll_once(&a);
	assert_int_equal(lookup_tally(a.lookup)->found, 8);
	/* The rest is waited for; nothing is asked twice. */
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_all_found(&a);
	assert_int_equal(a.server.starts, 100);
	asking_release(&a);
}

/* A source that has none now is asked again at the next step. */
static void test_steps_of_a_source_that_grows(void **state)
{
	static const struct lookup_options options;
	struct asking a;

	(void)state;
	asking_init(&a, 8, 100);
	a.lookup = lookup_new(&a.server.base, &options);
	for (a.count = 0; a.count < 100; a.count += 5) {
		poll_once(&a);
		assert_int_equal(a.server.starts, a.count);
		a.server.now_ms++;
	}
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_all_found(&a);
	asking_release(&a);
}

/* What waits for a server that has gone is given up; the rest is left to a run. */
static void test_steps_of_an_outage(void **state)
{
	static const struct lookup_options options = {.outage_ms = 1000};
	struct asking a;
	int i;

	(void)state;
	asking_init(&a, 8, 100);
	a.lookup = lookup_new(&a.server.base, &options);
	a.server.away_from_ms = 0;
	a.server.away_until_ms = a.server.now_ms + 3000;
	for (i = 0; i < 300; i++) {
		poll_once(&a);
		a.server.now_ms += 10;
	}
	assert_int_equal(a.next, 8);
	assert_int_equal(lookup_tally(a.lookup)->unreachable, 8);
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_int_equal(asking_count(&a, LOOKUP_FOUND), 92);
	asking_release(&a);
}

/* ---- what answers mean ---- */

#define EVICTED                                                                                  \
	"Backend \"main\": Object 1-e3b0-0-i referenced by the action result is not present in " \
	"the Content Addressable Storage"

/* An odd id has this fate, an even one is found. */
static const struct answer_case {
	int code;
	const char *message;
	enum lookup_outcome outcome;
	unsigned int attempts; /* at least; more only where they are not its fault */
} answer_cases[] = {
	{5, "Object not found", LOOKUP_NOT_FOUND, 1},
	{5, EVICTED, LOOKUP_OUTPUTS_EVICTED, 1},
	{5, "Combined size of all output directories exceeds maximum limit of 9 bytes",
	 LOOKUP_TOO_LARGE, 1},
	{3, "Unknown instance name: \"x\"", LOOKUP_INVALID, 1},
	{3, "Buffer is 9 bytes in size, while a maximum of 8 bytes is permitted", LOOKUP_TOO_LARGE,
	 1},
	{7, "Authorization: Permission denied", LOOKUP_REFUSED, 1},
	{16, "No valid authorization header", LOOKUP_REFUSED, 1},
	{8, "Received message larger than max (5242885 vs. 4194304)", LOOKUP_TOO_LARGE, 1},
	{8, "quota", LOOKUP_ERROR, 5},
	{12, "unknown service", LOOKUP_ERROR, 1},
	{10, "aborted", LOOKUP_ERROR, 5},
	{13, "Output directory \"x\": broken", LOOKUP_ERROR, 2},
	{2, "unknown", LOOKUP_ERROR, 2},
	{1, "cancelled", LOOKUP_ERROR, 2},
	{15, "data loss", LOOKUP_ERROR, 1},
	{14, "Backend \"a\": down", LOOKUP_ERROR, 5},
	{4, "too slow", LOOKUP_ERROR, 5},
	{99, "from the future", LOOKUP_ERROR, 1},
};

static const struct answer_case *answer_case;
static unsigned int answer_attempts;

static struct fate odd_is_faulty(struct fake_server *self, const struct lookup_request *request)
{
	(void)self;
	if (request->id % 2 == 0)
		return (struct fate){1, 0, "", "result"};
	answer_attempts += request->id == 1;
	return (struct fate){1, answer_case->code, answer_case->message, NULL};
}

/*
 * Half of all calls fail, as where one of two shards is away; in the end only
 * they are left. The server is well: that must not look like an outage.
 */
static void test_outcomes(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(answer_cases) / sizeof(answer_cases[0]); i++) {
		const struct answer_case *c = answer_case = &answer_cases[i];
		struct asking a;

		answer_attempts = 0;
		asking_init(&a, i % 2 ? 8 : 1, 2000);
		a.server.fate = odd_is_faulty;
		assert_int_equal(asking_run(&a, NULL), 0);
		assert_int_equal(asking_count(&a, LOOKUP_FOUND), 1000);
		if (asking_count(&a, c->outcome) != 1000 || answer_attempts < c->attempts ||
		    answer_attempts > c->attempts * 9)
			fail_msg("code %d: outcome %d after %u attempts", c->code, a.ids[1].outcome,
				 answer_attempts);
		assert_int_equal(a.ids[1].code, c->code);
		asking_release(&a);
	}
}

static struct fate internal_once(struct fake_server *self, const struct lookup_request *request)
{
	struct asking *asking = self->context;

	if (!asking->ids[request->id].code) {
		asking->ids[request->id].code = -1;
		return (struct fate){1, 13, "once", NULL};
	}
	return (struct fate){1, 0, "", "result"};
}

static void test_retry_cures(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 16, 300);
	a.server.fate = internal_once;
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_all_found(&a);
	assert_int_equal(lookup_tally(a.lookup)->retries, 300);
	asking_release(&a);
}

/* ---- credentials ---- */

static struct fate wants_token(struct fake_server *self, const struct lookup_request *request)
{
	int valid = self->now_ms < 1000200 ? 1 : 2; /* it expires on the way */

	(void)request;
	if (self->token != valid)
		return (struct fate){1, 16, "token expired", NULL};
	return (struct fate){1, 0, "", "result"};
}

static void test_token_changes(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 64, 20000);
	a.server.fate = wants_token;
	a.server.token = 1;
	a.server.fresh_token = 2;
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_all_found(&a);
	assert_int_equal(a.server.refreshes, 1);
	assert_true(lookup_tally(a.lookup)->retries <= 64);
	asking_release(&a);
}

static void test_token_stays(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 4, 10);
	a.server.fate = wants_token;
	a.server.token = a.server.fresh_token = 3;
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_int_equal(asking_count(&a, LOOKUP_REFUSED), 10);
	assert_int_equal(a.server.starts, 10);
	asking_release(&a);
}

static struct fate no_token_does(struct fake_server *self, const struct lookup_request *request)
{
	(void)request;
	self->fresh_token++;
	return (struct fate){1, 16, "no", NULL};
}

static void test_token_changes_in_vain(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 4, 10);
	a.server.fate = no_token_does;
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_int_equal(asking_count(&a, LOOKUP_REFUSED), 10);
	assert_true(a.server.starts <= 50);
	asking_release(&a);
}

/* ---- failures of others ---- */

static void assert_fails(struct asking *asking, enum err_kind kind, const char *text)
{
	assert_int_equal(asking_run(asking, NULL), -1);
	assert_int_equal(asking->err.kind, kind);
	assert_string_equal(asking->err.text, text);
	asking_release(asking);
}

static void test_source_fails(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 8, 100);
	a.fail_source_at = 50;
	assert_fails(&a, ERR_DB, "the source failed");
}

static void test_sink_fails(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 8, 100);
	a.fail_sink_at = 50;
	assert_fails(&a, ERR_DB, "the sink failed");
}

static void test_sink_fails_while_giving_up(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 8, 100);
	a.server.away_from_ms = 0;
	a.fail_sink_at = 50;
	assert_fails(&a, ERR_DB, "the sink failed");
}

static void test_transport_fails(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 8, 100);
	a.server.fail_start = 1;
	assert_fails(&a, ERR_NET, "cannot start");
	asking_init(&a, 8, 100);
	a.server.fail_wait = 1;
	assert_fails(&a, ERR_IO, "cannot wait");
}

/* Each is asked twice, and the server is away for a while: in a run, or in steps. */
static int ask_with_trouble(struct asking *asking, bool in_steps)
{
	static const struct lookup_options options;
	int rc = 0;

	asking->server.fate = internal_once;
	asking->server.away_from_ms = asking->begun_ms + 10;
	asking->server.away_until_ms = asking->begun_ms + 3000;
	asking->lookup = lookup_new(&asking->server.base, &options);
	if (!in_steps)
		return asking_run(asking, NULL);
	while (rc == 0 && lookup_tally(asking->lookup)->found < (uint64_t)asking->count) {
		rc = lookup_poll(asking->lookup, asking_next, asking_take, asking, &asking->err);
		asking->server.now_ms++;
	}
	return rc;
}

/* The nth call cannot be started, or the nth wait fails. */
static void test_each_call_fails(void **state)
{
	static const char *const texts[] = {"cannot start", "cannot wait"};
	uint32_t way, n;

	(void)state;
	for (way = 0; way < 4; way++) {
		int rc = -1;

		for (n = 1; rc < 0; n++) {
			struct asking a;

			asking_init(&a, 4, 40);
			a.server.fail_start = way % 2 ? 0 : n;
			a.server.fail_wait = way % 2 ? n : 0;
			rc = ask_with_trouble(&a, way / 2);
			assert_string_equal(a.err.text, rc < 0 ? texts[way % 2] : "");
			asking_release(&a);
		}
		assert_true(n > 80);
	}
}

/* Where the nth request should come from there is none, in an outage, too. */
static void test_each_question_fails(void **state)
{
	uint32_t way;
	int64_t n;

	(void)state;
	for (way = 0; way < 2; way++)
		for (n = 0; n < 40; n++) {
			struct asking a;

			asking_init(&a, 4, 40);
			a.fail_source_at = n;
			assert_int_equal(ask_with_trouble(&a, way), -1);
			assert_string_equal(a.err.text, "the source failed");
			asking_release(&a);
		}
}

/* The nth answer is not taken; the server is away for ever with answers due again, too. */
static void test_each_answer_fails(void **state)
{
	uint32_t way;
	int64_t n;

	(void)state;
	for (way = 0; way < 4; way++)
		for (n = 0; n < 40; n++) {
			struct asking a;

			asking_init(&a, 4, 40);
			a.fail_sink_at = n;
			if (way / 2) {
				a.server.away_from_ms = a.begun_ms;
				a.server.fate = internal_once;
				assert_fails(&a, ERR_DB, "the sink failed");
				continue;
			}
			assert_int_equal(ask_with_trouble(&a, way), -1);
			assert_string_equal(a.err.text, "the sink failed");
			asking_release(&a);
		}
}

/* ---- the preflight ---- */

static int preflight(struct asking *asking)
{
	static const struct lookup_options defaults;
	struct lookup_request request;

	asking->lookup = lookup_new(&asking->server.base, &defaults);
	assert_int_equal(asking_next(asking, &request, &asking->err), 1);
	return lookup_preflight(asking->lookup, &request, asking_take, asking, &asking->err);
}

/* Its answer counts: the run that follows asks for the rest. */
static void test_preflight(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 8, 10);
	assert_int_equal(preflight(&a), 0);
	assert_int_equal(a.ids[0].answers, 1);
	assert_int_equal(asking_run(&a, NULL), 0);
	assert_all_found(&a);
	assert_int_equal(a.server.starts, 10);
	asking_release(&a);
}

static struct fate same_for_all(struct fake_server *self, const struct lookup_request *request)
{
	(void)self;
	(void)request;
	return (struct fate){1, answer_case->code, answer_case->message, NULL};
}

/* What may be true of one digest or instance only is an answer; the rest is said at once. */
static void test_preflight_outcomes(void **state)
{
	static const int failing[] = {4, 8, 12, 14, 16};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(answer_cases) / sizeof(answer_cases[0]); i++) {
		bool fails = false;
		struct asking a;

		answer_case = &answer_cases[i];
		for (j = 0; j < sizeof(failing) / sizeof(failing[0]); j++)
			fails |= answer_case->code == failing[j];
		fails &= answer_case->outcome != LOOKUP_TOO_LARGE;
		asking_init(&a, 8, 1);
		a.server.fate = same_for_all;
		assert_int_equal(preflight(&a), fails ? -1 : 0);
		assert_int_equal(a.ids[0].answers, fails ? 0 : 1);
		assert_int_equal(a.server.starts, 1);
		assert_int_equal(lookup_fault(a.lookup), fails ? answer_case->code : 0);
		if (fails)
			assert_int_equal(a.err.kind, ERR_NET);
		else
			assert_int_equal(a.ids[0].outcome, answer_case->outcome);
		asking_release(&a);
	}
}

static void test_preflight_of_nobody(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 8, 1);
	a.server.away_from_ms = 0;
	assert_int_equal(preflight(&a), -1);
	assert_string_equal(a.err.text, "server: Connection refused (14)");
	assert_int_equal(asking_took_ms(&a), 0);
	asking_release(&a);
}

static void test_preflight_of_a_black_hole(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 8, 1);
	a.server.mute_from_ms = 0;
	assert_int_equal(preflight(&a), -1);
	assert_int_equal(asking_took_ms(&a), 5000);
	asking_release(&a);
}

static void test_preflight_with_a_new_token(void **state)
{
	struct asking a;
	uint32_t n;

	(void)state;
	for (n = 0; n <= 2; n++) {
		asking_init(&a, 8, 1);
		a.server.fate = wants_token;
		a.server.fresh_token = 1;
		a.server.fail_start = n;
		assert_int_equal(preflight(&a), n ? -1 : 0);
		assert_string_equal(a.err.text, n ? "cannot start" : "");
		assert_int_equal(a.ids[0].answers, n ? 0 : 1);
		assert_int_equal(a.ids[0].outcome, n ? 0 : LOOKUP_FOUND);
		asking_release(&a);
	}
}

/* Stays set, as a signal to the process does: so this is the last test. */
static void test_interrupt(void **state)
{
	struct asking a;

	(void)state;
	asking_init(&a, 8, 1000);
	a.interrupt_at = 500;
	assert_int_equal(asking_run(&a, NULL), -1);
	assert_string_equal(a.err.text, "interrupted");
	assert_true(lookup_tally(a.lookup)->found < 600);
	asking_release(&a);
	asking_init(&a, 8, 1);
	assert_int_equal(preflight(&a), -1);
	assert_string_equal(a.err.text, "interrupted");
	assert_int_equal(lookup_poll(a.lookup, asking_next, asking_take, &a, &a.err), -1);
	assert_int_equal(a.ids[0].answers, 0);
	asking_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_answered),
		cmocka_unit_test(test_in_flight_is_bounded),
		cmocka_unit_test(test_nothing_to_ask),
		cmocka_unit_test(test_steps_do_not_wait),
		cmocka_unit_test(test_steps_of_a_source_that_grows),
		cmocka_unit_test(test_steps_of_an_outage),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_retry_cures),
		cmocka_unit_test(test_token_changes),
		cmocka_unit_test(test_token_stays),
		cmocka_unit_test(test_token_changes_in_vain),
		cmocka_unit_test(test_source_fails),
		cmocka_unit_test(test_sink_fails),
		cmocka_unit_test(test_sink_fails_while_giving_up),
		cmocka_unit_test(test_transport_fails),
		cmocka_unit_test(test_each_call_fails),
		cmocka_unit_test(test_each_question_fails),
		cmocka_unit_test(test_each_answer_fails),
		cmocka_unit_test(test_preflight),
		cmocka_unit_test(test_preflight_outcomes),
		cmocka_unit_test(test_preflight_of_nobody),
		cmocka_unit_test(test_preflight_of_a_black_hole),
		cmocka_unit_test(test_preflight_with_a_new_token),
		cmocka_unit_test(test_interrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
