#include "plan.h"

#include "plan_nodes.h"
#include "plan_table.h"
#include "plan_today.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- options ---- */

int plan_bound_parse(struct str text, struct plan_bound *out, struct err *err)
{
	const char *at = text.len ? memchr(text.data, '=', text.len) : NULL;
	size_t name = at ? (size_t)(at - text.data) : text.len, i = name + 1;
	int64_t workers = 0;

	for (; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++)
		if (workers <= PLAN_WORKERS_CAP)
			workers = workers * 10 + (text.data[i] - '0');
	if (!name || name + 1 >= text.len || i < text.len || workers > PLAN_WORKERS_CAP)
		return err_set(err, ERR_USAGE,
			       "'%.*s' is not a shape and a number of workers up to %d; "
			       "write NAME=N such as small=8",
			       text.len < 60 ? (int)text.len : 60, text.data ? text.data : "",
			       PLAN_WORKERS_CAP);
	*out = (struct plan_bound){{text.data, name}, workers};
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

/* ---- the shapes proposed ---- */

/* The row in force of the pool that has the shape's name, of any cluster; one retired tells
 * nothing. */
static const struct plan_spec *spec_of_shape(const struct plan_known *known, struct str name,
					     int64_t now_ns)
{
	const struct plan_spec *newest = NULL;
	size_t i;

	for (i = 0; i < known->spec_count; i++) {
		const struct plan_spec *spec = &known->specs[i];

		if (str_equal(spec->pool, name) && !spec->retired &&
		    plan_find_spec(known, spec->cache, name, now_ns) == spec &&
		    (!newest || spec->valid_from_ns >= newest->valid_from_ns))
			newest = spec;
	}
	return newest;
}

static int scale_place(const struct plan *plan, const struct plan_options *options,
		       struct plan_place *place, struct err *err)
{
	struct str name = place->shape.name;
	const struct plan_spec *spec = spec_of_shape(&plan->known, name, options->now_ns);
	int64_t min = find_bound(options->min, options->min_count, name);
	int64_t max = find_bound(options->max, options->max_count, name);

	if (min == UNKNOWN && spec && spec->workers_min > 0)
		min = spec->workers_min < PLAN_WORKERS_CAP ? spec->workers_min : PLAN_WORKERS_CAP;
	place->workers_min = min == UNKNOWN ? 0 : (size_t)min;
	place->shares = max == UNKNOWN;
	place->workers_max = max == UNKNOWN ? 0 : (size_t)max;
	place->cooldown_ns = PLAN_COOLDOWN_NS;
	if (spec && spec->cooldown_s >= 0 && spec->cooldown_s <= INT32_MAX)
		place->cooldown_ns = spec->cooldown_s * INT64_C(1000000000);
	if (!place->shares && (place->workers_max < 1 || place->workers_max < place->workers_min))
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
	place->pod_cpu_milli = plan_add(shape->cpu_milli, settings->overhead_cpu_milli);
	place->pod_memory_bytes = plan_add(shape->memory_request_bytes, settings->overhead_bytes);
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
	plan->from_table = !given;
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

/* ---- one execution ---- */

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

static void replay_today(struct plan *plan, const struct plan_todays *todays,
			 const struct plan_rows *rows, struct plan_line *line)
{
	const struct node_size *node;
	struct plan_site *scaled;
	struct plan_sites sites;

	plan_sites_make(&plan->known, line->execution, rows, &sites);
	scaled = plan_todays_sites(todays, &plan->known, &sites);
	node = node_for(plan, sites.seen, sites.count);
	plan_replay(sites.seen, sites.count, 0, rows->list, sites.site_of, rows->count, node,
		    &line->figures[PLAN_SEEN]);
	node = node_for(plan, scaled, sites.count);
	plan_replay(scaled, sites.count, 0, rows->list, sites.site_of, rows->count, node,
		    &line->figures[PLAN_TODAY]);
	line->workers = sites.workers;
	line->together = plan_todays_workers(todays, &sites);
	line->turn_ns = sites.turn_ns;
	free(scaled);
	plan_sites_release(&sites);
}

static struct plan_site site_of_place(const struct plan *plan, const struct plan_place *place,
				      const struct plan_line *line)
{
	size_t most = place->shares ? line->together : place->workers_max;

	return (struct plan_site){.pool = {.workers_min = place->workers_min,
					   .workers_max = most,
					   .concurrency = 1,
					   .shares = place->shares,
					   .start_ns = plan->known.settings.start_ns,
					   .turn_ns = line->turn_ns,
					   .cooldown_ns = place->cooldown_ns},
				  .pod_cpu_milli = place->pod_cpu_milli,
				  .pod_memory_bytes = place->pod_memory_bytes,
				  .limit_bytes = place->shape.memory_limit_bytes,
				  .share = 1};
}

/* No shape whose actions wait is left without a worker by those that always stay. */
static void widen_together(const struct plan *plan, struct plan_line *line)
{
	size_t i, least = 0;
	bool none_stays = false;

	for (i = 0; i < plan->place_count; i++) {
		least += plan->places[i].shares ? plan->places[i].workers_min : 0;
		none_stays |= plan->places[i].shares && !plan->places[i].workers_min;
	}
	if (line->together < least + none_stays)
		line->together = least + none_stays;
}

static void replay_proposed(struct plan *plan, const struct plan_rows *rows, struct plan_line *line)
{
	const struct node_size *node = plan->has_node ? &plan->node : NULL;
	struct plan_site *sites = xcalloc(plan->place_count, sizeof(*sites));
	size_t i, *site_of = xcalloc(rows->count, sizeof(*site_of));

	for (i = 0; i < rows->count; i++) {
		const struct plan_package *package =
			plan_find_package(&plan->known, rows->list[i].package_id);

		site_of[i] = plan_place_of(plan, package);
		plan->places[site_of[i]].actions++;
	}
	for (i = 0; i < plan->place_count; i++)
		sites[i] = site_of_place(plan, &plan->places[i], line);
	plan_replay(sites, plan->place_count, line->together, rows->list, site_of, rows->count,
		    node, &line->figures[PLAN_SAME]);
	for (i = 0; i < plan->place_count; i++)
		sites[i].jobs = plan->places[i].jobs;
	plan_replay(sites, plan->place_count, line->together, rows->list, site_of, rows->count,
		    node, &line->figures[PLAN_JOBS]);
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
	if (line->together > total->together)
		total->together = line->together;
}

static void finish_line(struct plan_line *line)
{
	size_t i;

	for (i = 0; i < PLAN_VARIANTS; i++)
		plan_finish(&line->figures[i]);
}

static void replay_execution(struct plan *plan, const struct plan_todays *todays,
			     const struct plan_execution *execution, const struct plan_rows *rows)
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
	replay_today(plan, todays, rows, line);
	widen_together(plan, line);
	replay_proposed(plan, rows, line);
	finish_line(line);
	add_to_total(&plan->total, line);
}

/* ---- all of them ---- */

/* Ids depend on the order of ingests; names do not. */
static int by_name(const void *a, const void *b)
{
	struct str x = (*(const struct plan_package *const *)a)->name;
	struct str y = (*(const struct plan_package *const *)b)->name;
	size_t shorter = x.len < y.len ? x.len : y.len;
	int by = shorter ? memcmp(x.data, y.data, shorter) : 0;

	return by ? by : (x.len > y.len) - (x.len < y.len);
}

static void list_packages(struct plan *plan, const bool *met)
{
	size_t i;

	plan->met = xcalloc(plan->known.package_count + 1, sizeof(*plan->met));
	for (i = 0; i < plan->known.package_count; i++)
		if (met[i]) {
			plan->met[plan->met_count++] = &plan->known.packages[i];
			plan->places[plan->place_of[i]].packages++;
		}
	if (plan->met_count)
		qsort(plan->met, plan->met_count, sizeof(*plan->met), by_name);
}

static void meet_packages(const struct plan *plan, const struct plan_rows *rows, bool *met)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		met[plan_find_package(&plan->known, rows->list[i].package_id) -
		    plan->known.packages] = true;
}

