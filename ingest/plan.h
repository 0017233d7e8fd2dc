/*
 * Stage 6, what-if: replays executions of builds on workers of other shapes, and
 * sets beside it what was measured, and today's shape under the same rules. Knows
 * the store alone; the clockwork is plan_sim.h, the rules are plan_rule.h.
 *
 * Each execution is replayed on its own, from an idle pool. Actions arrive as
 * recorded: a log holds no dependency edges, so what waits for a slower action does
 * not come later here, and a longer makespan is a lower bound.
 */
#ifndef BR2_PLAN_H
#define BR2_PLAN_H

#include "plan_data.h"
#include "util/buf.h"

#include <stdio.h>

enum plan_variant {
	PLAN_SEEN,  /* today's workers, as many as were seen, from when they were */
	PLAN_TODAY, /* today's workers, scaled by the same rules as what follows */
	PLAN_SAME,  /* the shapes given; actions take as long as they took */
	PLAN_JOBS,  /* the same; what ran on more cores than make has jobs there takes longer */
	PLAN_VARIANTS
};

/* Where neither the user nor pool_spec says: as the chart has it. */
#define PLAN_COOLDOWN_NS (300 * INT64_C(1000000000))
/* Nobody has more; what a spec says beyond is cut. */
#define PLAN_WORKERS_CAP 10000

/* --min and --max: so many workers of a shape. */
struct plan_bound {
	struct str shape;
	int64_t workers;
};

struct plan_options {
	const struct shape *shapes; /* none: those of table shape */
	const struct plan_bound *min, *max;
	size_t shape_count, min_count, max_count;
	const struct node_size *node; /* NULL: no node-hours */
	const char *const
		*executions; /* trace ids, or what they begin with; none: all of the scope */
	size_t execution_count;
	int64_t now_ns; /* what pool_spec says from later on is not of today */
};

/* NAME=N. -1 (ERR_USAGE): something else, or over PLAN_WORKERS_CAP. */
int plan_bound_parse(struct str text, struct plan_bound *out, struct err *err);

/* A shape in the plan. */
struct plan_place {
	struct shape shape;
	size_t workers_min, workers_max;
	bool shares; /* up to plan_line.together, with the others; else by --max, beside them */
	int64_t cooldown_ns;
	int64_t jobs; /* of make -jN */
	int64_t pod_cpu_milli, pod_memory_bytes;
	int64_t node_holds; /* pods on one node; UNKNOWN: no node was given */
	size_t packages;    /* that go there, of those that were replayed */
	int64_t actions;    /* of the executions replayed */
};

/*
 * A pool, as one execution found it, or as it is today: what the newest execution in
 * scope found, or pool_spec where a later row is in force.
 */
struct plan_today {
	struct str cache, pool;			      /* borrowed; NULL: not known */
	int64_t cpu_milli, memory_bytes, limit_bytes; /* UNKNOWN */
	size_t workers_min, workers_max;
	bool scaling_known; /* by pool_spec; else workers_max is the most seen */
	size_t concurrency;
	int64_t cooldown_ns;
	int64_t actions, executions;
	int64_t otherwise; /* executions that were given something else than today's */
};

/* One execution. */
struct plan_line {
	const struct plan_execution *execution;
	size_t workers;	 /* that were seen */
	size_t together; /* of all shapes that share: so many workers at most, as today's pools */
	int64_t measured_ns, cpu_ns;
	int64_t turn_ns; /* of a worker between two actions, as measured; see plan_sim.h */
	int64_t no_times, no_queued, no_cpu;	    /* see plan_rows */
	struct plan_figures figures[PLAN_VARIANTS]; /* finished */
};

struct plan {
	struct plan_known known;
	struct plan_executions executions;
	struct plan_place *places;
	struct plan_today *today;
	struct plan_line
		*lines; /* in the order of executions; those without a replay are left out */
	size_t place_count, today_count, line_count;
	bool from_table;		 /* the places are the rows of table shape */
	size_t *place_of;		 /* by place in known.packages */
	const struct plan_package **met; /* that were replayed, sorted by name */
	size_t met_count;
	int64_t empty; /* executions of which nothing can be replayed */
	struct plan_line total;
	bool has_node;
	struct node_size node;
};

/*
 * Fills *out, which the caller releases also after -1 (ERR_USAGE: no execution in
 * scope; a bound for no shape; a shape whose pod fits no node).
 */
int plan_make(struct store *store, const struct report_scope *scope,
	      const struct plan_options *options, struct plan *out, struct err *err);
void plan_release(struct plan *plan);

/* The shape that a known package goes to: an index. */
size_t plan_place_of(const struct plan *plan, const struct plan_package *package);
/* Why it goes there: adds words for people. */
void plan_reason(const struct plan *plan, const struct plan_package *package, struct buf *out);
/* The shape with the least memory limit, of equal ones the fewest cores: an index. */
size_t plan_smallest(const struct plan *plan);

/* How far the replay of what ran is from what was measured; NAN where that took no time. */
double plan_difference_pct(const struct plan_line *line);

/* Prints it for people; the title of the scope comes first. -1: cannot write. */
int plan_print_text(const struct plan *plan, const char *title, FILE *out, struct err *err);
/* As one JSON object. */
int plan_print_json(const struct plan *plan, FILE *out, struct err *err);

#endif
