#include "plan.h"

#include "plan_nodes.h"
#include "plan_table.h"
#include "plan_today.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- options ------------------------------------------------------------------------- */

int plan_bound_parse(struct str text, struct plan_bound *out, struct err *err)
{
	const char *at = text.len ? memchr(text.data, '=', text.len) : NULL;
	const char *end = text.data + text.len, *c;
	int64_t workers = 0;

	for (c = at ? at + 1 : end; c < end && *c >= '0' && *c <= '9'; c++)
		if (workers <= PLAN_WORKERS_CAP)
			workers = workers * 10 + (*c - '0');
	if (!at || at == text.data || at + 1 == end || c < end || workers > PLAN_WORKERS_CAP)
		return err_set(err, ERR_USAGE,
			       "'%.*s' is not a shape and a number of workers up to %d; "
			       "write NAME=N such as small=8",
			       text.len < 60 ? (int)text.len : 60, text.data ? text.data : "",
			       PLAN_WORKERS_CAP);
	*out = (struct plan_bound){{text.data, (size_t)(at - text.data)}, workers};
	return 0;
}

/* The last one counts; UNKNOWN: none is about the shape. */
static int64_t find_bound(const struct plan_bound *bounds, size_t count, struct str shape)
{
	int64_t workers = UNKNOWN;
	size_t i;

	for (i = 0; i < count; i++)
		if (str_equal(bounds[i].shape, shape))
			workers = bounds[i].workers;
	return workers;
}

static int check_bounds(const struct plan *plan, const char *option,
			const struct plan_bound *bounds, size_t count, struct err *err)
{
	size_t i, k;

	for (i = 0; i < count; i++) {
		for (k = 0; k < plan->place_count; k++)
			if (str_equal(plan->places[k].shape.name, bounds[i].shape))
				break;
		if (k == plan->place_count)
			return err_set(err, ERR_USAGE, "%s %.*s=%" PRId64 ": no shape of that name",
				       option, (int)bounds[i].shape.len, bounds[i].shape.data,
				       bounds[i].workers);
	}
	return 0;
}

/* ---- the shapes proposed --------------------------------------------------------------- */

/* The newest one, of any cluster: the pool that has the shape's name. */
static const struct plan_spec *spec_of_shape(const struct plan_known *known, struct str name)
{
	const struct plan_spec *newest = NULL;
	size_t i;

	for (i = 0; i < known->spec_count; i++)
		if (str_equal(known->specs[i].pool, name) &&
		    (!newest || known->specs[i].valid_from_ns >= newest->valid_from_ns))
			newest = &known->specs[i];
	return newest;
}

/* What is said first: the flag's, the spec's, the usual one. */
static size_t first_known(int64_t flag, int64_t spec, size_t usual)
{
	int64_t number = flag != UNKNOWN ? flag : spec;

	if (number == UNKNOWN || number < 0)
		return usual;
	return number > PLAN_WORKERS_CAP ? PLAN_WORKERS_CAP : (size_t)number;
}

static int scale_place(const struct plan *plan, const struct plan_options *options,
		       struct plan_place *place, struct err *err)
{
	struct str name = place->shape.name;
	const struct plan_spec *spec = spec_of_shape(&plan->known, name);
	int64_t min = find_bound(options->min, options->min_count, name);
	int64_t max = find_bound(options->max, options->max_count, name);

	place->workers_min = first_known(min, spec ? spec->workers_min : UNKNOWN, 0);
	place->workers_max = first_known(max, spec ? spec->workers_max : UNKNOWN, PLAN_WORKERS_MAX);
	place->cooldown_ns = PLAN_COOLDOWN_NS;
	if (spec && spec->cooldown_s >= 0 && spec->cooldown_s <= INT32_MAX)
		place->cooldown_ns = spec->cooldown_s * INT64_C(1000000000);
	if (max == UNKNOWN && place->workers_max < place->workers_min)
		place->workers_max = place->workers_min;
	if (place->workers_max < 1 || place->workers_max < place->workers_min)
		return err_set(err, ERR_USAGE,
			       "%.*s: at least 1 worker and no fewer than the minimum, %zu; "
			       "write --max %.*s=N",
			       (int)name.len, name.data, place->workers_min, (int)name.len,
			       name.data);
	return 0;
}

