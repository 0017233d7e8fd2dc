#include "lookup.h"

#include "lookup_breaker.h"
#include "lookup_calls.h"
#include "lookup_reply.h"
#include "redact.h"
#include "util/clock.h"
#include "util/mem.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* So soon lookup_interrupt() is seen. */
#define WAIT_MAX_MS 250
/* The last probe of an outage gets at least this. */
#define LAST_PROBE_MS 100

struct lookup {
	struct transport *transport;
	struct lookup_options options;
	struct lookup_tally tally;
	struct calls calls;
	uint32_t flying;
	uint64_t answers;     /* in which the server spoke, whatever it said */
	uint32_t credentials; /* how often they changed */
	struct breaker breaker;
	uint32_t probe_slot; /* in flight; NO_SLOT: none */
	uint32_t last_slot;  /* probed last: calls take turns, one may be at fault itself */
	struct lookup_request answered; /* the last one; instance NULL: none yet */
	char *answered_instance;	/* a copy: it outlives its request */
	struct buf words;		/* of the server, without secrets */
	struct buf why;			/* the last failure, explained */
	int fault;			/* its code */
};

/* One lookup_run() or lookup_preflight(). */
struct run {
	struct lookup *lookup;
	lookup_source_fn *source;
	lookup_sink_fn *sink;
	void *context;
	bool dry; /* the source has no more */
};

static volatile sig_atomic_t interrupted;

void lookup_interrupt(void)
{
	interrupted = 1;
}

/* The only clock. */
static int64_t now_ms(const struct lookup *lookup)
{
	struct transport *transport = lookup->transport;

	return transport->ops->now_ms ? transport->ops->now_ms(transport) : clock_monotonic_ms();
}

/* ---- making ---- */

static void set_defaults(struct lookup_options *options, uint32_t slots)
{
	if (!options->in_flight || options->in_flight > slots - 1)
		options->in_flight = slots - 1;
	if (!options->deadline_ms)
		options->deadline_ms = 30000;
	if (!options->outage_ms)
		options->outage_ms = 60000;
	if (!options->attempts)
		options->attempts = 5;
	if (!options->preflight_ms)
		options->preflight_ms = 5000;
}

struct lookup *lookup_new(struct transport *transport, const struct lookup_options *options)
{
	struct lookup *lookup = xcalloc(1, sizeof(*lookup));

	lookup->transport = transport;
	lookup->options = *options;
	set_defaults(&lookup->options, transport->slots);
	calls_init(&lookup->calls, lookup->options.in_flight);
	lookup->probe_slot = NO_SLOT;
	buf_init(&lookup->words);
	buf_init(&lookup->why);
	breaker_init(&lookup->breaker, lookup->options.outage_ms,
		     (uint64_t)now_ms(lookup) << 20 ^ (uintptr_t)lookup);
	return lookup;
}

void lookup_free(struct lookup *lookup)
{
	if (!lookup)
		return;
	lookup->transport->ops->free(lookup->transport);
	calls_release(&lookup->calls);
	free(lookup->answered_instance);
	buf_release(&lookup->words);
	buf_release(&lookup->why);
	free(lookup);
}

const struct lookup_tally *lookup_tally(const struct lookup *lookup)
{
	return &lookup->tally;
}

int lookup_fault(const struct lookup *lookup)
{
	return lookup->fault;
}

int lookup_finish(struct lookup *lookup, struct err *err)
{
	struct transport *transport = lookup->transport;

	return transport->ops->finish ? transport->ops->finish(transport, err) : 0;
}

/*
 * The transport's wait(). A server may repeat what it was sent, a token too: its words
 * go to the database and to people.
 */
static int wait_clean(struct lookup *lookup, int64_t timeout_ms, struct transport_reply *out_reply,
		      struct err *err)
{
	int got = lookup->transport->ops->wait(lookup->transport, timeout_ms, out_reply, err);

	if (got > 0)
		out_reply->message = redact_text(str_of(out_reply->message), &lookup->words).data;
	return got;
}

/* ---- answering ---- */

static void explain(struct lookup *lookup, const struct transport_reply *reply)
{
	struct transport *transport = lookup->transport;

	lookup->fault = reply->code;
	buf_clear(&lookup->why);
	if (transport->ops->explain)
		transport->ops->explain(transport, reply->code, reply->message, &lookup->why);
	else
		buf_addf(&lookup->why, "%s (code %d)", reply->message, reply->code);
}

