/* Asking while logs are still read: a store, the engine, a server in virtual time. */
#include "ask.h"

#include "fake_server.h"
#include "store_fixture.h"

#include <string.h>

#define DIGESTS 64

struct early {
	struct fixture *f;
	struct fake_server server;
	unsigned int asked[DIGESTS]; /* by the first byte of the digest */
	const char *instance;	     /* that keeps them */
	struct lookup *lookup;
	struct slice slice;
	struct ask_options options;
	struct ask_tally tally;
	struct ask *ask;
};

static struct fate answer(struct fake_server *server, const struct lookup_request *request)
{
	struct early *e = server->context;

	assert_true(request->digest.hash[0] < DIGESTS);
	e->asked[request->digest.hash[0]]++;
	if (strcmp(request->instance, e->instance) != 0)
		return (struct fate){1, 5, "Object not found", NULL};
	return (struct fate){1, 0, "", "\x20\x01"};
}

/* What is stored so far was there before the asking began. */
static void begin(struct early *e, struct fixture *f)
{
	static const struct lookup_options options = {.in_flight = 4};

	memset(e, 0, sizeof(*e));
	e->f = f;
	e->instance = "p";
	fake_server_init(&e->server, 5);
	e->server.fate = answer;
	e->server.context = e;
	e->lookup = lookup_new(&e->server.base, &options);
	assert_ok(store_commit(f->store, &f->err));
	e->slice = (struct slice)SLICE_INIT(f->store);
	e->options = (struct ask_options){.cache = "", .now_ns = START};
	e->ask = ask_new(&e->slice, e->lookup, &e->options, &e->tally);
	assert_ok(ask_some(e->ask, &f->err));
}

static void end(struct early *e)
{
	ask_free(e->ask);
	lookup_free(e->lookup);
	assert_false(e->slice.open);
}

/* Until no answer is to be expected any more. */
static void ask_a_while(struct early *e)
{
	struct fixture *f = e->f;
	int i;

	for (i = 0; i < DIGESTS; i++) {
		assert_ok(ask_some(e->ask, &f->err));
		e->server.now_ms++;
	}
}

static void put(struct early *e, int64_t run_id, uint8_t first, uint8_t last)
{
	struct fixture *f = e->f;
	uint8_t i;

	assert_ok(slice_open(&e->slice, &f->err));
	for (i = first; i <= last; i++)
		put_action(e->f, run_id, i, "i", i, STATUS_SUCCESS);
}

static void propose(struct early *e, int64_t run_id, const char *name)
{
	struct fixture *f = e->f;
	const struct instance_choice choice = {"", name, "log", false};

	assert_ok(store_put_candidates(e->f->store, run_id, &choice, 1, &f->err));
}

/* Each of them was asked `times` times. */
static void assert_asked(const struct early *e, uint8_t first, uint8_t last, unsigned int times)
{
	uint8_t i;

	for (i = first; i <= last; i++)
		if (e->asked[i] != times)
			fail_msg("digest %u was asked %u times, not %u", i, e->asked[i], times);
}

static bool never_again(void *context, struct str trace_id)
{
	(void)context;
	(void)trace_id;
	return false;
}

/* Of the run whose trace id is the context. */
static bool again(void *context, struct str trace_id)
{
	return str_equal(trace_id, str_of(context));
}

static int64_t put_new_run(struct early *e, const char *trace_id)
{
	struct fixture *f = e->f;
	int64_t run_id;

	assert_ok(slice_open(&e->slice, &f->err));
	run_id = put_run(e->f, trace_id, START);
	propose(e, run_id, "p");
	return run_id;
}

static void test_when_the_log_has_ended(void **state)
{
	struct fixture *f = *state;
	struct early e;
	int64_t run_id;

	begin(&e, f);
	run_id = put_new_run(&e, "a");
	put(&e, run_id, 1, 30);
	ask_a_while(&e);
	assert_asked(&e, 0, 63, 0);
	assert_ok(ask_log_ended(e.ask, never_again, NULL, &f->err));
	assert_number(f, "SELECT instance_proved FROM run", 1);
	assert_asked(&e, 9, 30, 0);
	/* Answers take turns with the next log's rows, in one transaction. */
	put(&e, put_new_run(&e, "b"), 31, 40);
	ask_a_while(&e);
	assert_asked(&e, 1, 30, 1);
	assert_asked(&e, 31, 63, 0);
	assert_ok(ask_all(e.ask, &f->err));
	assert_asked(&e, 1, 40, 1);
	assert_number(f, "SELECT count(*) FROM result", 40);
	assert_int_equal(e.tally.results.asked, 40);
	assert_int_equal(e.tally.stored, 40);
	end(&e);
}

