#include "store_measured.h"

#define WALL_NS_MAX (INT64_C(366) * 86400 * 1000000000)
/* Linux counts no more CPUs on x86-64 (arch/x86/Kconfig, NR_CPUS_RANGE_END), nor, with four
 * levels of page tables, more memory than 46 bits address (MAX_PHYSMEM_BITS). */
#define CPUS_MAX 8192
#define RSS_BYTES_MAX (INT64_C(1) << 46)
/* As where cores are computed: a shorter time is no measure. */
#define WALL_NS_MIN 1000000

/* ---- sums that hostile numbers could overflow: then unknown ---- */

static int64_t add_known(int64_t a, int64_t b)
{
	int64_t sum;

	if (a == UNKNOWN || b == UNKNOWN || __builtin_add_overflow(a, b, &sum))
		return UNKNOWN;
	return sum;
}

int64_t distance_ns(int64_t from_ns, int64_t to_ns)
{
	int64_t ns;

	if (from_ns == UNKNOWN || to_ns == UNKNOWN || __builtin_sub_overflow(to_ns, from_ns, &ns))
		return UNKNOWN;
	return ns;
}

/* ---- as said ---- */

/* A clock that ran backwards: unknown. */
static int64_t wall_of(const struct result *result)
{
	int64_t wall_ns = result->virtual_ns;

	if (wall_ns == UNKNOWN)
		wall_ns = distance_ns(result->time_ns[TIME_EXECUTION_START],
				      result->time_ns[TIME_EXECUTION_COMPLETED]);
	return wall_ns < 0 ? UNKNOWN : wall_ns;
}

static int64_t cpu_of(const struct result *result)
{
	int64_t cpu_ns = UNKNOWN;

	if (result->has_rusage)
		cpu_ns = add_known(result->rusage.user_ns, result->rusage.system_ns);
	return cpu_ns < 0 ? UNKNOWN : cpu_ns;
}

/* ---- as believed ---- */

static bool is_too_much_cpu(int64_t cpu_ns, int64_t wall_ns)
{
	if (wall_ns == UNKNOWN)
		return cpu_ns > WALL_NS_MAX;
	return cpu_ns / CPUS_MAX >= (wall_ns > WALL_NS_MIN ? wall_ns : WALL_NS_MIN);
}

static bool move(int64_t *from, int64_t *to)
{
	*to = *from;
	*from = UNKNOWN;
	return true;
}

bool measured_of(const struct result *result, struct measured *out, struct measured *out_beyond)
{
	bool is_beyond = false;

	*out = (struct measured){
		.wall_ns = wall_of(result),
		.cpu_ns = cpu_of(result),
		.max_rss_bytes = result->has_rusage ? result->rusage.max_rss_bytes : UNKNOWN,
	};
	*out_beyond = (struct measured){UNKNOWN, UNKNOWN, UNKNOWN};
	if (out->wall_ns > WALL_NS_MAX)
		is_beyond = move(&out->wall_ns, &out_beyond->wall_ns);
	if (is_too_much_cpu(out->cpu_ns, out->wall_ns))
		is_beyond = move(&out->cpu_ns, &out_beyond->cpu_ns);
	if (out->max_rss_bytes > RSS_BYTES_MAX)
		is_beyond = move(&out->max_rss_bytes, &out_beyond->max_rss_bytes);
	return is_beyond;
}
