/* A plan as a page for people: tables, then what they rest on. */
#include "plan.h"

#include "util/grid.h"
#include "util/safe.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#define NS_PER_S 1e9
#define NS_PER_H 3.6e12
#define GIB 1073741824.0
#define MILLI 1000.0

/* Executions listed; --json lists all. */
#define LINES_SHOWN 20
/* As much of a trace id as people need. */
#define ID_SHOWN 8
/* A replay of what ran that is further off says that the model misses something. */
#define TRUSTED_PCT 10.0

/* Packages named of a shape; --json has all. */
#define PACKAGES_SHOWN 10

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ---- cells ---- */

static void add_scaled(struct grid *grid, int64_t number, double unit, int decimals)
{
	if (number == UNKNOWN)
		grid_unknown(grid);
	else
		grid_real(grid, (double)number / unit, decimals);
}

static void add_count(struct grid *grid, int64_t number)
{
	if (number == UNKNOWN)
		grid_unknown(grid);
	else
		grid_integer(grid, number);
}

static void add_workers(struct grid *grid, size_t min, size_t max)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "%zu-%zu", min, max);
	grid_text(grid, (struct str){text.data, text.len});
	buf_release(&text);
}

static void end_table(struct grid *grid, const char *title, struct buf *out)
{
	buf_addf(out, "\n%s\n", title);
	grid_add(grid, 2, out);
	grid_free(grid);
}

/* ---- tables ---- */

static void add_places(const struct plan *plan, struct buf *out)
{
	static const char *const names[] = {"shape",	 "cpu",	    "request_gib", "limit_gib",
					    "make_jobs", "workers", "cooldown_s",  "per_node",
					    "packages",	 "actions"};
	struct grid *grid = grid_new(names, COUNT(names));
	size_t i;

	for (i = 0; i < plan->place_count; i++) {
		const struct plan_place *place = &plan->places[i];

		grid_text(grid, place->shape.name);
		add_scaled(grid, place->shape.cpu_milli, MILLI, 2);
		add_scaled(grid, place->shape.memory_request_bytes, GIB, 2);
		add_scaled(grid, place->shape.memory_limit_bytes, GIB, 2);
		grid_integer(grid, place->jobs);
		add_workers(grid, place->workers_min, place->workers_max);
		add_scaled(grid, place->cooldown_ns, NS_PER_S, 0);
		add_count(grid, place->node_holds);
		grid_integer(grid, (int64_t)place->packages);
		grid_integer(grid, place->actions);
	}
	end_table(grid, plan->from_table ? "shapes (those of table shape)" : "shapes", out);
}

/* One cap for all plans, or what makes them unequal. */
static void add_cap(const struct plan *plan, struct buf *out)
{
	size_t i, shared = 0, own = 0, most = 0;

	for (i = 0; i < plan->place_count; i++) {
		const struct plan_place *place = &plan->places[i];

		shared += place->shares;
		own += !place->shares;
		most += place->shares ? 0 : place->workers_max;
	}
	if (shared)
		buf_addf(out,
			 "  at most %zu workers at once, %sof whatever shape, as many as today's "
			 "pools\n",
			 plan->total.together, own ? "without those of --max, " : "");
	if (shared)
		most += plan->total.together;
	if (own && most != plan->total.together)
		buf_addf(out,
			 "  by --max all shapes may have %zu workers at once, today's pools %zu: "
			 "plans of unequal size\n",
			 most, plan->total.together);
}

static void add_packages_of(const struct plan *plan, size_t number, struct buf *out)
{
	const struct plan_place *place = &plan->places[number];
	size_t i, shown = 0;

	if (!place->packages)
		return;
	buf_addf(out, "  on %.*s: ", (int)place->shape.name.len, place->shape.name.data);
	for (i = 0; i < plan->met_count && shown < PACKAGES_SHOWN; i++) {
		struct str name = plan->met[i]->name;

		if (plan_place_of(plan, plan->met[i]) != number)
			continue;
		buf_addf(out, "%s%.*s", shown++ ? ", " : "", (int)name.len, name.data);
	}
	if (shown < place->packages)
		buf_addf(out, " and %zu more: --json lists all", place->packages - shown);
	buf_addch(out, '\n');
}

