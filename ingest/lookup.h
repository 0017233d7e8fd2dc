/*
 * Stage 4: wanted results and blobs -> answers. The engine keeps many calls in
 * flight on one transport, retries with backoff, and stops asking behind a
 * breaker while the server is away, so that a server gone for seconds loses
 * nothing. One thread; the sink is called in it, which gives back-pressure for
 * free.
 *
 * The transport (gRPC or a recording) is a small table of functions: nothing
 * here knows gRPC.
 */
#ifndef BR2_LOOKUP_H
#define BR2_LOOKUP_H

#include "model.h"
#include "util/buf.h"
#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest reply that is taken; so memory <= in flight x this. */
#define LOOKUP_REPLY_MAX ((size_t)16 << 20)
/*
 * Calls at once where nobody says how many. A server far away wants as many as are
 * under way on a long path; one on this machine wants work while we store what it
 * answered: while logs are read, all that came is stored before it is asked anew.
 */
#define LOOKUP_IN_FLIGHT 128

enum lookup_method {
	LOOKUP_ACTION_RESULT = 1, /* of an action's digest: ActionCache/GetActionResult */
	LOOKUP_BLOB = 2,	  /* the bytes of a digest: BatchReadBlobs, many requests in one
				     call, or ByteStream/Read; the engine knows nothing of that */
};

struct lookup_request {
	int64_t id; /* the caller's; comes back with the answer */
	enum lookup_method method;
	const char *instance; /* borrowed until the answer */
	struct digest digest; /* function set */
};

/* google.rpc.Code as gRPC gives it. */
struct transport_reply {
	uint32_t slot;
	int code;
	const char *message; /* never NULL; borrowed until the next wait */
	const uint8_t *data; /* code 0 only; borrowed until the next wait */
	size_t len;
};

struct transport;

struct transport_ops {
	/*
	 * Starts a call in a free slot; without an answer it ends with code
	 * DEADLINE_EXCEEDED after `timeout_ms`. -1: cannot be started at all.
	 */
	int (*start)(struct transport *self, uint32_t slot, const struct lookup_request *request,
		     int64_t timeout_ms, struct err *err);
	/*
	 * Waits, also where no call is in flight. 1: *out_reply, its slot free again;
	 * 0: nothing within timeout_ms; -1.
	 */
	int (*wait)(struct transport *self, int64_t timeout_ms, struct transport_reply *out_reply,
		    struct err *err);
	/* The credentials were refused: read them again. 1: they changed; 0. May be NULL. */
	int (*refresh)(struct transport *self);
	/* Adds one line that says why a call failed, and of whom. May be NULL. */
	void (*explain)(struct transport *self, int code, const char *message, struct buf *out);
	/* Brings to an end what is kept of the answers. May be NULL. */
	int (*finish)(struct transport *self, struct err *err);
	/* Milliseconds of a clock that only goes forward. NULL: CLOCK_MONOTONIC. */
	int64_t (*now_ms)(struct transport *self);
	/* Cancels what is in flight, waits for it, frees. */
	void (*free)(struct transport *self);
};

struct transport {
	const struct transport_ops *ops;
	uint32_t slots; /* calls that it takes at once, numbered from 0; at least 2 */
};

enum lookup_outcome {
	LOOKUP_FOUND = 1,
	LOOKUP_NOT_FOUND,	/* never cached, evicted, other instance, other size */
	LOOKUP_OUTPUTS_EVICTED, /* the entry is there, an output is gone (completeness checking) */
	LOOKUP_REFUSED,		/* PERMISSION_DENIED, UNAUTHENTICATED */
	LOOKUP_INVALID,		/* INVALID_ARGUMENT: the instance or the digest is not accepted */
	LOOKUP_TOO_LARGE,	/* over LOOKUP_REPLY_MAX, or over the server's own bound */
	LOOKUP_ERROR,		/* an error of this one call that retries did not cure */
	LOOKUP_UNREACHABLE,	/* the server was away until the engine gave up */
};

