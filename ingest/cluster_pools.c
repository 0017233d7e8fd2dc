#include "cluster_pools.h"

#include "cluster_values.h"
#include "util/buf.h"
#include "util/safe.h"
#include "util/quantity.h"

#include <stddef.h>

/* What no machine and no cluster has. */
#define CPU_MILLI_MAX INT64_C(1000000000)
#define MEMORY_MAX (INT64_C(1) << 50)
#define COUNT_MAX INT64_C(1000000000)
/* No process starts in less: who writes 512m means 512M. */
#define MEMORY_MIN (INT64_C(1) << 20)
/* A label's value in Kubernetes has no more. */
#define NAME_MAX_LEN 63

enum field_type { FIELD_BOOL, FIELD_TEXT, FIELD_COUNT, FIELD_CORES, FIELD_BYTES };

#define PATH_MAX_LEN 4

static const struct field {
	const char *path[PATH_MAX_LEN + 1]; /* below the pool */
	enum field_type type;
	size_t offset; /* of a struct str or an int64_t in struct pool_spec */
} fields[] = {
	{{"enabled"}, FIELD_BOOL, offsetof(struct pool_spec, enabled)},
	{{"instancePrefix"}, FIELD_TEXT, offsetof(struct pool_spec, instance_prefix)},
	{{"worker", "concurrency"}, FIELD_COUNT, offsetof(struct pool_spec, concurrency)},
	{{"worker", "resources", "requests", "cpu"},
	 FIELD_CORES,
	 offsetof(struct pool_spec, cpu_request_millicores)},
	{{"worker", "resources", "requests", "memory"},
	 FIELD_BYTES,
	 offsetof(struct pool_spec, memory_request_bytes)},
	{{"worker", "resources", "limits", "cpu"},
	 FIELD_CORES,
	 offsetof(struct pool_spec, cpu_limit_millicores)},
	{{"worker", "resources", "limits", "memory"},
	 FIELD_BYTES,
	 offsetof(struct pool_spec, memory_limit_bytes)},
	{{"scaling", "min"}, FIELD_COUNT, offsetof(struct pool_spec, workers_min)},
	{{"scaling", "max"}, FIELD_COUNT, offsetof(struct pool_spec, workers_max)},
	{{"scaling", "cooldownSeconds"}, FIELD_COUNT, offsetof(struct pool_spec, cooldown_s)},
};
#define FIELD_TOTAL (sizeof(fields) / sizeof(*fields))

static const struct field replicas_field = {{"worker", "replicas"}, FIELD_COUNT, 0};

/* ---- scalars ---- */

/* As YAML 1.1 has them, and Helm's library. */
static bool is_one_of(struct str text, const char *const *words)
{
	for (; *words; words++)
		if (str_is(text, *words))
			return true;
	return false;
}

static int parse_bool(const struct values_node *node, int64_t *out, struct err *err)
{
	static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES",
					  "on",	  "On",	  "ON",	  "y",	 "Y",	NULL};
	static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO",
					 "off",	  "Off",   "OFF",   "n",  "N",	NULL};

	*out = is_one_of(node->text, yes);
	if (node->plain && (*out || is_one_of(node->text, no)))
		return 0;
	return err_set(err, ERR_FORMAT, "neither true nor false, without quotes");
}

/* 010, 0x10 and 1_000 are 8, 16 and 1000 to YAML, and something else to Kubernetes. */
static bool is_tricky(const struct values_node *node)
{
	struct str text = node->text;

	if (!node->plain)
		return false;
	if (text.len && (*text.data == '+' || *text.data == '-')) {
		text.data++;
		text.len--;
	}
	return (text.len > 1 && text.data[0] == '0' && text.data[1] != '.') ||
	       memchr(text.data, '_', text.len);
}

static int parse_count(struct str text, int64_t *out, struct err *err)
{
	int64_t number = 0;
	size_t i;

	for (i = 0; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++)
		if (number < COUNT_MAX)
			number = number * 10 + (text.data[i] - '0');
	if (!text.len || i < text.len || number >= COUNT_MAX)
		return err_set(err, ERR_FORMAT, "no whole number");
	*out = number;
	return 0;
}

static int parse_cores(struct str text, int64_t *out, struct err *err)
{
	if (quantity_millicores(text, out, err) < 0)
		return -1;
	if (*out > CPU_MILLI_MAX)
		return err_set(err, ERR_FORMAT, "more cores than any machine has");
	return 0;
}

static int parse_bytes(struct str text, int64_t *out, struct err *err)
{
	if (quantity_bytes(text, out, err) < 0)
		return -1;
	if (*out > MEMORY_MAX)
		return err_set(err, ERR_FORMAT, "more memory than any machine has");
	if (*out > 0 && *out < MEMORY_MIN)
		return err_set(err, ERR_FORMAT,
			       "less memory than any process needs: is it M or Mi that is meant?");
	return 0;
}