/* What all executions tell of today comes before each is replayed on it. */
static int load_rows(struct store *store, struct plan *plan, int64_t now_ns, struct plan_rows *rows,
		     struct plan_todays *todays, struct err *err)
{
	struct plan_sites sites;
	size_t i;

	for (i = 0; i < plan->executions.count; i++) {
		const struct plan_execution *execution = &plan->executions.list[i];

		if (plan_rows_load(store, execution, &rows[i], err) < 0)
			return -1;
		drop_strangers(&plan->known, &rows[i]);
		if (!rows[i].count)
			continue;
		plan_sites_make(&plan->known, execution, &rows[i], &sites);
		plan_todays_note(todays, &plan->known, &sites, rows[i].list[0].arrival_ns, now_ns);
		plan_sites_release(&sites);
	}
	return 0;
}

static void replay_all(struct plan *plan, const struct plan_todays *todays,
		       const struct plan_rows *rows)
{
	bool *met = xcalloc(plan->known.package_count + 1, sizeof(*met));
	size_t i;

	plan->lines = xcalloc(plan->executions.count + 1, sizeof(*plan->lines));
	for (i = 0; i < plan->executions.count; i++) {
		meet_packages(plan, &rows[i], met);
		replay_execution(plan, todays, &plan->executions.list[i], &rows[i]);
	}
	for (i = 0; i < plan->place_count; i++)
		if (plan->places[i].shares)
			plan->places[i].workers_max = plan->total.together;
	list_packages(plan, met);
	finish_line(&plan->total);
	free(met);
}

static int load_and_replay(struct store *store, struct plan *plan, int64_t now_ns, struct err *err)
{
	struct plan_rows *rows = xcalloc(plan->executions.count + 1, sizeof(*rows));
	struct plan_todays todays = {0};
	size_t i;
	int rc = load_rows(store, plan, now_ns, rows, &todays, err);

	plan->today = todays.list;
	plan->today_count = todays.count;
	if (rc == 0)
		replay_all(plan, &todays, rows);
	for (i = 0; i < plan->executions.count; i++)
		plan_rows_release(&rows[i]);
	free(rows);
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
	if (load_and_replay(store, out, options->now_ns, err) < 0)
		return -1;
	if (!out->line_count)
		return err_set(
			err, ERR_USAGE,
			"%s: nothing to replay: of no execution is known when a worker had it",
			scope->title.data);
	return 0;
}

size_t plan_place_of(const struct plan *plan, const struct plan_package *package)
{
	return plan->place_of[package - plan->known.packages];
}

size_t plan_smallest(const struct plan *plan)
{
	size_t i, best = 0;

	for (i = 1; i < plan->place_count; i++) {
		const struct shape *a = &plan->places[i].shape, *b = &plan->places[best].shape;

		if (a->memory_limit_bytes < b->memory_limit_bytes ||
		    (a->memory_limit_bytes == b->memory_limit_bytes && a->cpu_milli < b->cpu_milli))
			best = i;
	}
	return best;
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
	free(plan->met);
	plan_executions_release(&plan->executions);
	plan_known_release(&plan->known);
	*plan = (struct plan){0};
}
