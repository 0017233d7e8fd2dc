/* What a plan knows of settings, packages and workers: small tables, read once. */
#include "plan_data.h"

#include "plan_table.h"
#include "report_sql.h"
#include "util/mem.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_S 1e9
#define GIB 1073741824.0

/* ---- settings ---- */

/* What a setting may be at most, so that no sum overflows: ten years, a million cores, ... */
#define SETTING_MAX 3e8

struct setting {
	const char *key;
	double value;
};

static int take_settings(void *context, const struct row *row, struct err *err)
{
	struct setting *settings = context;
	size_t i;

	for (i = 0; i < row->count; i++) {
		const struct value *value = &row->values[i];

		settings[i].value = value->type == VALUE_INTEGER ? (double)value->integer
				    : value->type == VALUE_REAL	 ? value->real
								 : NAN;
		if (!(settings[i].value >= 0 && settings[i].value <= SETTING_MAX))
			return err_set(err, ERR_USAGE,
				       "setting %s is missing or too large; put it right in "
				       "table setting, or delete its row: the next ingest brings "
				       "it back as it was shipped",
				       settings[i].key);
	}
	return 0;
}

static int load_settings(struct store *store, struct plan_settings *out, struct err *err)
{
	/* In the order of the statement's columns; by the last ones the views judge. */
	struct setting settings[] = {{"worker_start_s", 0},    {"pod_overhead_cpu", 0},
				     {"pod_overhead_gib", 0},  {"sizing_margin_pct", 0},
				     {"make_gib_per_job", 0},  {"make_extra_jobs", 0},
				     {"heavy_wall_s", 0},      {"heavy_cores", 0},
				     {"heavy_cores_min_s", 0}, {"outlier_results", 0}};

	if (store_query(store, report_sql("plan_settings"), NULL, 0, take_settings, settings, err) <
	    0)
		return -1;
	*out = (struct plan_settings){
		.start_ns = (int64_t)(settings[0].value * NS_PER_S),
		.overhead_cpu_milli = (int64_t)ceil(settings[1].value * 1000),
		.overhead_bytes = (int64_t)ceil(settings[2].value * GIB),
		.margin_pct = settings[3].value,
		.jobs = {.bytes_per_job = (int64_t)(settings[4].value * GIB),
			 .extra = settings[5].value},
	};
	return 0;
}

/* ---- tables ---- */

static int take_package(void *context, const struct row *row, struct err *err)
{
	struct plan_known *known = context;
	const struct value *v = row->values;

	(void)err;
	known->packages =
		plan_grow(known->packages, known->package_count, sizeof(*known->packages));
	known->packages[known->package_count++] =
		(struct plan_package){v[0].integer,
				      plan_keep(&known->texts, &v[1]),
				      {plan_integer(&v[2]), plan_integer(&v[3])}};
	return 0;
}

static int take_worker(void *context, const struct row *row, struct err *err)
{
	struct plan_known *known = context;

	(void)err;
	known->workers = plan_grow(known->workers, known->worker_count, sizeof(*known->workers));
	known->workers[known->worker_count++] = (struct plan_worker){
		row->values[0].integer, plan_keep(&known->texts, &row->values[1])};
	return 0;
}

static int take_allotment(void *context, const struct row *row, struct err *err)
{
	struct plan_known *known = context;
	const struct value *v = row->values;

	(void)err;
	known->allotments =
		plan_grow(known->allotments, known->allotment_count, sizeof(*known->allotments));
	known->allotments[known->allotment_count++] = (struct plan_allotment){
		v[0].integer, plan_integer(&v[1]), plan_integer(&v[2]), plan_integer(&v[3])};
	return 0;
}

static int take_spec(void *context, const struct row *row, struct err *err)
{
	struct plan_known *known = context;
	const struct value *v = row->values;

	(void)err;
	known->specs = plan_grow(known->specs, known->spec_count, sizeof(*known->specs));
	known->specs[known->spec_count++] =
		(struct plan_spec){plan_keep(&known->texts, &v[0]),
				   plan_keep(&known->texts, &v[1]),
				   v[2].integer,
				   plan_integer(&v[3]),
				   plan_integer(&v[4]),
				   plan_integer(&v[5]),
				   plan_integer(&v[6]),
				   plan_integer(&v[7]),
				   plan_integer(&v[8]),
				   plan_integer(&v[9]),
				   v[10].type == VALUE_INTEGER && !v[10].integer};
	return 0;
}

static int take_shape(void *context, const struct row *row, struct err *err)
{
	struct plan_known *known = context;
	const struct value *v = row->values;

	(void)err;
	known->shapes = plan_grow(known->shapes, known->shape_count, sizeof(*known->shapes));
	known->shapes[known->shape_count++] = (struct shape){
		plan_keep(&known->texts, &v[0]), v[1].integer, v[2].integer, v[3].integer};
	return 0;
}

static int take_nameless(void *context, const struct row *row, struct err *err)
{
	struct plan_known *known = context;

	(void)err;
	known->nameless = row->values[0].integer;
	return 0;
}

int plan_known_load(struct store *store, struct plan_known *out, struct err *err)
{
	static const struct {
		const char *statement;
		store_row_fn *take;
	} tables[] = {
		{"plan_packages", take_package},     {"plan_workers", take_worker},
		{"plan_allotments", take_allotment}, {"plan_specs", take_spec},
		{"plan_shapes", take_shape},	     {"plan_nameless", take_nameless},
	};
	size_t i;

	*out = (struct plan_known){0};
	if (load_settings(store, &out->settings, err) < 0)
		return -1;
	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (store_query(store, report_sql(tables[i].statement), NULL, 0, tables[i].take,
				out, err) < 0)
			return -1;
	return 0;
}

void plan_known_release(struct plan_known *known)
{
	free(known->packages);
	free(known->workers);
	free(known->allotments);
	free(known->specs);
	free(known->shapes);
	plan_texts_release(&known->texts);
	*known = (struct plan_known){0};
}

/* ---- finding ---- */

/* An id is the first member of each row. */
static int by_id(const void *key, const void *row)
{
	int64_t a = *(const int64_t *)key, b = *(const int64_t *)row;

	return (a > b) - (a < b);
}

static const void *find(int64_t id, const void *rows, size_t count, size_t size)
{
	return count ? bsearch(&id, rows, count, size, by_id) : NULL;
}

const struct plan_package *plan_find_package(const struct plan_known *known, int64_t package_id)
{
	return find(package_id, known->packages, known->package_count, sizeof(*known->packages));
}

const struct plan_worker *plan_find_worker(const struct plan_known *known, int64_t worker_id)
{
	return find(worker_id, known->workers, known->worker_count, sizeof(*known->workers));
}

const struct plan_allotment *plan_find_allotment(const struct plan_known *known, int64_t id)
{
	return find(id, known->allotments, known->allotment_count, sizeof(*known->allotments));
}

const struct plan_spec *plan_find_spec(const struct plan_known *known, struct str cache,
				       struct str pool, int64_t at_ns)
{
	const struct plan_spec *found = NULL;
	size_t i;

	for (i = 0; i < known->spec_count; i++) {
		const struct plan_spec *spec = &known->specs[i];

		if (str_equal(spec->cache, cache) && str_equal(spec->pool, pool) &&
		    spec->valid_from_ns <= at_ns)
			found = spec;
	}
	return found;
}
