/*
 * Is the server away? The breaker counts failures since the last answer; from
 * BREAKER_FAILURES on it is open: calls are then started one at a time, as
 * probes, with growing pauses, until the server answers anything or was away
 * for outage_ms. Pure: it is told the time.
 */
#ifndef BR2_LOOKUP_BREAKER_H
#define BR2_LOOKUP_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#define BREAKER_FAILURES 8

struct breaker {
	int64_t outage_ms;
	uint32_t failures; /* since the last answer */
	int64_t since_ms;  /* of the first of these */
	bool gone;	   /* away for outage_ms: given up */
	uint32_t probes;   /* that were due since it opened */
	int64_t probe_due_ms;
	uint64_t random;
};

void breaker_init(struct breaker *breaker, int64_t outage_ms, uint64_t seed);
bool breaker_is_open(const struct breaker *breaker);
/* When the outage, if there is one, will have lasted for outage_ms. */
int64_t breaker_end_ms(const struct breaker *breaker);
/* A call was not answered. */
void breaker_failed(struct breaker *breaker, int64_t now_ms);
/* The server said something, whatever it was. */
void breaker_answered(struct breaker *breaker);
/* A server that is gone gets another chance, of `left_ms`. */
void breaker_retry(struct breaker *breaker, int64_t now_ms, int64_t left_ms);
/*
 * How long to wait after so many failures: "full jitter", anything up to a
 * bound that doubles, so that many clients do not come back in step.
 */
int64_t breaker_backoff_ms(struct breaker *breaker, uint32_t failures);

#endif
