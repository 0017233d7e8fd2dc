/*
 * A transport of the lookup engine that is a server in virtual time: no call
 * waits for real, an outage of a minute takes none. For tests.
 */
#ifndef BR2_FAKE_SERVER_H
#define BR2_FAKE_SERVER_H

#include "lookup.h"

#define FAKE_SLOTS_MAX 256

/* What becomes of one call. */
struct fate {
	int64_t latency_ms; /* beyond the call's timeout: DEADLINE_EXCEEDED then */
	int code;
	const char *message;
	const char *data; /* code 0 */
};

struct fake_call {
	bool used;
	int64_t due_ms;
	struct fate fate;
};

struct fake_server {
	struct transport base;
	int64_t now_ms;
	/* Decides; `self->token` and `self->now_ms` stand as at the start. */
	struct fate (*fate)(struct fake_server *self, const struct lookup_request *request);
	void *context;

	/* Connections fail from the first to the second; calls in flight at the first too. */
	int64_t away_from_ms, away_until_ms;
	/* Nothing is answered in between: what is in flight waits for the end of it. */
	int64_t mute_from_ms, mute_until_ms;
	int token, fresh_token; /* refresh() takes the second for the first */

	struct fake_call calls[FAKE_SLOTS_MAX];
	uint32_t flying, most_flying;
	uint64_t starts, starts_away, refreshes;
	uint32_t fail_start, fail_wait; /* the nth from now on; 0: none */
	bool freed;
};

/* A server that finds everything in 1 ms. */
void fake_server_init(struct fake_server *server, uint32_t slots);

#endif