static int give_answer(struct run *run, const struct lookup_answer *answer, struct err *err)
{
	tally_add(&run->lookup->tally, answer);
	return run->sink(run->context, answer, err);
}

static int answer_call(struct run *run, const struct transport_reply *reply, struct err *err)
{
	struct lookup_answer out = {
		.id = run->lookup->calls.items[reply->slot].request.id,
		.outcome = reply_outcome(reply),
		.code = reply->code,
		.message = reply->message,
		.data = reply->code == CODE_OK ? reply->data : NULL,
		.len = reply->code == CODE_OK ? reply->len : 0,
	};

	calls_free(&run->lookup->calls, reply->slot);
	return give_answer(run, &out, err);
}

static int answer_unreachable(struct run *run, int64_t id, struct err *err)
{
	struct lookup_answer out = {
		.id = id,
		.outcome = LOOKUP_UNREACHABLE,
		.code = CODE_UNAVAILABLE,
		.message = run->lookup->why.data,
	};

	return give_answer(run, &out, err);
}

/* ---- starting ---- */

/* During an outage no call outlives it, so that giving up comes in time. */
static int64_t call_timeout_ms(const struct lookup *lookup)
{
	int64_t left;

	if (!lookup->breaker.failures)
		return lookup->options.deadline_ms;
	left = breaker_end_ms(&lookup->breaker) - now_ms(lookup);
	if (left < LAST_PROBE_MS)
		left = LAST_PROBE_MS;
	return left < lookup->options.deadline_ms ? left : lookup->options.deadline_ms;
}

static int fly(struct lookup *lookup, uint32_t slot, int64_t timeout_ms, struct err *err)
{
	struct transport *transport = lookup->transport;
	struct call *call = &lookup->calls.items[slot];

	calls_fly(&lookup->calls, slot);
	call->credentials = lookup->credentials;
	lookup->flying++;
	return transport->ops->start(transport, slot, &call->request, timeout_ms, err);
}

static int fly_again(struct lookup *lookup, uint32_t slot, struct err *err)
{
	lookup->tally.retries++;
	return fly(lookup, slot, call_timeout_ms(lookup), err);
}

/* 1: a new request has a slot, waiting; 0: no slot, or no request; -1. */
static int take_request(struct run *run, uint32_t *out_slot, struct err *err)
{
	struct lookup *lookup = run->lookup;
	struct lookup_request request;
	int more;

	if (run->dry || !lookup->calls.free_count)
		return 0;
	more = run->source(run->context, &request, err);
	if (more <= 0) {
		run->dry = true;
		return more;
	}
	lookup->tally.asked++;
	*out_slot = calls_take(&lookup->calls, &request);
	lookup->calls.items[*out_slot].answers = lookup->answers;
	return 1;
}

static int start_new(struct run *run, struct err *err)
{
	struct lookup *lookup = run->lookup;
	uint32_t slot;
	int more;

	while ((more = take_request(run, &slot, err)) > 0)
		if (fly(lookup, slot, call_timeout_ms(lookup), err) < 0)
			return -1;
	return more;
}

static int start_due(struct lookup *lookup, struct err *err)
{
	const struct calls *calls = &lookup->calls;
	int64_t now = calls->waiting ? now_ms(lookup) : 0;
	uint32_t slot;

	for (slot = 0; calls->waiting && slot < calls->count; slot++)
		if (calls->items[slot].state == CALL_WAITING && calls->items[slot].due_ms <= now)
			if (fly_again(lookup, slot, err) < 0)
				return -1;
	return 0;
}

/* The slot beyond those of calls: for asking again what was answered before. */
static uint32_t spare_slot(const struct lookup *lookup)
{
	return lookup->options.in_flight;
}

static int ask_again(struct lookup *lookup, struct err *err)
{
	struct transport *transport = lookup->transport;

	lookup->probe_slot = spare_slot(lookup);
	lookup->flying++;
	return transport->ops->start(transport, spare_slot(lookup), &lookup->answered,
				     call_timeout_ms(lookup), err);
}

static int probe_call(struct run *run, struct err *err)
{
	struct lookup *lookup = run->lookup;
	uint32_t slot = calls_next_waiting(&lookup->calls, lookup->last_slot + 1);
	int more;

	if (slot != NO_SLOT) {
		lookup->probe_slot = lookup->last_slot = slot;
		return fly_again(lookup, slot, err);
	}
	more = take_request(run, &slot, err);
	if (more <= 0)
		return more;
	lookup->probe_slot = lookup->last_slot = slot;
	return fly(lookup, slot, call_timeout_ms(lookup), err);
}

