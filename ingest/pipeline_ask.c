#include "pipeline_ask.h"

#include "lookup.h"
#include "lookup_grpc.h"
#include "lookup_recording.h"
#include "remote.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/msg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The port that Buildbarn's frontend service listens on in the usual charts. */
#define FRONTEND_PORT "8980"
/* google.rpc.Code of a server that is not there. */
#define CODE_UNAVAILABLE 14

struct asking {
	const struct ingest_options *options;
	struct remote remote;
	struct transport *replay; /* the recording; NULL: the server */
	struct transport *old;	  /* what --record's file holds already; NULL */
	bool torn;		  /* the projects name different servers: none is asked */
	struct slice *slice;
	bool *trouble;

	struct lookup *lookup; /* NULL, as what follows: not made yet */
	struct ask *ask;
	struct ask_options how;
	struct ask_tally asked;
	struct err fault; /* why they could not be made; kind 0: they could */
	int64_t begun_ms;
};

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

/*
 * "localhost:8980 refuses: 127 results wanted. kubectl … &, then br2-ingest": the
 * usual cause of a silent server on this machine is a port that is not forwarded.
 */
static int tell_silence(const struct asking *asking, const struct err *fault, struct err *err)
{
	const struct ingest_options *options = asking->options;
	const struct remote *remote = &asking->remote;
	const char *colon = strrchr(remote->endpoint, ':');
	size_t len = strlen(fault->text);
	/* Nobody listens: lookup_explain.c's word for it. */
	bool closed = lookup_fault(asking->lookup) == CODE_UNAVAILABLE && len > 8 &&
		      strcmp(fault->text + len - 8, " refuses") == 0;
	int64_t wanted, blobs;

	*asking->trouble = true;
	if (store_count_wanted(asking->slice->store, options->cache, options->now_ns,
			       options->retry_missing, &wanted, err) < 0 ||
	    store_count_historical(asking->slice->store, options->cache, options->now_ns,
				   options->retry_missing, &blobs, err) < 0)
		return -1;
	wanted += blobs;
	if (closed && remote->loopback && colon && strncmp(remote->endpoint, "unix:", 5) != 0)
		msg_error("%s: %" PRId64 " results wanted. kubectl -n buildbarn port-forward "
			  "svc/frontend %s:" FRONTEND_PORT " &, then br2-ingest",
			  fault->text, wanted, colon + 1);
	else
		msg_error("%s: %" PRId64 " results wanted (asked as %s says). Then br2-ingest "
			  "again, which reads no log twice",
			  fault->text, wanted, remote->source);
	return 0;
}

static void tell_refusals(const struct asking *asking, const struct ask_tally *asked)
{
	const struct lookup_tally *answers = &asked->results;
	uint64_t refused = answers->refused + answers->invalid;

	if (!refused || (!answers->refused && asked->stored))
		return;
	*asking->trouble = true;
	msg_warn("%s refuses %" PRIu64 " of %" PRIu64 " questions: %s", asking->remote.endpoint,
		 refused, answers->asked, asked->refusal);
}

static void tell_answers(const struct asking *asking, const struct ask_tally *asked)
{
	const struct lookup_tally *answers = &asked->results;

	msg_note("%" PRIu64 " results asked of %s: %" PRIu64 " stored, %" PRIu64 " not there",
		 answers->asked,
		 asking->options->replay ? "the recording" : asking->remote.endpoint, asked->stored,
		 answers->not_found + answers->outputs_evicted);
	if (answers->asked == answers->not_found && asking->options->instance)
		msg_warn("nothing is kept under the instance name '%s' that --instance gives; "
			 "without it br2-ingest finds the name by asking",
			 asking->options->instance);
	if (answers->unreachable) {
		*asking->trouble = true;
		msg_warn("%s went away: %" PRIu64 " results wanted. When it is back: br2-ingest "
			 "again, which reads no log twice",
			 asking->remote.endpoint, answers->unreachable);
	}
	tell_refusals(asking, asked);
	if (answers->errors || answers->too_large || asked->malformed)
		msg_warn("%" PRIu64 " answers were errors, %" PRIu64 " too large, %" PRIu64
			 " malformed; the view missing_results names them",
			 answers->errors, answers->too_large, asked->malformed);
	/* Where the server went away, that is the news, and what has to be done about it. */
	if (asked->unproved && !answers->unreachable)
		msg_warn("no answer proved the instance name of %" PRIu64 " runs: '%s' is kept for "
			 "now, all proposals are tried again next time; --instance NAME settles it",
			 asked->unproved, asked->unproved_instance);
}

static void tell_blobs(const struct asking *asking, const struct ask_tally *asked)
{
	const struct blob_tally *blobs = &asked->blobs;
	uint64_t later = blobs->refused + blobs->unreachable + blobs->failed;

	msg_note("%" PRIu64 " results of failed actions asked of the CAS: %" PRIu64
		 " stored, %" PRIu64 " not there any more",
		 blob_tally_sum(blobs), blobs->stored, blobs->gone);
	if (blobs->useless)
		msg_warn("%" PRIu64 " messages of failed actions link what is not their result",
			 blobs->useless);
	if (later)
		msg_warn("%" PRIu64 " results of failed actions were refused, %" PRIu64
			 " could not be asked for, %" PRIu64 " failed: asked again next time%s%s",
			 blobs->refused, blobs->unreachable, blobs->failed,
			 *asked->refusal ? "; last refusal: " : "", asked->refusal);
	if (blobs->refused || blobs->unreachable)
		*asking->trouble = true;
}

