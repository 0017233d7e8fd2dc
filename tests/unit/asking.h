/*
 * The lookup engine at work on a fake server: a source of requests with ids from
 * 0, and a sink that counts what became of each. For tests.
 */
#ifndef BR2_ASKING_H
#define BR2_ASKING_H

#include "fake_server.h"

/* One run: `count` requests with ids from 0, and what became of each. */
struct asking {
	struct fake_server server;
	struct lookup *lookup;
	struct err err;
	int64_t count, next;
	struct {
		unsigned int answers;
		enum lookup_outcome outcome;
		int code;
	} * ids;
	char message[200]; /* of the last answer */
	int64_t fail_source_at, fail_sink_at, interrupt_at;
	int64_t begun_ms;
};

void asking_init(struct asking *asking, uint32_t in_flight, int64_t count);
void asking_release(struct asking *asking);
/* The source and the sink; `context` is a struct asking. */
int asking_next(void *context, struct lookup_request *out_request, struct err *err);
int asking_take(void *context, const struct lookup_answer *answer, struct err *err);
/* Makes the engine where there is none yet, and runs it. `options` may be NULL. */
int asking_run(struct asking *asking, const struct lookup_options *options);
/* Virtual time since asking_init(). */
int64_t asking_took_ms(const struct asking *asking);
/* Fails unless each id was answered exactly once; returns how many have this outcome. */
int64_t asking_count(const struct asking *asking, enum lookup_outcome outcome);
/* Each was found. */
void assert_all_found(const struct asking *asking);

#endif