static int start_probe(struct run *run, struct err *err)
{
	struct lookup *lookup = run->lookup;
	const struct breaker *breaker = &lookup->breaker;

	if (lookup->probe_slot != NO_SLOT || now_ms(lookup) < breaker->probe_due_ms)
		return 0;
	if (breaker->probes % 2 && lookup->answered.instance)
		return ask_again(lookup, err);
	return probe_call(run, err);
}

static int start_calls(struct run *run, struct err *err)
{
	if (breaker_is_open(&run->lookup->breaker))
		return start_probe(run, err);
	if (start_due(run->lookup, err) < 0)
		return -1;
	return start_new(run, err);
}

/* ---- replies ---- */

static int retry_later(struct lookup *lookup, uint32_t slot, int64_t delay_ms)
{
	calls_wait(&lookup->calls, slot, now_ms(lookup) + delay_ms);
	return 0;
}

/*
 * A failure is the call's own only if the server answered another one meanwhile:
 * an outage, however long, uses up nobody's attempts.
 */
static int take_failure(struct run *run, const struct transport_reply *reply, struct err *err)
{
	struct lookup *lookup = run->lookup;
	struct call *call = &lookup->calls.items[reply->slot];

	if (call->answers != lookup->answers) {
		call->answers = lookup->answers;
		if (++call->failures >= lookup->options.attempts)
			return answer_call(run, reply, err);
	}
	return retry_later(lookup, reply->slot,
			   breaker_backoff_ms(&lookup->breaker, call->failures));
}

static void remember(struct lookup *lookup, const struct lookup_request *request)
{
	if (!lookup->answered_instance ||
	    strcmp(lookup->answered_instance, request->instance) != 0) {
		free(lookup->answered_instance);
		lookup->answered_instance = xstrdup(request->instance);
	}
	lookup->answered = *request;
	lookup->answered.instance = lookup->answered_instance;
}

/* Were they changed since the call was started, or can they be now? */
static bool refresh_credentials(struct lookup *lookup, const struct call *call)
{
	struct transport *transport = lookup->transport;

	if (call->credentials != lookup->credentials)
		return true;
	if (!transport->ops->refresh || !transport->ops->refresh(transport))
		return false;
	lookup->credentials++;
	return true;
}

static bool worth_retrying(struct lookup *lookup, const struct transport_reply *reply)
{
	struct call *call = &lookup->calls.items[reply->slot];

	if (reply->code == CODE_UNAUTHENTICATED)
		return call->failures + 1 < lookup->options.attempts &&
		       refresh_credentials(lookup, call);
	return call->failures + 1 < reply_attempts(reply, lookup->options.attempts);
}

static int take_answer(struct run *run, const struct transport_reply *reply, struct err *err)
{
	struct lookup *lookup = run->lookup;
	struct call *call = &lookup->calls.items[reply->slot];

	remember(lookup, &call->request);
	if (!worth_retrying(lookup, reply))
		return answer_call(run, reply, err);
	call->failures++;
	return retry_later(lookup, reply->slot,
			   reply->code == CODE_UNAUTHENTICATED
				   ? 0
				   : breaker_backoff_ms(&lookup->breaker, call->failures));
}

static int take_reply(struct run *run, const struct transport_reply *reply, struct err *err)
{
	struct lookup *lookup = run->lookup;
	bool outage = reply_is_outage(reply);

	lookup->flying--;
	if (reply->slot == lookup->probe_slot)
		lookup->probe_slot = NO_SLOT;
	if (outage) {
		explain(lookup, reply);
		breaker_failed(&lookup->breaker, now_ms(lookup));
	} else {
		lookup->answers++;
		breaker_answered(&lookup->breaker);
	}
	if (reply->slot == spare_slot(lookup))
		return 0;
	return outage ? take_failure(run, reply, err) : take_answer(run, reply, err);
}

/* Until something could be started. */
static int64_t pause_ms(const struct lookup *lookup)
{
	const struct breaker *breaker = &lookup->breaker;
	int64_t due = INT64_MAX, left;

	if (breaker_is_open(&lookup->breaker))
		due = lookup->probe_slot == NO_SLOT ? breaker->probe_due_ms : INT64_MAX;
	else
		due = calls_due_ms(&lookup->calls);
	if (due == INT64_MAX)
		return WAIT_MAX_MS;
	/* At least 1: what is due and was not started has no slot to start in. */
	left = due - now_ms(lookup);
	if (left < 1)
		left = 1;
	return left < WAIT_MAX_MS ? left : WAIT_MAX_MS;
}

