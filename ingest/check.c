#include "check.h"

#include "report_sql.h"
#include "util/safe.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define GIB 1073741824.0

static const char *const layer_names[LAYER_PROMETHEUS + 1] = {
	[LAYER_ACTION] = "action",
	[LAYER_TEXT] = "text",
	[LAYER_PODS] = "pods",
	[LAYER_PROMETHEUS] = "prometheus",
};

static int parse_layer(struct str word, struct check *check, struct err *err)
{
	size_t i;

	for (i = LAYER_ACTION; i <= LAYER_PROMETHEUS; i++)
		if (str_is(word, layer_names[i])) {
			check->layers[i] = true;
			return 0;
		}
	return err_set(err, ERR_USAGE, "'%.*s' is no layer: action, text, pods and prometheus are",
		       (int)word.len, word.data);
}

int check_parse_layers(const char *text, struct check *check, struct err *err)
{
	size_t len;

	memset(check->layers, 0, sizeof(check->layers));
	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (parse_layer((struct str){text, len}, check, err) < 0)
			return -1;
		if (!text[len])
			return 0;
	}
}

/* ---- parameters ---- */

enum { PARAM_RUNS, PARAM_MAX_OOM, PARAM_MAX_RSS, PARAM_LAYERS, PARAM_COUNT = PARAM_LAYERS + 4 };

static struct value integer_or_null(int64_t number)
{
	if (number == UNKNOWN)
		return (struct value){.type = VALUE_NULL};
	return (struct value){.type = VALUE_INTEGER, .integer = number};
}

static void fill_params(const struct check *check, struct param *params)
{
	static const char *const names[] = {":action", ":text", ":pods", ":prometheus"};
	const struct buf *runs = &check->scope->runs;
	size_t i;

	params[PARAM_RUNS] =
		(struct param){":runs", {.type = VALUE_TEXT, .text = {runs->data, runs->len}}};
	params[PARAM_MAX_OOM] = (struct param){":max_oom", integer_or_null(check->max_oom)};
	params[PARAM_MAX_RSS] =
		(struct param){":max_rss_bytes", integer_or_null(check->max_rss_bytes)};
	for (i = 0; i < 4; i++)
		params[PARAM_LAYERS + i] =
			(struct param){names[i], integer_or_null(check->layers[LAYER_ACTION + i])};
}

static int ask(struct store *store, const struct check *check, const char *name, store_row_fn *row,
	       void *context, struct err *err)
{
	struct param params[PARAM_COUNT];

	fill_params(check, params);
	return store_query(store, report_sql(name), params, PARAM_COUNT, row, context, err);
}

/* ---- breaches ---- */

struct breaches {
	FILE *out; /* NULL: only counted */
	int64_t count;
};

/* "RUN LABEL (IDENTIFIER): WHAT: EVIDENCE", on one line whatever the texts hold. */
static int take_breach(void *context, const struct row *row, struct err *err)
{
	enum { RUN, PROJECT, LABEL, IDENTIFIER, WHAT, EVIDENCE };
	struct breaches *breaches = context;
	const struct value *v = row->values;
	struct buf line = BUF_INIT;
	int rc = 0;

	breaches->count++;
	if (!breaches->out)
		return 0;
	buf_add(&line, v[RUN].text.data, v[RUN].text.len);
	buf_addch(&line, ' ');
	safe_add(&line, v[LABEL].text.data ? v[LABEL].text : STR("no known action"));
	if (v[IDENTIFIER].text.len) {
		buf_addstr(&line, " (");
		safe_add(&line, v[IDENTIFIER].text);
		buf_addch(&line, ')');
	}
	buf_addf(&line, ": %.*s: ", (int)v[WHAT].text.len, v[WHAT].text.data);
	safe_add(&line, v[EVIDENCE].text);
	buf_addch(&line, '\n');
	if (safe_print(breaches->out, (struct str){line.data, line.len}) < 0)
		rc = err_errno(err, ERR_IO, errno, "cannot write");
	buf_release(&line);
	return rc;
}

int check_breaches(struct store *store, const struct check *check, FILE *out, int64_t *out_count,
		   struct err *err)
{
	struct output_options options = {.format = check->format};
	struct breaches breaches = {check->rows ? NULL : out, 0};
	struct param params[PARAM_COUNT];

	if (ask(store, check, "check_breaches", take_breach, &breaches, err) < 0)
		return -1;
	*out_count = breaches.count;
	if (!check->rows)
		return 0;
	fill_params(check, params);
	return output_query(store, report_sql("check_breaches"), params, PARAM_COUNT, &options, out,
			    err);
}

/* ---- what was not looked at ---- */

struct gaps {
	check_gap_fn *fn;
	void *context;
	int64_t count;
};

static int take_gap(void *context, const struct row *row, struct err *err)
{
	struct gaps *gaps = context;

	(void)err;
	gaps->count++;
	gaps->fn(gaps->context, row->values[0].text, row->values[1].integer, row->values[2].text);
	return 0;
}

int check_gaps(struct store *store, const struct check *check, check_gap_fn *gap, void *context,
	       int64_t *out_count, struct err *err)
{
	struct gaps gaps = {gap, context, 0};
	int rc = ask(store, check, "check_gaps", take_gap, &gaps, err);

	*out_count = gaps.count;
	return rc;
}

/* ---- what was ---- */

static void add_layers(const struct check *check, struct buf *out)
{
	const char *before = " (";
	size_t i;

	for (i = LAYER_ACTION; i <= LAYER_PROMETHEUS; i++)
		if (check->layers[i]) {
			buf_addf(out, "%s%s", before, layer_names[i]);
			before = ", ";
		}
	buf_addch(out, ')');
}

struct summary {
	const struct check *check;
	struct buf *out;
};

static int take_summary(void *context, const struct row *row, struct err *err)
{
	enum { INCOMPLETE, CANNOT_TELL, MEASURED, MAX_RSS };
	const struct summary *summary = context;
	const struct check *check = summary->check;
	const struct value *v = row->values;
	struct buf *out = summary->out;

	(void)err;
	if (check->max_oom != UNKNOWN) {
		buf_addf(out, "; at most %" PRId64 " killed for memory", check->max_oom);
		add_layers(check, out);
		if (v[CANNOT_TELL].integer)
			buf_addf(out, ", %" PRId64 " failed in a way that cannot tell",
				 v[CANNOT_TELL].integer);
	}
	if (check->max_rss_bytes != UNKNOWN) {
		buf_addf(out, "; max RSS of %" PRId64 " executions", v[MEASURED].integer);
		if (v[MAX_RSS].type != VALUE_NULL)
			buf_addf(out, ": %.3f GiB", (double)v[MAX_RSS].integer / GIB);
		buf_addf(out, ", at most %.3f", (double)check->max_rss_bytes / GIB);
	}
	if (v[INCOMPLETE].integer)
		buf_addf(out, "; %" PRId64 " of the runs incomplete", v[INCOMPLETE].integer);
	return 1;
}

int check_summary(struct store *store, const struct check *check, struct buf *out, struct err *err)
{
	struct summary summary = {check, out};

	buf_add(out, check->scope->title.data, check->scope->title.len);
	return ask(store, check, "check_summary", take_summary, &summary, err);
}
