/*
 * Asking while logs are still read. Only for what no log that comes later can change:
 * lookups that are new, of runs whose instance name is proved, or under the user's own.
 */
#include "ask_internal.h"

/* Looks at nothing twice: what has no settled instance now waits for its log's end. */
static int settled_source(void *context, struct lookup_request *out, struct err *err)
{
	struct ask *ask = context;
	struct wanted wanted;
	int more;

	do {
		more = store_next_settled(ask->store, ask->options->cache, ask->options->instance,
					  ask->early_id, &wanted, err);
		if (more < 0)
			return -1;
		if (!more)
			return store_newest_lookup(ask->store, &ask->early_id, err);
		ask->early_id = wanted.lookup_id;
	} while (idset_has(&ask->asked, wanted.lookup_id));
	ask_fill(ask, &wanted, out);
	return 1;
}

/* A server that is away, or refuses, is told of once all logs are read. */
static int keep_fault(struct ask *ask, struct err *err)
{
	if (err->kind != ERR_NET)
		return -1;
	ask->fault = *err;
	*err = (struct err)ERR_INIT;
	ask->stopped = true;
	return 0;
}

/* Begins behind what was there before: that waits for the end. */
static int begin(struct ask *ask, struct err *err)
{
	if (ask->begun)
		return 0;
	ask->begun = true;
	if (store_newest_lookup(ask->store, &ask->log_id, err) < 0 ||
	    store_newest_run(ask->store, &ask->run_id, err) < 0)
		return -1;
	ask->early_id = ask->log_id;
	return 0;
}

int ask_some(struct ask *ask, struct err *err)
{
	int more;

	if (ask->stopped)
		return 0;
	if (begin(ask, err) < 0)
		return -1;
	ask->early = true;
	more = ask_first(ask, settled_source, ask_take, ask, err);
	if (more > 0 && lookup_poll(ask->lookup, settled_source, ask_take, ask, err) < 0)
		more = -1;
	ask->early = false;
	return more < 0 ? keep_fault(ask, err) : 0;
}

int ask_settled(struct ask *ask, struct err *err)
{
	return ask->begun ? ask_run(ask, settled_source, ask_take, ask, err) : 0;
}

/*
 * The next log's lookups are those from here on; with `again` the last log's are looked
 * at once more. Moves to other names may have dropped the newest, whose ids are given anew.
 */
static int begin_log(struct ask *ask, bool again, struct err *err)
{
	int64_t newest;

	if (store_newest_lookup(ask->store, &newest, err) < 0)
		return -1;
	idset_cut(&ask->asked, newest);
	if (again || ask->early_id > newest)
		ask->early_id = ask->log_id < newest ? ask->log_id : newest;
	ask->log_id = newest;
	return 0;
}

/* 1: *out_run came with the log and nothing proved its instance; 0: none (any more); -1. */
static int next_new(struct ask *ask, struct unproved *out_run, struct err *err)
{
	/* The user's own name needs no proof to be asked under. */
	if (ask->away || ask->stopped || ask->options->instance)
		return 0;
	return store_next_unproved(ask->store, ask->options->cache, ask->run_id, PROBE_DIGESTS,
				   out_run, err);
}

static int prove_new(struct ask *ask, ask_comes_again_fn *comes_again, void *context,
		     struct err *err)
{
	struct unproved run;
	int more = next_new(ask, &run, err);
	bool any = more > 0;

	if (any && ask_settled(ask, err) < 0)
		return -1;
	while (more > 0 && (more = next_new(ask, &run, err)) > 0) {
		ask->run_id = run.run_id;
		if (!comes_again(context, run.trace_id) && ask_instance(ask, &run, err) < 0)
			return -1;
	}
	return more < 0 ? -1 : begin_log(ask, any, err);
}

int ask_log_ended(struct ask *ask, ask_comes_again_fn *comes_again, void *context, struct err *err)
{
	int failed;

	if (ask->stopped)
		return 0;
	if (begin(ask, err) < 0)
		return -1;
	ask->early = true;
	failed = prove_new(ask, comes_again, context, err);
	ask->early = false;
	return failed ? keep_fault(ask, err) : 0;
}