static int parse_number(const struct values_node *node, enum field_type type, int64_t *out,
			struct err *err)
{
	if (node->kind != VALUES_SCALAR)
		return err_set(err, ERR_FORMAT, "a map or a list, where one value should be");
	if (type == FIELD_BOOL)
		return parse_bool(node, out, err);
	if (is_tricky(node))
		return err_set(err, ERR_FORMAT, "YAML reads another number than is written here");
	if (type == FIELD_COUNT)
		return parse_count(node->text, out, err);
	return type == FIELD_CORES ? parse_cores(node->text, out, err)
				   : parse_bytes(node->text, out, err);
}

/* ---- fields ---- */

/* "FILE:LINE:COLUMN: pools.NAME.worker.concurrency: WHY" */
static int fault_at(const struct values_node *node, struct str pool, const struct field *field,
		    size_t steps, const char *why, struct err *err)
{
	struct buf path = BUF_INIT;
	size_t i;

	for (i = 0; i < steps; i++)
		buf_addf(&path, ".%s", field->path[i]);
	err_set(err, ERR_FORMAT, "%s:%zu:%zu: pools.%.*s%s: %s", node->file, node->line,
		node->column, (int)pool.len, pool.data, path.data, why);
	buf_release(&path);
	return -1;
}

/* 1: the place of the field's value; 0: not said; -1: something on the way is no map. */
static int go_to(const struct values_place *at, struct str pool, const struct field *field,
		 struct values_place *out, struct err *err)
{
	size_t i;

	*out = *at;
	for (i = 0; field->path[i]; i++) {
		if (!values_is_map(out))
			return fault_at(out->nodes[0], pool, field, i, "no map", err);
		values_get(out, str_of(field->path[i]), out);
		if (!out->count)
			return 0;
	}
	return 1;
}

static int read_number(const struct values_place *at, struct str pool, const struct field *field,
		       int64_t *out, struct err *err)
{
	struct values_place place;
	struct err why = ERR_INIT;
	size_t steps = 0;
	int found = go_to(at, pool, field, &place, err);

	if (found <= 0)
		return found;
	if (parse_number(place.nodes[0], field->type, out, &why) == 0)
		return 0;
	while (field->path[steps])
		steps++;
	return fault_at(place.nodes[0], pool, field, steps, why.text, err);
}

static int read_text(const struct values_place *at, struct str pool, const struct field *field,
		     struct str *out, struct err *err)
{
	struct values_place place;
	int found = go_to(at, pool, field, &place, err);

	if (found <= 0)
		return found;
	if (place.nodes[0]->kind != VALUES_SCALAR)
		return fault_at(place.nodes[0], pool, field, 1, "no text", err);
	if (!safe_is(place.nodes[0]->text))
		return fault_at(place.nodes[0], pool, field, 1, "control characters in it", err);
	*out = place.nodes[0]->text;
	return 0;
}

static int read_field(const struct values_place *at, const struct field *field,
		      struct pool_spec *spec, struct err *err)
{
	void *to = (char *)spec + field->offset;

	if (field->type == FIELD_TEXT)
		return read_text(at, spec->pool, field, to, err);
	return read_number(at, spec->pool, field, to, err);
}

/* ---- a pool ---- */

static int check_pair(const struct values_place *at, struct str pool, const char *what,
		      int64_t *request, int64_t limit, struct err *err)
{
	if (*request == UNKNOWN)
		*request = limit;
	if (limit == UNKNOWN || *request <= limit)
		return 0;
	return err_set(err, ERR_FORMAT,
		       "%s:%zu:%zu: pools.%.*s: it requests more %s than its limit, which no "
		       "cluster takes",
		       at->nodes[0]->file, at->nodes[0]->line, at->nodes[0]->column, (int)pool.len,
		       pool.data, what);
}

static int check_pool(const struct values_place *at, struct pool_spec *spec, struct err *err)
{
	static const struct field concurrency = {{"worker", "concurrency"}, FIELD_COUNT, 0};

	if (spec->concurrency == 0)
		return fault_at(at->nodes[0], spec->pool, &concurrency, 2, "0 runs nothing", err);
	if (check_pair(at, spec->pool, "cpu", &spec->cpu_request_millicores,
		       spec->cpu_limit_millicores, err) < 0)
		return -1;
	return check_pair(at, spec->pool, "memory", &spec->memory_request_bytes,
			  spec->memory_limit_bytes, err);
}

/* Nobody scales it: as many workers as are asked for, always. */
static int read_replicas(const struct values_place *at, struct pool_spec *spec, struct err *err)
{
	struct values_place scaling;

	values_get(at, STR("scaling"), &scaling);
	if (scaling.count)
		return 0;
	if (read_number(at, spec->pool, &replicas_field, &spec->workers_min, err) < 0)
		return -1;
	spec->workers_max = spec->workers_min;
	return 0;
}