/* 1: one came; 0: none within that time; -1. */
static int wait_reply(struct run *run, int64_t timeout_ms, struct err *err)
{
	struct transport_reply reply;
	int got = wait_clean(run->lookup, timeout_ms, &reply, err);

	return got > 0 && take_reply(run, &reply, err) < 0 ? -1 : got;
}

/* ---- runs ---- */

/* The server stayed away: everything that is left has the same answer. */
static int give_up(struct run *run, struct err *err)
{
	struct lookup *lookup = run->lookup;
	uint32_t slot;
	int more;

	while ((slot = calls_next_waiting(&lookup->calls, 0)) != NO_SLOT) {
		int64_t id = lookup->calls.items[slot].request.id;

		calls_free(&lookup->calls, slot);
		if (answer_unreachable(run, id, err) < 0)
			return -1;
	}
	while ((more = take_request(run, &slot, err)) > 0) {
		int64_t id = lookup->calls.items[slot].request.id;

		calls_free(&lookup->calls, slot);
		if (interrupted)
			return err_set(err, ERR_NET, "interrupted");
		if (answer_unreachable(run, id, err) < 0)
			return -1;
	}
	return more;
}

int lookup_run(struct lookup *lookup, lookup_source_fn *source, lookup_sink_fn *sink, void *context,
	       struct err *err)
{
	struct run run = {lookup, source, sink, context, false};

	if (lookup->breaker.gone)
		breaker_retry(&lookup->breaker, now_ms(lookup), lookup->options.preflight_ms);
	for (;;) {
		if (interrupted)
			return err_set(err, ERR_NET, "interrupted");
		if (lookup->breaker.gone && !lookup->flying)
			return give_up(&run, err);
		if (!lookup->breaker.gone && start_calls(&run, err) < 0)
			return -1;
		if (run.dry && !lookup->flying && !lookup->calls.waiting)
			return 0;
		if (wait_reply(&run, pause_ms(lookup), err) < 0)
			return -1;
	}
}

/* A server that has gone is asked nothing new: that is for lookup_run(). */
static int step(struct run *run, struct err *err)
{
	struct lookup *lookup = run->lookup;

	if (interrupted)
		return err_set(err, ERR_NET, "interrupted");
	run->dry = lookup->breaker.gone;
	if (lookup->breaker.gone && !lookup->flying)
		return give_up(run, err);
	if (!lookup->breaker.gone && start_calls(run, err) < 0)
		return -1;
	return wait_reply(run, 0, err);
}

int lookup_poll(struct lookup *lookup, lookup_source_fn *source, lookup_sink_fn *sink,
		void *context, struct err *err)
{
	struct run run = {lookup, source, sink, context, false};
	uint32_t replies;
	int got = 1;

	for (replies = 0; got > 0 && replies < lookup->options.in_flight; replies++)
		got = step(&run, err);
	return got < 0 ? -1 : 0;
}

/* One call, its reply in *out_reply. */
static int call_once(struct lookup *lookup, uint32_t slot, struct transport_reply *out_reply,
		     struct err *err)
{
	int got;

	if (fly(lookup, slot, lookup->options.preflight_ms, err) < 0)
		return -1;
	do {
		if (interrupted)
			return err_set(err, ERR_NET, "interrupted");
		got = wait_clean(lookup, WAIT_MAX_MS, out_reply, err);
	} while (got == 0);
	lookup->flying--;
	return got < 0 ? -1 : 0;
}

int lookup_preflight(struct lookup *lookup, const struct lookup_request *request,
		     lookup_sink_fn *sink, void *context, struct err *err)
{
	struct run run = {lookup, NULL, sink, context, true};
	uint32_t slot = calls_take(&lookup->calls, request);
	struct call *call = &lookup->calls.items[slot];
	struct transport_reply reply = {0};

	if (call_once(lookup, slot, &reply, err) < 0)
		return -1;
	if (reply.code == CODE_UNAUTHENTICATED && refresh_credentials(lookup, call)) {
		calls_wait(&lookup->calls, slot, 0);
		if (call_once(lookup, slot, &reply, err) < 0)
			return -1;
	}
	if (reply_is_misconfigured(&reply)) {
		calls_free(&lookup->calls, slot);
		explain(lookup, &reply);
		return err_set(err, ERR_NET, "%s", lookup->why.data);
	}
	lookup->tally.asked++;
	return answer_call(&run, &reply, err);
}
