/*
 * What is believed of the figures that a result says. Pure.
 *
 * A figure is not believed, that is unknown, where no machine could have made it: a
 * wall time of over 366 days; CPU time of more than 8,192 CPUs, or of over 366 days
 * where no wall time is believed; memory of over 64 TiB. A false one would pass all
 * sums and every recommendation. What is merely odd is believed: nobody knows the
 * nodes that a build ran on.
 */
#ifndef BR2_STORE_MEASURED_H
#define BR2_STORE_MEASURED_H

#include "model.h"

#include <stdbool.h>

/* Each UNKNOWN where it is not said. */
struct measured {
	int64_t wall_ns; /* the worker's own measure, else the two timestamps */
	int64_t cpu_ns;	 /* user and system */
	int64_t max_rss_bytes;
};

/* True: something is not believed; it is in *out_beyond, all else there is UNKNOWN. */
bool measured_of(const struct result *result, struct measured *out, struct measured *out_beyond);

/* Between two times; UNKNOWN where one of them is, or where no integer holds it. */
int64_t distance_ns(int64_t from_ns, int64_t to_ns);

#endif
