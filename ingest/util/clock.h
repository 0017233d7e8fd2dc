/* The two clocks. Pure stages get their times as parameters instead. */
#ifndef BR2_CLOCK_H
#define BR2_CLOCK_H

#include <stdint.h>

/* Nanoseconds since the Unix epoch. */
int64_t clock_now_ns(void);
/* Milliseconds of a clock that only goes forward. */
int64_t clock_monotonic_ms(void);

#endif