/* ---- asking ---- */

static int new_transport(struct asking *asking, uint32_t slots, struct transport **out,
			 struct err *err)
{
	struct transport *transport = asking->replay, *old = asking->old;

	asking->replay = NULL;
	if (!transport && transport_grpc_new(&transport, &asking->remote, slots, err) < 0)
		return -1;
	asking->old = NULL;
	if (asking->options->record)
		return transport_record_new(out, transport, old, asking->options->record, err);
	*out = transport;
	return 0;
}

/* The server is not connected to yet. */
static int try_make(struct asking *asking, struct err *err)
{
	const struct ingest_options *options = asking->options;
	struct transport *transport;

	if (new_transport(asking, options->lookup.in_flight, &transport, err) < 0)
		return -1;
	asking->lookup = lookup_new(transport, &options->lookup);
	asking->how = (struct ask_options){
		.cache = options->cache,
		.now_ns = options->now_ns,
		.retry_missing = options->retry_missing,
		.instance = options->instance,
		.progress = show_progress,
		.context = &asking->begun_ms,
	};
	asking->ask = ask_new(asking->slice, asking->lookup, &asking->how, &asking->asked);
	return 0;
}

/* Tried once: what fails is told by asking_run(), after all logs are stored. */
static bool make(struct asking *asking)
{
	if (!asking->torn && !asking->ask && !asking->fault.kind)
		try_make(asking, &asking->fault);
	return asking->ask != NULL;
}

static void tell(const struct asking *asking)
{
	const struct ask_tally *asked = &asking->asked;
	uint64_t blobs = blob_tally_sum(&asked->blobs);

	if (asked->results.asked)
		tell_answers(asking, asked);
	if (blobs)
		tell_blobs(asking, asked);
	if (asking->options->record && !asked->results.asked && !blobs)
		msg_note("nothing was asked, so --record adds nothing to %s: what is wanted is "
			 "stored already; with a fresh --db all is asked",
			 asking->options->record);
}

void asking_begin(struct asking *asking, struct slice *slice, bool *trouble)
{
	asking->slice = slice;
	asking->trouble = trouble;
}

int asking_some(struct asking *asking, struct err *err)
{
	return make(asking) ? ask_some(asking->ask, err) : 0;
}

int asking_log_ended(struct asking *asking, ask_comes_again_fn *comes_again, void *context,
		     struct err *err)
{
	return make(asking) ? ask_log_ended(asking->ask, comes_again, context, err) : 0;
}

int asking_run(struct asking *asking, struct err *err)
{
	struct err fault = ERR_INIT;
	int failed;

	if (asking->torn) {
		*asking->trouble = true;
		return 0;
	}
	if (!make(asking)) {
		*err = asking->fault;
		return -1;
	}
	asking->begun_ms = clock_monotonic_ms();
	failed = ask_all(asking->ask, &fault);
	msg_progress_end();
	if (failed && fault.kind == ERR_NET && !pipeline_interrupted())
		return tell_silence(asking, &fault, err);
	if (failed) {
		*err = fault;
		return -1;
	}
	tell(asking);
	return lookup_finish(asking->lookup, err);
}

uint64_t asking_stored(const struct asking *asking)
{
	return asking->asked.stored + asking->asked.blobs.stored;
}

static void warn_of_places(struct asking *asking, bool differs, const char *const roots[2])
{
	if (asking->options->replay)
		return;
	warn_of_secrets(&asking->remote);
	asking->torn = differs;
	if (differs)
		msg_warn("%s and %s name different servers, so none is asked: ingest them apart, "
			 "each with a --cache NAME of its own, or name one with --endpoint",
			 roots[0], roots[1]);
}

/* What the answers come from and go to besides the server: files, which are looked at now. */
static int open_recordings(struct asking *asking, struct err *err)
{
	const struct ingest_options *options = asking->options;

	if (options->record && recording_open(&asking->old, options->record, err) < 0)
		return -1;
	if (!options->replay)
		return 0;
	return transport_replay_new(&asking->replay, options->replay, options->lookup.in_flight,
				    err);
}

int asking_open(struct asking **out_asking, const struct places *places,
		const struct ingest_options *options, struct err *err)
{
	struct asking *asking = xcalloc(1, sizeof(*asking));
	const char *roots[2];
	int differs;

	asking->options = options;
	differs = places_remote(places, &options->remote, &asking->remote, roots, err);
	if (differs < 0) {
		free(asking);
		return -1;
	}
	if (open_recordings(asking, err) < 0) {
		asking_free(asking);
		return -1;
	}
	warn_of_places(asking, differs > 0, roots);
	*out_asking = asking;
	return 0;
}

void asking_free(struct asking *asking)
{
	if (!asking)
		return;
	ask_free(asking->ask);
	lookup_free(asking->lookup);
	if (asking->replay)
		asking->replay->ops->free(asking->replay);
	if (asking->old)
		asking->old->ops->free(asking->old);
	remote_release(&asking->remote);
	free(asking);
}