/* A log that has grown: what nothing could change is asked at once. */
static void test_proved_before(void **state)
{
	struct fixture *f = *state;
	struct early e;
	int64_t run_id = put_run(f, "a", START);

	put_action(f, run_id, 1, "i", 1, STATUS_SUCCESS);
	choose(f, run_id, "p", "log", true);
	begin(&e, f);
	put(&e, run_id, 2, 20);
	ask_a_while(&e);
	assert_asked(&e, 2, 20, 1);
	/* What was there before waits for the end. */
	assert_asked(&e, 1, 1, 0);
	assert_ok(ask_all(e.ask, &f->err));
	assert_asked(&e, 1, 20, 1);
	end(&e);
}

static void test_given_by_the_user(void **state)
{
	struct fixture *f = *state;
	struct early e;

	begin(&e, f);
	e.options.instance = "p";
	put(&e, put_new_run(&e, "a"), 1, 20);
	ask_a_while(&e);
	assert_asked(&e, 1, 20, 1);
	assert_ok(ask_all(e.ask, &f->err));
	assert_asked(&e, 1, 20, 1);
	assert_number(f, "SELECT instance_proved FROM run", 1);
	end(&e);
}

/* Another log of the run may propose a better name. */
static void test_a_run_that_comes_again(void **state)
{
	struct fixture *f = *state;
	char trace_id[] = "a";
	struct early e;

	begin(&e, f);
	put(&e, put_new_run(&e, "a"), 1, 10);
	assert_ok(ask_log_ended(e.ask, again, trace_id, &f->err));
	put(&e, put_new_run(&e, "b"), 11, 20);
	assert_ok(ask_log_ended(e.ask, again, trace_id, &f->err));
	ask_a_while(&e);
	assert_asked(&e, 1, 10, 0);
	assert_asked(&e, 11, 20, 1);
	assert_ok(ask_all(e.ask, &f->err));
	assert_asked(&e, 1, 20, 1);
	end(&e);
}

/* What is not there is not asked for twice, though it is worth asking the next time. */
static void test_nothing_is_there(void **state)
{
	struct fixture *f = *state;
	struct early e;

	begin(&e, f);
	e.instance = "q";
	e.options.instance = "p";
	put(&e, put_new_run(&e, "a"), 1, 20);
	ask_a_while(&e);
	assert_asked(&e, 1, 20, 1);
	assert_ok(ask_log_ended(e.ask, never_again, NULL, &f->err));
	ask_a_while(&e);
	/* The first eight are what is tried to prove the name. */
	assert_asked(&e, 9, 20, 1);
	assert_ok(ask_all(e.ask, &f->err));
	assert_asked(&e, 9, 20, 1);
	assert_int_equal(e.tally.unproved, 1);
	assert_number(f, "SELECT count(*) FROM lookup WHERE state = 2", 20);
	end(&e);
}

static void test_a_server_that_is_away(void **state)
{
	struct fixture *f = *state;
	struct early e;

	begin(&e, f);
	e.options.instance = "p";
	e.server.away_from_ms = 0;
	e.server.away_until_ms = INT64_MAX;
	put(&e, put_new_run(&e, "a"), 1, 20);
	ask_a_while(&e);
	assert_ok(ask_log_ended(e.ask, never_again, NULL, &f->err));
	/* Rows are stored all the same, and the end tells. */
	assert_return(ask_all(e.ask, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_NET);
	assert_number(f, "SELECT count(*) FROM action", 20);
	assert_int_equal(e.server.starts, 1);
	end(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_when_the_log_has_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(test_proved_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_given_by_the_user, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_run_that_comes_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_server_that_is_away, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
