#include "compare_find.h"

#include "report_sql.h"
#include "util/grid.h"

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

static int take_cell(void *context, const struct row *row, struct err *err)
{
	enum { RUN, PASS, LOG_KNOWN, STARTED, PROJECT };
	struct found *found = context;
	const struct value *v = row->values;

	(void)err;
	if (!found->count++) {
		buf_add(found->run, v[RUN].text.data, v[RUN].text.len);
		buf_addf(found->how, "the %.*s run of that cell", (int)v[PASS].text.len,
			 v[PASS].text.data);
		if (!v[LOG_KNOWN].integer)
			buf_addstr(found->how, ", by its results, as its log is gone");
		return 0;
	}
	buf_addf(found->how, "%s %.8s (%.*s)", found->count == 2 ? "; also known:" : ",",
		 v[RUN].text.data, (int)v[PASS].text.len, v[PASS].text.data);
	return 0;
}

static int find_salt(struct store *store, const char *word, struct found *found, struct err *err)
{
	struct param param = text_param(":word", word);

	return store_query(store, report_sql("compare_salt"), &param, 1, take_cell, found, err);
}

/* ---- the beginning of a trace id ---- */

static int take_candidate(void *context, const struct row *row, struct err *err)
{
	struct found *found = context;
	size_t i;

	(void)err;
	if (!found->count++)
		buf_add(found->run, row->values[0].text.data, row->values[0].text.len);
	if (found->count > COMPARE_CANDIDATES)
		return 0;
	for (i = 0; i < row->count; i++) {
		buf_addstr(found->candidates, i ? "  " : "");
		grid_add_safe(found->candidates, row->values[i].text);
	}
	buf_addch(found->candidates, '\n');
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
	if (find_salt(store, word, &found, err) < 0)
		return -1;
	return found.count ? 0 : find_trace(store, word, &found, err);
}