static int size_place(const struct plan *plan, struct plan_place *place, struct err *err)
{
	const struct plan_settings *settings = &plan->known.settings;
	const struct shape *shape = &place->shape;

	place->jobs = plan_jobs_of(shape, &settings->jobs);
	place->pod_cpu_milli = shape->cpu_milli + settings->overhead_cpu_milli;
	place->pod_memory_bytes = shape->memory_request_bytes + settings->overhead_bytes;
	place->node_holds = UNKNOWN;
	if (!plan->has_node)
		return 0;
	place->node_holds =
		plan_node_holds(&plan->node, place->pod_cpu_milli, place->pod_memory_bytes);
	if (place->node_holds)
		return 0;
	return err_set(err, ERR_USAGE,
		       "no node holds a worker of shape %.*s, whose pod requests %.3g cores and "
		       "%.3g GiB with its other containers",
		       (int)shape->name.len, shape->name.data, (double)place->pod_cpu_milli / 1000,
		       (double)place->pod_memory_bytes / 1073741824.0);
}

static int make_places(struct plan *plan, const struct plan_options *options, struct err *err)
{
	bool given = options->shape_count > 0;
	const struct shape *shapes = given ? options->shapes : plan->known.shapes;
	size_t i, count = given ? options->shape_count : plan->known.shape_count;

	if (!count)
		return err_set(err, ERR_USAGE,
			       "no shape: give --shape small=1.5,2GiB,4GiB, or add rows to table "
			       "shape");
	if (shapes_check_names(shapes, count, err) < 0)
		return -1;
	plan->places = xcalloc(count, sizeof(*plan->places));
	for (i = 0; i < count; i++) {
		struct plan_place *place = &plan->places[plan->place_count++];

		place->shape = shapes[i];
		if (scale_place(plan, options, place, err) < 0 || size_place(plan, place, err) < 0)
			return -1;
	}
	if (check_bounds(plan, "--min", options->min, options->min_count, err) < 0)
		return -1;
	return check_bounds(plan, "--max", options->max, options->max_count, err);
}

static void assign_packages(struct plan *plan)
{
	struct shape *shapes = xcalloc(plan->place_count, sizeof(*shapes));
	const struct plan_known *known = &plan->known;
	size_t i;

	for (i = 0; i < plan->place_count; i++)
		shapes[i] = plan->places[i].shape;
	plan->place_of = xcalloc(known->package_count + 1, sizeof(*plan->place_of));
	for (i = 0; i < known->package_count; i++)
		plan->place_of[i] = plan_choose(shapes, plan->place_count, &known->packages[i].need,
						known->settings.margin_pct);
	free(shapes);
}

/* ---- one execution ---------------------------------------------------------------------- */

/* Tables were read one after the other: what a writer added meanwhile is left out. */
static void drop_strangers(const struct plan_known *known, struct plan_rows *rows)
{
	size_t i, kept = 0;

	for (i = 0; i < rows->count; i++)
		if (plan_find_worker(known, rows->list[i].worker_id) &&
		    plan_find_package(known, rows->list[i].package_id))
			rows->list[kept++] = rows->list[i];
	rows->no_times += (int64_t)(rows->count - kept);
	rows->count = kept;
}

static void measure(const struct plan_rows *rows, struct plan_line *line)
{
	int64_t last_ns = rows->list[0].completed_ns;
	size_t i;

	for (i = 0; i < rows->count; i++) {
		if (rows->list[i].completed_ns > last_ns)
			last_ns = rows->list[i].completed_ns;
		if (rows->list[i].cpu_ns != UNKNOWN)
			line->cpu_ns = plan_add(line->cpu_ns, rows->list[i].cpu_ns);
	}
	line->measured_ns = last_ns - rows->list[0].arrival_ns;
	line->no_times = rows->no_times;
	line->no_queued = rows->no_queued;
	line->no_cpu = rows->no_cpu;
}