/* Where packages go: all that is not named goes to the smallest. */
static void add_packages(const struct plan *plan, struct buf *out)
{
	size_t i, smallest = plan_smallest(plan);

	for (i = 0; i < plan->place_count; i++)
		if (i != smallest)
			add_packages_of(plan, i, out);
}

static void add_today(const struct plan *plan, struct buf *out)
{
	static const char *const names[] = {"pool",	  "cpu",	"request_gib",
					    "limit_gib",  "workers",	"concurrency",
					    "cooldown_s", "executions", "actions"};
	struct grid *grid = grid_new(names, COUNT(names));
	size_t i;

	for (i = 0; i < plan->today_count; i++) {
		const struct plan_today *pool = &plan->today[i];

		grid_text(grid, pool->pool);
		add_scaled(grid, pool->cpu_milli, MILLI, 2);
		add_scaled(grid, pool->memory_bytes, GIB, 2);
		add_scaled(grid, pool->limit_bytes, GIB, 2);
		add_workers(grid, pool->workers_min, pool->workers_max);
		grid_integer(grid, (int64_t)pool->concurrency);
		add_scaled(grid, pool->cooldown_ns, NS_PER_S, 0);
		grid_integer(grid, pool->executions);
		grid_integer(grid, pool->actions);
	}
	end_table(grid, "today (- not known)", out);
}

static void add_line(struct grid *grid, const struct plan_line *line)
{
	const struct plan_figures *f = line->figures;
	struct str id = line->execution->invocation;

	if (id.len > ID_SHOWN)
		id.len = ID_SHOWN;
	grid_text(grid, id);
	grid_text(grid, line->execution->project);
	grid_text(grid, line->execution->salt);
	grid_integer(grid, f[PLAN_SEEN].actions);
	grid_integer(grid, (int64_t)line->workers);
	add_scaled(grid, line->measured_ns, NS_PER_S, 1);
	add_scaled(grid, f[PLAN_SEEN].makespan_ns, NS_PER_S, 1);
	/* Nothing is "-0.0". */
	grid_real(grid, round(plan_difference_pct(line) * 10) / 10 + 0.0, 1);
	add_scaled(grid, f[PLAN_TODAY].makespan_ns, NS_PER_S, 1);
	add_scaled(grid, f[PLAN_SAME].makespan_ns, NS_PER_S, 1);
	add_scaled(grid, f[PLAN_JOBS].makespan_ns, NS_PER_S, 1);
}

static void add_lines(const struct plan *plan, struct buf *out)
{
	static const char *const names[] = {
		"execution",  "project",	"salt",	   "actions",  "workers", "measured_s",
		"replayed_s", "difference_pct", "today_s", "shapes_s", "jobs_s"};
	struct grid *grid = grid_new(names, COUNT(names));
	size_t i, shown = plan->line_count < LINES_SHOWN ? plan->line_count : LINES_SHOWN;

	for (i = 0; i < shown; i++)
		add_line(grid, &plan->lines[i]);
	end_table(grid, "makespans, the latest execution first", out);
	if (shown < plan->line_count)
		buf_addf(out, "  and %zu more: --json lists all\n", plan->line_count - shown);
}

/* A row of the table of totals: one figure of each plan. */
struct figure {
	const char *name;
	double unit; /* 1: a count */
	int decimals;
	int64_t (*of)(const struct plan_figures *figures);
};

static int64_t makespan(const struct plan_figures *f)
{
	return f->makespan_ns;
}

static int64_t node_time(const struct plan_figures *f)
{
	return f->node_ns;
}

static int64_t worker_time(const struct plan_figures *f)
{
	return f->worker_ns;
}

static int64_t most_nodes(const struct plan_figures *f)
{
	return f->most_nodes;
}

