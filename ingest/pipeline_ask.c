#include "pipeline_ask.h"

#include "ask.h"
#include "lookup.h"
#include "lookup_grpc.h"
#include "lookup_recording.h"
#include "remote.h"
#include "util/clock.h"
#include "util/msg.h"

#include <inttypes.h>
#include <string.h>

/* Calls at once where the user names none: a local server is fast, a remote one far. */
#define IN_FLIGHT_LOCAL 64
#define IN_FLIGHT_REMOTE 128
#define IN_FLIGHT_MAX 1024
/* The port that Buildbarn's frontend service listens on in the usual charts. */
#define FRONTEND_PORT "8980"

struct asking {
	struct store *store;
	const struct ingest_options *options;
	const struct remote *remote;
	bool *trouble;
};

static int new_transport(const struct asking *asking, uint32_t slots, struct transport **out,
			 struct err *err)
{
	const struct ingest_options *options = asking->options;
	struct transport *transport;

	if (options->replay)
		return transport_replay_new(out, options->replay, slots, err);
	if (transport_grpc_new(&transport, asking->remote, slots, err) < 0)
		return -1;
	if (options->record)
		return transport_record_new(out, transport, options->record, err);
	*out = transport;
	return 0;
}

static uint32_t in_flight(const struct asking *asking)
{
	uint32_t wanted = asking->options->lookup.in_flight;

	if (!wanted)
		return asking->remote->loopback ? IN_FLIGHT_LOCAL : IN_FLIGHT_REMOTE;
	return wanted > IN_FLIGHT_MAX ? IN_FLIGHT_MAX : wanted;
}

static void show_progress(void *context, uint64_t done, uint64_t wanted)
{
	int64_t elapsed_ms = clock_monotonic_ms() - *(const int64_t *)context;

	msg_progress("%" PRIu64 " of %" PRIu64 " results asked, %.0f a second", done, wanted,
		     (double)done * 1000 / (double)(elapsed_ms > 0 ? elapsed_ms : 1));
}

/* ---- what a person must be told ---- */

static void warn_of_secrets(const struct remote *remote)
{
	if (remote->header_on_argv)
		msg_warn("a --header's value stands in the process list; write NAME=$VAR, or use "
			 "--token-file");
	if (remote->secret_in_clear)
		msg_warn("headers go to %s in clear: grpcs:// encrypts them", remote->endpoint);
}

/* "localhost:8980 refuses: 127 results wanted. kubectl … &, then br2-ingest" */
static int tell_silence(const struct asking *asking, const struct err *fault, struct err *err)
{
	const struct ingest_options *options = asking->options;
	const char *colon = strrchr(asking->remote->endpoint, ':');
	int64_t wanted;

	*asking->trouble = true;
	if (store_count_wanted(asking->store, options->cache, options->now_ns,
			       options->retry_missing, &wanted, err) < 0)
		return -1;
	if (asking->remote->loopback && colon && strncmp(asking->remote->target, "unix:", 5) != 0)
		msg_error("%s: %" PRId64 " results wanted. kubectl -n buildbarn port-forward "
			  "svc/frontend %s:" FRONTEND_PORT " &, then br2-ingest",
			  fault->text, wanted, colon + 1);
	else
		msg_error("%s: %" PRId64 " results wanted. When it answers: br2-ingest again, "
			  "which reads no log twice (asked as %s says)",
			  fault->text, wanted, asking->remote->source);
	return 0;
}

static void tell_refusals(const struct asking *asking, const struct ask_tally *asked,
			  const struct lookup_tally *answers)
{
	uint64_t refused = answers->refused + answers->invalid;

	if (!refused || (!answers->refused && asked->stored))
		return;
	*asking->trouble = true;
	msg_warn("%s refuses %" PRIu64 " of %" PRIu64 " questions: %s", asking->remote->endpoint,
		 refused, answers->asked, asked->refusal);
}

static void tell_answers(const struct asking *asking, const struct ask_tally *asked,
			 const struct lookup_tally *answers)
{
	msg_note("%" PRIu64 " results asked of %s: %" PRIu64 " stored, %" PRIu64 " not there",
		 answers->asked,
		 asking->options->replay ? "the recording" : asking->remote->endpoint,
		 asked->stored, answers->not_found + answers->outputs_evicted);
	if (answers->unreachable) {
		*asking->trouble = true;
		msg_warn("%s went away: %" PRIu64 " results wanted. When it is back: br2-ingest "
			 "again, which reads no log twice",
			 asking->remote->endpoint, answers->unreachable);
	}
	tell_refusals(asking, asked, answers);
	if (answers->errors || answers->too_large || asked->malformed)
		msg_warn("%" PRIu64 " answers were errors, %" PRIu64 " too large, %" PRIu64
			 " malformed; the view missing_results names them",
			 answers->errors, answers->too_large, asked->malformed);
	if (asked->unproved)
		msg_warn("no answer proved the instance name of %" PRIu64 " runs: '%s' is kept for "
			 "now, all proposals are tried again next time; --instance NAME settles it",
			 asked->unproved, asked->unproved_instance);
}

/* ---- asking ---- */

static int ask_with(const struct asking *asking, struct lookup *lookup, struct err *err)
{
	const struct ingest_options *options = asking->options;
	int64_t begun_ms = clock_monotonic_ms();
	struct ask_options ask = {
		.cache = options->cache,
		.now_ns = options->now_ns,
		.retry_missing = options->retry_missing,
		.progress = show_progress,
		.context = &begun_ms,
	};
	struct ask_tally asked;
	struct err fault = ERR_INIT;
	int failed = ask_all(asking->store, lookup, &ask, &asked, &fault);

	msg_progress_end();
	if (failed && fault.kind == ERR_NET && !pipeline_interrupted())
		return tell_silence(asking, &fault, err);
	if (failed) {
		*err = fault;
		return -1;
	}
	if (lookup_tally(lookup)->asked)
		tell_answers(asking, &asked, lookup_tally(lookup));
	return lookup_finish(lookup, err);
}

static int ask_remote(const struct asking *asking, struct err *err)
{
	struct lookup_options options = asking->options->lookup;
	struct transport *transport;
	struct lookup *lookup;
	int failed;

	options.in_flight = in_flight(asking);
	if (new_transport(asking, options.in_flight, &transport, err) < 0)
		return -1;
	lookup = lookup_new(transport, &options);
	failed = ask_with(asking, lookup, err);
	lookup_free(lookup);
	return failed;
}

int pipeline_ask(struct store *store, const struct places *places,
		 const struct ingest_options *options, bool *trouble, struct err *err)
{
	const char *other = NULL;
	struct remote remote;
	struct asking asking = {store, options, &remote, trouble};
	int differs = places_remote(places, &options->remote, &remote, &other, err);
	int failed;

	if (differs < 0)
		return -1;
	if (!options->replay)
		warn_of_secrets(&remote);
	if (differs && !options->replay)
		msg_warn("%s names another server than %s; ingest the projects apart, each with a "
			 "--cache NAME of its own",
			 other, remote.endpoint);
	failed = ask_remote(&asking, err);
	remote_release(&remote);
	return failed;
}