static bool is_same_today(const struct plan_today *a, const struct plan_today *b)
{
	return str_equal(a->pool, b->pool) && a->cpu_milli == b->cpu_milli &&
	       a->memory_bytes == b->memory_bytes && a->limit_bytes == b->limit_bytes &&
	       a->workers_min == b->workers_min && a->workers_max == b->workers_max &&
	       a->scaling_known == b->scaling_known && a->concurrency == b->concurrency &&
	       a->cooldown_ns == b->cooldown_ns;
}

static void note_today(struct plan *plan, const struct plan_today *pool)
{
	size_t i;

	for (i = 0; i < plan->today_count; i++)
		if (is_same_today(&plan->today[i], pool)) {
			plan->today[i].actions += pool->actions;
			plan->today[i].executions++;
			return;
		}
	plan->today = plan_grow(plan->today, plan->today_count, sizeof(*plan->today));
	plan->today[plan->today_count++] = *pool;
}

/* A node that is too small for today's workers tells nothing of them. */
static const struct node_size *node_for(const struct plan *plan, const struct plan_site *sites,
					size_t count)
{
	size_t i;

	for (i = 0; plan->has_node && i < count; i++)
		if (sites[i].pod_cpu_milli != UNKNOWN && sites[i].pod_memory_bytes != UNKNOWN &&
		    !plan_node_holds(&plan->node, sites[i].pod_cpu_milli,
				     sites[i].pod_memory_bytes))
			return NULL;
	return plan->has_node ? &plan->node : NULL;
}

static void replay_today(struct plan *plan, const struct plan_rows *rows, struct plan_line *line)
{
	const struct node_size *node;
	struct plan_sites sites;
	size_t i;

	plan_sites_make(&plan->known, line->execution, rows, &sites);
	node = node_for(plan, sites.scaled, sites.count);
	plan_replay(sites.seen, sites.count, rows->list, sites.site_of, rows->count, node,
		    &line->figures[PLAN_SEEN]);
	plan_replay(sites.scaled, sites.count, rows->list, sites.site_of, rows->count, node,
		    &line->figures[PLAN_TODAY]);
	line->workers = sites.workers;
	line->turn_ns = sites.turn_ns;
	for (i = 0; i < sites.count; i++)
		note_today(plan, &sites.pools[i]);
	plan_sites_release(&sites);
}

static struct plan_site site_of_place(const struct plan *plan, const struct plan_place *place,
				      int64_t turn_ns)
{
	return (struct plan_site){.pool = {.workers_min = place->workers_min,
					   .workers_max = place->workers_max,
					   .concurrency = 1,
					   .start_ns = plan->known.settings.start_ns,
					   .turn_ns = turn_ns,
					   .cooldown_ns = place->cooldown_ns},
				  .pod_cpu_milli = place->pod_cpu_milli,
				  .pod_memory_bytes = place->pod_memory_bytes,
				  .limit_bytes = place->shape.memory_limit_bytes,
				  .share = 1};
}

static void replay_proposed(struct plan *plan, const struct plan_rows *rows, struct plan_line *line)
{
	const struct node_size *node = plan->has_node ? &plan->node : NULL;
	struct plan_site *sites = xcalloc(plan->place_count, sizeof(*sites));
	size_t i, *site_of = xcalloc(rows->count, sizeof(*site_of));

	for (i = 0; i < rows->count; i++) {
		const struct plan_package *package =
			plan_find_package(&plan->known, rows->list[i].package_id);

		site_of[i] = plan->place_of[package - plan->known.packages];
		plan->places[site_of[i]].actions++;
	}
	for (i = 0; i < plan->place_count; i++)
		sites[i] = site_of_place(plan, &plan->places[i], line->turn_ns);
	plan_replay(sites, plan->place_count, rows->list, site_of, rows->count, node,
		    &line->figures[PLAN_SAME]);
	for (i = 0; i < plan->place_count; i++)
		sites[i].jobs = plan->places[i].jobs;
	plan_replay(sites, plan->place_count, rows->list, site_of, rows->count, node,
		    &line->figures[PLAN_JOBS]);
	free(sites);
	free(site_of);
}