static int64_t most_workers(const struct plan_figures *f)
{
	return f->most_workers;
}

static int64_t at_risk(const struct plan_figures *f)
{
	return f->at_risk;
}

static int64_t risk_unknown(const struct plan_figures *f)
{
	return f->risk_unknown;
}

static int64_t requested(const struct plan_figures *f)
{
	return f->requested_core_ns;
}

static const struct figure figures[] = {
	{"makespan_s", NS_PER_S, 1, makespan},
	{"node_h", NS_PER_H, 3, node_time},
	{"worker_h", NS_PER_H, 3, worker_time},
	{"most_nodes", 1, 0, most_nodes},
	{"most_workers", 1, 0, most_workers},
	{"queued_s", NS_PER_S, 1, plan_wait_sum},
	{"queued_p90_s", NS_PER_S, 1, plan_wait_p90},
	{"queued_max_s", NS_PER_S, 1, plan_wait_max},
	{"at_risk", 1, 0, at_risk},
	{"risk_unknown", 1, 0, risk_unknown},
	{"requested_core_h", NS_PER_H, 3, requested},
};

/* Whatever the plan, the same. */
static void add_used(struct grid *grid, const struct plan *plan)
{
	size_t i;

	grid_text(grid, STR("used_core_h"));
	for (i = 0; i < PLAN_VARIANTS; i++)
		add_scaled(grid, plan->total.cpu_ns, NS_PER_H, 3);
}

static void add_total(const struct plan *plan, struct buf *out)
{
	static const char *const names[] = {"", "today_as_seen", "today_scaled", "shapes",
					    "shapes_by_jobs"};
	struct grid *grid = grid_new(names, COUNT(names));
	size_t i, k;

	for (i = 0; i < COUNT(figures); i++) {
		grid_text(grid, str_of(figures[i].name));
		for (k = 0; k < PLAN_VARIANTS; k++)
			add_scaled(grid, figures[i].of(&plan->total.figures[k]), figures[i].unit,
				   figures[i].decimals);
	}
	add_used(grid, plan);
	end_table(grid, "all executions together, each replayed on its own", out);
}

/* ---- what they rest on ---- */

static void add_rules(const struct plan *plan, struct buf *out)
{
	const struct plan_settings *s = &plan->known.settings;

	buf_addf(out,
		 "\nrules\n"
		 "  A package goes to the smallest shape whose limit holds the most memory that "
		 "any\n"
		 "  execution of it is known to have had and %.10g %% more; where it is heavy, to "
		 "the smallest\n"
		 "  of these with more cores than setting heavy_cores, if there is one; to the "
		 "largest where\n"
		 "  nothing of it is known.\n"
		 "  Actions arrive as recorded (a log holds no dependencies), first come, first "
		 "served:\n"
		 "  where actions take longer, makespans are lower bounds.\n"
		 "  Scaled: from the minimum of workers, one more wanted while actions wait and "
		 "there\n"
		 "  %.3g s later; it goes after its cooldown, which counts as its time, or when "
		 "another\n"
		 "  shape's action waits for its place: the one that waits longest gets it.\n"
		 "  today: what the newest execution on each pool was given, or pool_spec since; "
		 "an\n"
		 "  execution was given what its first action was. today_as_seen has its own.\n",
		 s->margin_pct, (double)s->start_ns / NS_PER_S);
	buf_addf(out,
		 "  Durations on another shape are not known: unchanged is one bound; by make -jN, "
		 "a\n"
		 "  command runs cpu / min(its average cores, N), the other. N = min(cores + "
		 "%.10g,\n  limit / %.3g GiB).\n",
		 s->jobs.extra, (double)s->jobs.bytes_per_job / GIB);
	buf_addf(out,
		 "  at_risk: the peak is over the limit. A peak is the largest process where no "
		 "container\n"
		 "  was sampled, so a lower bound; risk_unknown: no peak, or killed before it.\n"
		 "  requested_core_h and nodes count a worker's pod whole, %.3g cores and %.3g GiB "
		 "more\n"
		 "  than its shape; nodes are filled first fit and go when empty.\n",
		 (double)s->overhead_cpu_milli / MILLI, (double)s->overhead_bytes / GIB);
}

