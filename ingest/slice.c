#include "slice.h"

#include "util/clock.h"

#define AGE_MAX_MS 1000

int slice_open(struct slice *slice, struct err *err)
{
	if (slice->open)
		return 0;
	if (store_begin(slice->store, err) < 0)
		return -1;
	slice->open = true;
	slice->weight = 0;
	slice->begun_ms = clock_monotonic_ms();
	return 0;
}

int slice_add(struct slice *slice, uint64_t weight, struct err *err)
{
	slice->weight += weight;
	if (slice->weight < STORE_SLICE_ACTIONS &&
	    clock_monotonic_ms() - slice->begun_ms < AGE_MAX_MS)
		return 0;
	return slice_commit(slice, err);
}

int slice_commit(struct slice *slice, struct err *err)
{
	if (!slice->open)
		return 0;
	slice->open = false;
	return store_commit(slice->store, err) < 0 ? -1 : store_key_lookups(slice->store, err);
}

void slice_drop(struct slice *slice)
{
	if (slice->open)
		store_rollback(slice->store);
	slice->open = false;
}
