#include "lookup_breaker.h"

#define BACKOFF_FIRST_MS 50
#define BACKOFF_MAX_MS 2000

void breaker_init(struct breaker *breaker, int64_t outage_ms, uint64_t seed)
{
	*breaker = (struct breaker){.outage_ms = outage_ms, .random = seed | 1};
}

bool breaker_is_open(const struct breaker *breaker)
{
	return breaker->failures >= BREAKER_FAILURES;
}

int64_t breaker_end_ms(const struct breaker *breaker)
{
	return breaker->since_ms + breaker->outage_ms;
}

void breaker_failed(struct breaker *breaker, int64_t now_ms)
{
	if (!breaker->failures++)
		breaker->since_ms = now_ms;
	if (breaker->failures == BREAKER_FAILURES)
		breaker->probes = 0;
	if (breaker_is_open(breaker)) {
		breaker->probe_due_ms = now_ms + breaker_backoff_ms(breaker, breaker->probes++);
		if (breaker->probe_due_ms > breaker_end_ms(breaker))
			breaker->probe_due_ms = breaker_end_ms(breaker);
	}
	if (now_ms >= breaker_end_ms(breaker))
		breaker->gone = true;
}

void breaker_answered(struct breaker *breaker)
{
	breaker->failures = 0;
	breaker->gone = false;
}

void breaker_retry(struct breaker *breaker, int64_t now_ms, int64_t left_ms)
{
	breaker->gone = false;
	breaker->failures = BREAKER_FAILURES;
	breaker->since_ms = now_ms - breaker->outage_ms + left_ms;
	breaker->probes = 0;
	breaker->probe_due_ms = now_ms;
}

/* xorshift64 */
static uint64_t next_random(struct breaker *breaker)
{
	breaker->random ^= breaker->random << 13;
	breaker->random ^= breaker->random >> 7;
	breaker->random ^= breaker->random << 17;
	return breaker->random;
}

int64_t breaker_backoff_ms(struct breaker *breaker, uint32_t failures)
{
	int64_t bound = failures > 6 ? BACKOFF_MAX_MS : (int64_t)BACKOFF_FIRST_MS << failures;

	if (bound > BACKOFF_MAX_MS)
		bound = BACKOFF_MAX_MS;
	return (int64_t)(next_random(breaker) % (uint64_t)bound) + 1;
}