static void add_note(struct buf *out, int64_t count, const char *noun, const char *what)
{
	if (count)
		buf_addf(out, "  %" PRId64 " %s%s %s\n", count, noun, count == 1 ? "" : "s", what);
}

static int64_t count_untrusted(const struct plan *plan)
{
	int64_t count = 0;
	size_t i;

	for (i = 0; i < plan->line_count; i++) {
		double pct = plan_difference_pct(&plan->lines[i]);

		count += pct > TRUSTED_PCT || pct < -TRUSTED_PCT;
	}
	return count;
}

/* What a values file of the workers' chart would tell. */
static void add_unknown_today(const struct plan *plan, struct buf *out)
{
	bool requests = false, limit = false, scaling = false;
	size_t i;

	for (i = 0; i < plan->today_count; i++) {
		requests |= plan->today[i].cpu_milli == UNKNOWN ||
			    plan->today[i].memory_bytes == UNKNOWN;
		limit |= plan->today[i].limit_bytes == UNKNOWN;
		scaling |= !plan->today[i].scaling_known;
	}
	if (requests)
		buf_addstr(out, "  what today's workers request: no node-hours of theirs\n");
	if (limit)
		buf_addstr(out, "  a memory limit of today's workers: what is at risk there\n");
	if (scaling)
		buf_addstr(out,
			   "  how today's pools are scaled: up to as many workers as were seen\n");
	if (requests || limit || scaling)
		buf_addstr(out,
			   "  br2-ingest --values values.yaml --valid-from DATE tells these\n");
}

static void add_unknown(const struct plan *plan, struct buf *out)
{
	const struct plan_line *total = &plan->total;
	size_t i;

	add_note(out, count_untrusted(plan), "execution",
		 "replayed over 10 % off: workers had other work, or not all is known");
	add_note(out, plan->empty, "execution",
		 "left out: of none of its actions is known when a worker had it");
	add_note(out, total->no_times, "action", "left out: when a worker had it is not known");
	add_note(out, total->no_queued, "action", "queued at an unknown time: arrives when begun");
	add_note(out, total->no_cpu, "action", "without CPU time: as long on every shape");
	add_note(out, plan->known.nameless, "result",
		 "of this file that names no invocation: in no plan");
	for (i = 0; i < plan->today_count; i++)
		add_note(out, plan->today[i].otherwise, "execution",
			 "given other requests or limits than today's: as long there as here");
	add_unknown_today(plan, out);
	if (!plan->has_node)
		buf_addstr(out, "  node-hours, which need a node: --node 16,32GiB\n");
	for (i = 0; i < plan->place_count; i++)
		if (plan->places[i].workers_min) {
			buf_addstr(out, "  what workers that always stay cost between builds\n");
			break;
		}
}

int plan_print_text(const struct plan *plan, const char *title, FILE *out, struct err *err)
{
	struct buf page = BUF_INIT;
	size_t before;
	int rc = 0;

	buf_addf(&page, "%s: %zu execution%s of builds, %" PRId64 " actions\n", title,
		 plan->line_count, plan->line_count == 1 ? "" : "s",
		 plan->total.figures[PLAN_SEEN].actions);
	add_places(plan, &page);
	add_cap(plan, &page);
	add_packages(plan, &page);
	add_today(plan, &page);
	add_lines(plan, &page);
	add_total(plan, &page);
	add_rules(plan, &page);
	buf_addstr(&page, "\nnot known\n");
	before = page.len;
	add_unknown(plan, &page);
	if (page.len == before)
		buf_addstr(&page, "  nothing\n");
	if (safe_print(out, (struct str){page.data, page.len}) < 0)
		rc = err_errno(err, ERR_IO, errno, "cannot write");
	buf_release(&page);
	return rc;
}
