/*
 * The store's wanted digests -> the lookup engine -> the store. First it is
 * settled under which instance name each run's digests are kept (the log, the
 * configuration and the links only propose names: an answer proves one), then
 * everything wanted is asked once: results of the action cache, then the blobs
 * that failed attempts link.
 */
#ifndef BR2_ASK_H
#define BR2_ASK_H

#include "lookup.h"
#include "slice.h"
#include "store.h"
#include "util/err.h"

#include <stdbool.h>
#include <stdint.h>

struct ask_options {
	const char *cache; /* the user's name for the cluster */
	int64_t now_ns;
	bool retry_missing;
	const char *instance; /* given by the user: no other name is tried; NULL */
	void (*progress)(void *context, uint64_t done, uint64_t wanted); /* NULL */
	void *context;
};

/* Of the attempts that link a blob: several may link the same one. */
struct blob_tally {
	uint64_t stored;      /* as results */
	uint64_t gone;	      /* from the CAS */
	uint64_t useless;     /* no such result, or about another action */
	uint64_t refused;     /* not accepted, under no name */
	uint64_t unreachable; /* the server was away */
	uint64_t failed;      /* errors, too large */
};

/* Attempts whose blob was asked for. */
uint64_t blob_tally_sum(const struct blob_tally *tally);

struct ask_tally {
	uint64_t wanted;	     /* results and blobs, when the asking began */
	struct lookup_tally results; /* the answers about results, without blobs */
	struct blob_tally blobs;
	uint64_t stored;	     /* results found and stored */
	uint64_t malformed;	     /* replies that are no ActionResult */
	uint64_t unproved;	     /* runs whose instance no answer proved */
	char unproved_instance[128]; /* the name kept for one of them */
	char refusal[256];	     /* the server's words for the last refused one; "" */
};

struct ask;

/* All is borrowed; *tally begins at 0. */
struct ask *ask_new(struct slice *slice, struct lookup *lookup, const struct ask_options *options,
		    struct ask_tally *tally);
void ask_free(struct ask *ask);

/*
 * While logs are still read: asks for some of what was stored since ask_new() and whose
 * instance is settled, without waiting, and stores what was answered. A server that is
 * away is no error here: ask_all() tells. -1: the store failed, or an interrupt.
 */
int ask_some(struct ask *ask, struct err *err);
/* Says of a run, by its trace id, whether a log that is still to be read may show it, too. */
typedef bool ask_comes_again_fn(void *context, struct str trace_id);
/*
 * A log has been stored, and what proposes names for its runs: proves the instance of
 * those that no other log may show, so that ask_some() can ask for them. What could be
 * asked before it is asked first, which makes the names that are tried the same
 * however fast the server is. Waits for its answers. 0; -1: as ask_some().
 */
int ask_log_ended(struct ask *ask, ask_comes_again_fn *comes_again, void *context, struct err *err);

/*
 * Asks for all that is left. 0: everything was answered, or given up on (lookup_tally()
 * counts those); -1: ERR_NET: nothing could be asked, one line says why; ERR_DB: the
 * store failed. What was answered is stored in all cases.
 */
int ask_all(struct ask *ask, struct err *err);

#endif