static int read_pool(const struct values_place *at, struct pool_spec *spec, struct err *err)
{
	size_t i;

	for (i = 0; i < FIELD_TOTAL; i++)
		if (read_field(at, &fields[i], spec, err) < 0)
			return -1;
	if (read_replicas(at, spec, err) < 0)
		return -1;
	return check_pool(at, spec, err);
}

static struct pool_spec new_pool(struct str name)
{
	return (struct pool_spec){
		.pool = name,
		.instance_prefix = STR_NULL,
		.enabled = UNKNOWN,
		.concurrency = UNKNOWN,
		.cpu_request_millicores = UNKNOWN,
		.cpu_limit_millicores = UNKNOWN,
		.memory_request_bytes = UNKNOWN,
		.memory_limit_bytes = UNKNOWN,
		.workers_min = UNKNOWN,
		.workers_max = UNKNOWN,
		.cooldown_s = UNKNOWN,
	};
}

/* ---- all pools ---- */

struct pools {
	const struct pool_sink *sink;
	struct pool_tally *tally;
	struct values_place place; /* of `pools` */
	struct str names[POOLS_MAX];
	size_t count;
};

static void leave_out(struct pools *pools, struct err *fault)
{
	struct buf text = BUF_INIT;

	pools->tally->bad++;
	buf_addf(&text, "%s; this pool is left out", fault->text);
	pools->sink->warning(pools->sink->context, text.data);
	buf_release(&text);
}

static bool is_seen(const struct pools *pools, struct str name)
{
	size_t i;

	for (i = 0; i < pools->count; i++)
		if (str_equal(pools->names[i], name))
			return true;
	return false;
}

static bool is_name(struct str name)
{
	return name.len > 0 && name.len <= NAME_MAX_LEN && !memchr(name.data, ' ', name.len) &&
	       safe_is(name);
}

static int give_pool(struct pools *pools, struct str name, const struct values_place *at,
		     struct err *err)
{
	struct pool_spec spec = new_pool(name);
	struct err fault = ERR_INIT;

	if (!is_name(name)) {
		err_set(&fault, ERR_FORMAT, "%s:%zu:%zu: pools: a key that names no pool",
			at->nodes[0]->file, at->nodes[0]->line, at->nodes[0]->column);
		leave_out(pools, &fault);
		return 0;
	}
	if (read_pool(at, &spec, &fault) < 0) {
		leave_out(pools, &fault);
		return 0;
	}
	pools->tally->pools++;
	return pools->sink->pool(pools->sink->context, &spec, err);
}

static int take_key(void *context, struct str name, struct err *err)
{
	struct pools *pools = context;
	struct values_place at;

	if (is_seen(pools, name))
		return 0;
	if (pools->count == POOLS_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %d pools",
			       pools->place.nodes[0]->file, POOLS_MAX);
	pools->names[pools->count++] = name;
	values_get(&pools->place, name, &at);
	if (!at.count)
		return 0;
	if (pools->sink->named)
		pools->sink->named(pools->sink->context, name);
	return give_pool(pools, name, &at, err);
}

static int check_pools(const struct values_place *place, const struct pool_text *files,
		       struct err *err)
{
	if (values_is_map(place))
		return 0;
	if (place->count)
		return err_set(err, ERR_FORMAT, "%s:%zu:%zu: pools: no map of pools",
			       place->nodes[0]->file, place->nodes[0]->line,
			       place->nodes[0]->column);
	return err_set(err, ERR_FORMAT,
		       "%s: no `pools` in it: is it the values file of the workers' chart? "
		       "`helm get values --all -o yaml RELEASE` prints what is installed",
		       files[0].name);
}

static int add_files(struct values *values, const struct pool_text *files, size_t count,
		     const struct pool_sink *sink, struct err *err)
{
	struct buf text = BUF_INIT;
	size_t i;

	for (i = 0; i < count; i++)
		if (values_add(values, files[i].name, files[i].text, err) < 0)
			return -1;
	if (values->later) {
		buf_addf(&text, "%s: more than one document: Helm takes the first one only",
			 values->later);
		sink->warning(sink->context, text.data);
	}
	buf_release(&text);
	return 0;
}

int cluster_pools_read(const struct pool_text *files, size_t count, const struct pool_sink *sink,
		       struct pool_tally *tally, struct err *err)
{
	struct pools pools = {.sink = sink, .tally = tally};
	struct values values;
	struct values_place top;
	int rc;

	values_init(&values);
	rc = add_files(&values, files, count, sink, err);
	if (rc == 0) {
		values_top(&values, &top);
		values_get(&top, STR("pools"), &pools.place);
		rc = check_pools(&pools.place, files, err);
	}
	if (rc == 0)
		rc = values_each(&pools.place, take_key, &pools, err);
	values_release(&values);
	return rc;
}
