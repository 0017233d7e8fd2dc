/* Why a package goes to its shape, in words: what plan_choose() looked at. */
#include "plan.h"

#define GIB 1073741824.0
#define MILLI 1000.0

static bool is_held(const struct shape *shape, const struct plan_need *need, double margin_pct)
{
	return (double)need->peak_bytes * (1 + margin_pct / 100) <=
	       (double)shape->memory_limit_bytes;
}

static void add_width(const struct shape *shape, const struct plan_need *need, struct buf *out)
{
	if (need->wide_milli == UNKNOWN)
		return;
	buf_addf(out, "; heavy: more than %.3g cores", (double)need->wide_milli / MILLI);
	if (shape->cpu_milli <= need->wide_milli)
		buf_addstr(out, ", which no shape that holds it has");
}

void plan_reason(const struct plan *plan, const struct plan_package *package, struct buf *out)
{
	const struct shape *shape = &plan->places[plan_place_of(plan, package)].shape;
	const struct plan_need *need = &package->need;
	double margin_pct = plan->known.settings.margin_pct;

	if (need->peak_bytes == UNKNOWN) {
		buf_addstr(out, "its memory is not known: the largest");
		return;
	}
	buf_addf(out, "%s its %.3g GiB and %.10g %% more",
		 is_held(shape, need, margin_pct) ? "holds" : "the largest, and does not hold",
		 (double)need->peak_bytes / GIB, margin_pct);
	add_width(shape, need, out);
}