static void add_to_total(struct plan_line *total, const struct plan_line *line)
{
	size_t i;

	for (i = 0; i < PLAN_VARIANTS; i++)
		plan_figures_add(&total->figures[i], &line->figures[i]);
	total->measured_ns = plan_add(total->measured_ns, line->measured_ns);
	total->cpu_ns = plan_add(total->cpu_ns, line->cpu_ns);
	total->no_times += line->no_times;
	total->no_queued += line->no_queued;
	total->no_cpu += line->no_cpu;
	if (line->workers > total->workers)
		total->workers = line->workers;
}

static void finish_line(struct plan_line *line)
{
	size_t i;

	for (i = 0; i < PLAN_VARIANTS; i++)
		plan_finish(&line->figures[i]);
}

static void replay_execution(struct plan *plan, const struct plan_execution *execution,
			     const struct plan_rows *rows)
{
	struct plan_line *line;

	if (!rows->count) {
		plan->empty++;
		plan->total.no_times += rows->no_times;
		return;
	}
	line = &plan->lines[plan->line_count++];
	line->execution = execution;
	measure(rows, line);
	replay_today(plan, rows, line);
	replay_proposed(plan, rows, line);
	finish_line(line);
	add_to_total(&plan->total, line);
}

/* ---- all of them -------------------------------------------------------------------------- */

/* Packages of which something was replayed, by the shape that they go to. */
static void count_packages(struct plan *plan, const bool *met)
{
	size_t i;

	for (i = 0; i < plan->known.package_count; i++)
		if (met[i])
			plan->places[plan->place_of[i]].packages++;
}

static void meet_packages(const struct plan *plan, const struct plan_rows *rows, bool *met)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		met[plan_find_package(&plan->known, rows->list[i].package_id) -
		    plan->known.packages] = true;
}

static int replay_all(struct store *store, struct plan *plan, struct err *err)
{
	bool *met = xcalloc(plan->known.package_count + 1, sizeof(*met));
	struct plan_rows rows = {0};
	size_t i;
	int rc = 0;

	plan->lines = xcalloc(plan->executions.count + 1, sizeof(*plan->lines));
	for (i = 0; i < plan->executions.count && rc == 0; i++) {
		rc = plan_rows_load(store, &plan->executions.list[i], &rows, err);
		if (rc < 0)
			break;
		drop_strangers(&plan->known, &rows);
		meet_packages(plan, &rows, met);
		replay_execution(plan, &plan->executions.list[i], &rows);
	}
	count_packages(plan, met);
	finish_line(&plan->total);
	plan_rows_release(&rows);
	free(met);
	return rc;
}

int plan_make(struct store *store, const struct report_scope *scope,
	      const struct plan_options *options, struct plan *out, struct err *err)
{
	*out = (struct plan){.has_node = options->node != NULL};
	if (options->node)
		out->node = *options->node;
	if (plan_known_load(store, &out->known, err) < 0 || make_places(out, options, err) < 0 ||
	    plan_executions_load(store, scope, options->executions, options->execution_count,
				 &out->executions, err) < 0)
		return -1;
	assign_packages(out);
	if (replay_all(store, out, err) < 0)
		return -1;
	if (!out->line_count)
		return err_set(
			err, ERR_USAGE,
			"%s: nothing to replay: of no execution is known when a worker had it",
			scope->title.data);
	return 0;
}

double plan_difference_pct(const struct plan_line *line)
{
	if (!line->measured_ns)
		return NAN;
	return 100.0 * (double)(line->figures[PLAN_SEEN].makespan_ns - line->measured_ns) /
	       (double)line->measured_ns;
}

static void release_line(struct plan_line *line)
{
	size_t i;

	for (i = 0; i < PLAN_VARIANTS; i++)
		plan_figures_release(&line->figures[i]);
}

void plan_release(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->line_count; i++)
		release_line(&plan->lines[i]);
	release_line(&plan->total);
	free(plan->lines);
	free(plan->places);
	free(plan->today);
	free(plan->place_of);
	plan_executions_release(&plan->executions);
	plan_known_release(&plan->known);
	*plan = (struct plan){0};
}