struct lookup_answer {
	int64_t id;
	enum lookup_outcome outcome;
	int code;	     /* google.rpc.Code */
	const char *message; /* the server's words; LOOKUP_UNREACHABLE: what is wrong,
				in one line. Borrowed during the call, as data is */
	const uint8_t *data; /* LOOKUP_FOUND only */
	size_t len;
};

struct lookup_options {
	uint32_t in_flight;   /* calls at once; 0, or more: all slots of the transport but one,
				 which the engine keeps to find out whether the server is back */
	int64_t deadline_ms;  /* of one call; 0: 30 s */
	int64_t outage_ms;    /* how long a server may be away; 0: 60 s */
	uint32_t attempts;    /* of one call, outages not counted; 0: 5 */
	int64_t preflight_ms; /* of a first call, and of one to a server given up before; 0: 5 s */
};

struct lookup_tally {
	uint64_t asked, found, not_found, outputs_evicted, refused, invalid, too_large, errors;
	uint64_t unreachable; /* given up, answers of LOOKUP_UNREACHABLE */
	uint64_t retries;
	uint64_t bytes;
};

struct lookup;

/* Fills *out_request (its texts borrowed until its answer). 1; 0: none left; -1. */
typedef int lookup_source_fn(void *context, struct lookup_request *out_request, struct err *err);
/* Takes an answer. -1 stops the engine, which passes the error on. */
typedef int lookup_sink_fn(void *context, const struct lookup_answer *answer, struct err *err);

/* Takes over the transport (freed by lookup_free). */
struct lookup *lookup_new(struct transport *transport, const struct lookup_options *options);
void lookup_free(struct lookup *lookup);

/*
 * One call without waiting and without retries, to tell configuration errors
 * apart at once; only while no other is under way. 0: the server answered, and
 * `sink` has the answer (also of PERMISSION_DENIED and INVALID_ARGUMENT, which may
 * be true of this one instance only); -1: the sink's own error, or ERR_NET: err
 * says in one line what is wrong: unreachable, not authenticated, no action cache
 * there.
 */
int lookup_preflight(struct lookup *lookup, const struct lookup_request *request,
		     lookup_sink_fn *sink, void *context, struct err *err);

/*
 * Asks for everything that `source` gives and hands each answer to `sink`, each
 * request once, in any order. 0: all answered (a server that stays away for
 * outage_ms answers LOOKUP_UNREACHABLE for the rest; the next run then tries it
 * for preflight_ms only); -1: source, sink or transport failed, or
 * lookup_interrupt(): calls in flight are given up then, and only
 * lookup_finish() and lookup_free() may follow.
 */
int lookup_run(struct lookup *lookup, lookup_source_fn *source, lookup_sink_fn *sink, void *context,
	       struct err *err);
/*
 * The same in steps, beside other work: starts what can be started, takes the answers
 * that are there, and does not wait. `source` is asked anew at each step: what it has
 * none of now may come. Calls stay in flight behind it; whoever goes on with them
 * (another step, or lookup_run()) has to give a sink that knows their ids. A server
 * that has gone is asked nothing new, and what waits for it is answered
 * LOOKUP_UNREACHABLE. 0; -1: as lookup_run().
 */
int lookup_poll(struct lookup *lookup, lookup_source_fn *source, lookup_sink_fn *sink,
		void *context, struct err *err);
const struct lookup_tally *lookup_tally(const struct lookup *lookup);
/*
 * google.rpc.Code of the last failure that was no answer to a question: after a
 * preflight that failed, 14 or 4 for silence, 16 for refused credentials. 0: none.
 */
int lookup_fault(const struct lookup *lookup);
/* All is asked: puts a recording in its place. -1: it could not be written. */
int lookup_finish(struct lookup *lookup, struct err *err);
/* Makes lookup_run() return soon, now or whenever it is called; safe in a signal handler. */
void lookup_interrupt(void);

#endif
