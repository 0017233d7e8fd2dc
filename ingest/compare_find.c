#include "compare_find.h"

#include "report_sql.h"
#include "util/safe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_DIGITS_MIN 4

struct found {
	struct buf *run, *how, *candidates;
	int64_t count;
};

static struct param text_param(const char *name, const char *text)
{
	return (struct param){name, {.type = VALUE_TEXT, .text = str_of(text)}};
}

/* A line of the row's columns `at`. */
static void add_candidate(struct found *found, const struct row *row, const size_t *at,
			  size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		buf_addstr(found->candidates, i ? "  " : "");
		safe_add(found->candidates, row->values[at[i]].text);
	}
	buf_addch(found->candidates, '\n');
}

/* ---- last, last-N ---- */

static int take_run(void *context, const struct row *row, struct err *err)
{
	struct found *found = context;
	struct str run = row->values[0].text;

	(void)err;
	if (!found->count++)
		buf_add(found->run, run.data, run.len);
	return 0;
}

/* How many runs before the last one; -1: not such a word. */
static int64_t parse_last(const char *word)
{
	const char *digits = word + strlen("last-");
	size_t len;

	if (strncmp(word, "last", 4) != 0)
		return -1;
	if (!word[4])
		return 0;
	len = word[4] == '-' ? strlen(digits) : 0;
	if (!len || len > 9 || strspn(digits, "0123456789") != len)
		return -1;
	return strtol(digits, NULL, 10);
}

static int find_last(struct store *store, const struct report_scope *scope, const char *word,
		     int64_t skip, struct found *found, struct err *err)
{
	struct param params[] = {
		{":runs", {.type = VALUE_TEXT, .text = {scope->runs.data, scope->runs.len}}},
		{":skip", {.type = VALUE_INTEGER, .integer = skip}},
	};

	if (store_query(store, report_sql("compare_last"), params, 2, take_run, found, err) < 0)
		return -1;
	if (!found->count)
		return err_set(err, ERR_USAGE, "%s: there are not so many runs with actions (%s)",
			       word, scope->title.data);
	buf_addf(found->how, "%s of %s", word, scope->title.data);
	return 0;
}

/* ---- a salt ---- */

struct cells {
	struct found *found;
	bool is_here;	    /* of the first one: others do not count beside it */
	struct buf project; /* of the first one */
	bool several;	    /* projects */
};

static void note_cell(struct found *found, struct str run, struct str pass, bool log_known)
{
	if (!found->count++) {
		buf_add(found->run, run.data, run.len);
		buf_addf(found->how, "the %.*s run of that cell", (int)pass.len, pass.data);
		if (!log_known)
			buf_addstr(found->how, ", by its results, as its log is gone");
		return;
	}
	buf_addf(found->how, "%s %.8s (%.*s)", found->count == 2 ? "; also known:" : ",", run.data,
		 (int)pass.len, pass.data);
}

static int take_cell(void *context, const struct row *row, struct err *err)
{
	enum { RUN, PASS, LOG_KNOWN, STARTED, PROJECT, IS_HERE };
	struct cells *cells = context;
	struct found *found = cells->found;
	const struct value *v = row->values;
	struct str project = v[PROJECT].text;

	(void)err;
	if (!found->count) {
		cells->is_here = v[IS_HERE].integer != 0;
		buf_add(&cells->project, project.data, project.len);
	} else if (cells->is_here && !v[IS_HERE].integer) {
		return 0;
	}
	cells->several |=
		!str_equal(project, (struct str){cells->project.data, cells->project.len});
	note_cell(found, v[RUN].text, v[PASS].text, v[LOG_KNOWN].integer != 0);
	if (found->count <= COMPARE_CANDIDATES)
		add_candidate(found, row, (const size_t[]){RUN, STARTED, PROJECT}, 3);
	return 0;
}

/* Variants and modes have equal names in all projects; one salt in two of them is two cells. */
static int find_salt(struct store *store, const struct report_scope *scope, const char *word,
		     struct found *found, struct err *err)
{
	struct param params[] = {
		text_param(":word", word),
		{":runs", {.type = VALUE_TEXT, .text = {scope->runs.data, scope->runs.len}}},
	};
	struct cells cells = {found, false, BUF_INIT, false};
	int rc = store_query(store, report_sql("compare_salt"), params, 2, take_cell, &cells, err);

	if (rc == 0 && cells.several)
		rc = err_set(err, ERR_USAGE,
			     "'%s' is the salt of %" PRId64
			     " runs, of more than one project; write "
			     "--project NAME or the beginning of a trace id",
			     word, found->count);
	else
		buf_clear(found->candidates);
	buf_release(&cells.project);
	return rc;
}

/* ---- the beginning of a trace id ---- */

static int take_candidate(void *context, const struct row *row, struct err *err)
{
	struct found *found = context;

	(void)err;
	if (!found->count++)
		buf_add(found->run, row->values[0].text.data, row->values[0].text.len);
	if (found->count <= COMPARE_CANDIDATES)
		add_candidate(found, row, (const size_t[]){0, 1, 2}, 3);
	return 0;
}

static bool is_trace_prefix(const char *word)
{
	size_t len = strlen(word);

	return len >= TRACE_DIGITS_MIN && strspn(word, "0123456789abcdef-") == len;
}

static int refuse(const char *word, struct err *err)
{
	return err_set(err, ERR_USAGE,
		       "no run '%s': it is the beginning of a trace id (4 digits or more), a "
		       "cell's salt, last or last-N; views runs, cells and executions list them",
		       word);
}

static int find_trace(struct store *store, const char *word, struct found *found, struct err *err)
{
	struct param param = text_param(":word", word);

	if (!is_trace_prefix(word))
		return refuse(word, err);
	if (store_query(store, report_sql("compare_trace"), &param, 1, take_candidate, found, err) <
	    0)
		return -1;
	if (!found->count)
		return refuse(word, err);
	if (found->count > 1)
		return err_set(err, ERR_USAGE, "'%s' begins %" PRId64 " trace ids", word,
			       found->count);
	buf_clear(found->candidates);
	return 0;
}

int compare_find(struct store *store, const struct report_scope *scope, const char *word,
		 struct buf *out_run, struct buf *out_how, struct buf *out_candidates,
		 struct err *err)
{
	struct found found = {.run = out_run, .how = out_how, .candidates = out_candidates};
	int64_t skip = parse_last(word);

	if (skip >= 0)
		return find_last(store, scope, word, skip, &found, err);
	if (find_salt(store, scope, word, &found, err) < 0)
		return -1;
	return found.count ? 0 : find_trace(store, word, &found, err);
}
