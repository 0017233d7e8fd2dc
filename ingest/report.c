#include "report.h"

#include "figures.h"
#include "report_sql.h"
#include "symptom.h"
#include "util/buf.h"
#include "util/grid.h"
#include "util/safe.h"

#include <errno.h>
#include <inttypes.h>

#define NS_PER_S 1e9
#define GIB 1073741824.0
#define MIB 1048576.0

enum { PARAM_RUNS, PARAM_NO_TESTS, PARAM_MIN_WALL, PARAM_TOP, PARAM_COUNT };

/* Of the scope's results, those about which Prometheus was asked. */
struct samples_seen {
	int64_t asked, sampled;
	double asked_wall_ns, sampled_wall_ns;
	int64_t interval_s; /* between two samples, over all runs; UNKNOWN */
};

struct page {
	struct store *store;
	const struct report_options *options;
	struct param params[PARAM_COUNT];
	struct buf text;

	int64_t digests, test_digests; /* of which the latter by tests and listings only */
	int64_t with_usage;
	int64_t untimed;      /* of these, whose wall time is not known: in no figure */
	int64_t by_others;    /* executed by runs outside of the scope */
	int64_t unmeasured;   /* referred to by dev and viewcheck runs only */
	int64_t failed_found; /* whose only result is that of a failed execution */
	int64_t suspects;     /* rows of oom_kills that look like one */
	int64_t in_flight;
	struct samples_seen samples;
	struct figures figures;
	struct grid *longest;
	int64_t longest_rows;
	struct symptom_facts symptoms;
	struct buf instances;
	struct buf path; /* what is on the only run's critical path */
};

static void init_params(struct param *params, const struct report_scope *scope,
			const struct report_options *options)
{
	params[PARAM_RUNS] = (struct param){
		":runs", {.type = VALUE_TEXT, .text = {scope->runs.data, scope->runs.len}}};
	params[PARAM_NO_TESTS] =
		(struct param){":no_tests", {.type = VALUE_INTEGER, .integer = options->no_tests}};
	params[PARAM_MIN_WALL] =
		(struct param){":min_wall_s", {.type = VALUE_REAL, .real = options->min_wall_s}};
	params[PARAM_TOP] =
		(struct param){":top", {.type = VALUE_INTEGER, .integer = options->top}};
}

/* Each statement begins with the runs in question and the digests that they refer to. */
static void add_statement(struct buf *sql, const char *name)
{
	buf_addstr(sql, report_sql("report_scope"));
	buf_addstr(sql, report_sql(name));
}

static int ask(struct page *page, const char *name, store_row_fn *row, struct err *err)
{
	struct buf sql = BUF_INIT;
	int rc;

	add_statement(&sql, name);
	rc = store_query(page->store, sql.data, page->params, PARAM_COUNT, row, page, err);
	buf_release(&sql);
	return rc;
}

/* ---- what the page shows, read ---- */

static int64_t integer_of(const struct value *value)
{
	return value->type == VALUE_NULL ? UNKNOWN : value->integer;
}

static int take_digest(void *context, const struct row *row, struct err *err)
{
	struct page *page = context;
	int64_t wall_ns = integer_of(&row->values[0]);
	int64_t cpu_ns = integer_of(&row->values[1]);

	(void)err;
	page->digests++;
	if (cpu_ns == UNKNOWN)
		return 0;
	page->with_usage++;
	page->by_others += integer_of(&row->values[4]) == 1;
	page->untimed += wall_ns == UNKNOWN;
	if (wall_ns != UNKNOWN && (double)wall_ns >= page->options->min_wall_s * NS_PER_S)
		figures_add(&page->figures, wall_ns, cpu_ns, integer_of(&row->values[2]),
			    row->values[3].type != VALUE_NULL);
	return 0;
}

static void add_gib(struct grid *grid, int64_t bytes)
{
	if (bytes == UNKNOWN)
		grid_unknown(grid);
	else
		grid_real(grid, (double)bytes / GIB, 2);
}

static int take_longest(void *context, const struct row *row, struct err *err)
{
	struct page *page = context;
	int64_t wall_ns = row->values[2].integer;
	int64_t cpu_ns = row->values[3].integer;

	(void)err;
	grid_text(page->longest, row->values[0].text);
	grid_text(page->longest, row->values[1].text);
	grid_real(page->longest, (double)wall_ns / NS_PER_S, 1);
	grid_real(page->longest, figures_cores(wall_ns, cpu_ns), 2);
	add_gib(page->longest, integer_of(&row->values[4]));
	grid_text(page->longest, row->values[5].text);
	page->longest_rows++;
	return 0;
}

static int take_reason(void *context, const struct row *row, struct err *err)
{
	struct page *page = context;
	enum reason reason = reason_parse(row->values[0].text);

	(void)err;
	if (reason != REASON_COUNT)
		page->symptoms.missing[reason] += row->values[1].integer;
	return 0;
}

static int take_notes(void *context, const struct row *row, struct err *err)
{
	struct page *page = context;

	(void)err;
	page->test_digests = page->options->no_tests ? 0 : row->values[0].integer;
	page->unmeasured = row->values[1].integer;
	page->in_flight = row->values[2].integer;
	page->symptoms.bad_logs = row->values[3].integer;
	page->symptoms.bad_records = row->values[4].integer;
	page->symptoms.runs = row->values[5].integer;
	page->symptoms.gone_runs = row->values[6].integer;
	safe_add(&page->instances, row->values[7].text);
	page->failed_found = row->values[8].integer;
	page->suspects = row->values[9].integer;
	return 0;
}

static int take_samples(void *context, const struct row *row, struct err *err)
{
	struct samples_seen *seen = &((struct page *)context)->samples;

	(void)err;
	seen->asked = row->values[0].integer;
	seen->asked_wall_ns = row->values[1].real;
	seen->sampled = row->values[2].integer;
	seen->sampled_wall_ns = row->values[3].real;
	seen->interval_s = integer_of(&row->values[4]);
	return 0;
}

/* "linux 22.2 s (72 %), gcc 7.5 s (24 %, heavy)" behind the path's own time */
static int take_path(void *context, const struct row *row, struct err *err)
{
	struct buf *path = &((struct page *)context)->path;

	(void)err;
	if (path->len)
		buf_addstr(path, ", ");
	else
		buf_addf(path, "%.1f s; ", row->values[4].real);
	safe_add(path, row->values[0].text);
	buf_addf(path, " %.1f s (%.0f %%%s)", row->values[1].real, row->values[2].real,
		 integer_of(&row->values[3]) == 1 ? ", heavy" : "");
	return 0;
}

static int read_page(struct page *page, struct err *err)
{
	if (ask(page, "report_digests", take_digest, err) < 0 ||
	    ask(page, "report_longest", take_longest, err) < 0 ||
	    ask(page, "report_reasons", take_reason, err) < 0 ||
	    ask(page, "report_notes", take_notes, err) < 0 ||
	    ask(page, "report_samples", take_samples, err) < 0 ||
	    ask(page, "report_path", take_path, err) < 0)
		return -1;
	figures_finish(&page->figures);
	page->symptoms.digests = page->digests;
	page->symptoms.with_usage = page->with_usage;
	page->symptoms.instances = page->instances.data;
	return 0;
}

/* ---- what the page shows, written ---- */

static void add_head(struct page *page)
{
	const struct figures *figures = &page->figures;

	buf_addf(&page->text, "%" PRId64 " of %" PRId64 " actions have a stored result",
		 page->with_usage, page->digests);
	if (page->options->min_wall_s > 0)
		buf_addf(&page->text, ", %" PRIu64 " of them ran %g s or longer", figures->actions,
			 page->options->min_wall_s);
	if (!figures->actions)
		buf_addstr(&page->text, " | wall, cpu and cores: not known\n");
	else
		buf_addf(&page->text,
			 " | wall %.2f h | cpu %.2f h | average %.2f cores while running\n",
			 figures->wall_s / 3600, figures->cpu_s / 3600,
			 figures_average(figures->wall_s, figures->cpu_s));
}

static void add_reasons(struct page *page)
{
	const char *separator = "without one: ";
	int reason;

	for (reason = 0; reason < REASON_COUNT; reason++) {
		int64_t count = page->symptoms.missing[reason];

		if (!count)
			continue;
		buf_addf(&page->text, "%s%" PRId64 " %s", separator, count,
			 reason_name((enum reason)reason));
		separator = ", ";
	}
	if (separator[0] == ',')
		buf_addstr(&page->text, " (view missing_results)\n");
	if (page->failed_found)
		buf_addf(&page->text,
			 "failed, with numbers of their own: %" PRId64 " (view failures)\n",
			 page->failed_found);
}

static void add_buckets(struct page *page)
{
	static const char *const names[] = {"wall time", "actions",   "% of wall",
					    "avg cores", "p90 cores", "max RSS GiB"};
	struct grid *grid = grid_new(names, 6);
	int i;

	for (i = 0; i < FIGURES_BUCKETS; i++) {
		const struct figures_bucket *bucket = &page->figures.buckets[i];

		if (!bucket->actions)
			continue;
		/* The last one in the words of the script that this takes over from. */
		grid_text(grid, str_of(i < FIGURES_BUCKETS - 1 ? bucket->name : "300-inf s"));
		grid_integer(grid, (int64_t)bucket->actions);
		grid_real(grid,
			  page->figures.wall_s > 0 ? 100 * bucket->wall_s / page->figures.wall_s
						   : 0,
			  1);
		grid_real(grid, figures_average(bucket->wall_s, bucket->cpu_s), 2);
		grid_real(grid, figures_p90(bucket), 2);
		add_gib(grid, bucket->max_rss_bytes);
	}
	buf_addch(&page->text, '\n');
	grid_add(grid, 2, &page->text);
	grid_free(grid);
}

static void add_longest_list(struct page *page)
{
	if (!page->longest_rows)
		return;
	buf_addf(&page->text, "longest %" PRId64 ": (%" PRId64 " of %" PRIu64 " shown)\n",
		 page->options->top, page->longest_rows, page->figures.actions);
	grid_add(page->longest, 2, &page->text);
}

static void add_rss_note(struct page *page)
{
	if (page->figures.min_rss_bytes == UNKNOWN)
		return;
	buf_addf(&page->text,
		 "max RSS: the largest single process of an action, never a sum; not below the "
		 "runner's own (%.1f MiB is the least here); a lower bound where killed\n",
		 (double)page->figures.min_rss_bytes / MIB);
}

/* Below that share of the wall time, containers' peaks are mostly unseen. */
#define COVERED_PCT 90

/*
 * Peaks of containers are worth what was sampled: a scrape sees what runs at that
 * moment. The kubelet's cAdvisor measures anew every 10 s or so.
 */
static void add_samples(struct page *page)
{
	const struct samples_seen *seen = &page->samples;
	double wall_pct = 0;

	if (!seen->asked)
		return;
	if (seen->asked_wall_ns > 0)
		wall_pct = 100 * seen->sampled_wall_ns / seen->asked_wall_ns;
	buf_addf(&page->text,
		 "container memory: sampled in %" PRId64 " of %" PRId64
		 " actions, %.0f %% of their wall time",
		 seen->sampled, seen->asked, wall_pct);
	if (seen->interval_s != UNKNOWN)
		buf_addf(&page->text, "; a sample each %" PRId64 " s sees %.0f %% of 5 s actions",
			 seen->interval_s,
			 100 * 5 / (double)(seen->interval_s > 5 ? seen->interval_s : 5));
	buf_addstr(&page->text, " (view sample_coverage)\n");
	if (wall_pct < COVERED_PCT && seen->interval_s > 15)
		buf_addstr(&page->text, "  to see more, let Prometheus scrape cAdvisor each 15 s "
					"(view sample_intervals says what that would cover)\n");
}

/* One line of the notes; nothing for a count of 0. */
static void add_note(struct buf *text, const char *what, int64_t count, const char *about)
{
	if (count)
		buf_addf(text, "%s: %" PRId64 " %s\n", what, count, about);
}

static void add_notes(struct page *page)
{
	struct buf *text = &page->text;

	buf_addch(text, '\n');
	if (page->path.len)
		buf_addf(text, "critical path: %s (view critical_path)\n", page->path.data);
	add_rss_note(page);
	add_samples(page);
	add_note(text, "suspected kills for memory", page->suspects,
		 "(view oom_kills names the evidence; failed actions are in no figure above)");
	add_note(text, "wall time not known", page->untimed,
		 "of the results, which no figure above holds");
	add_note(text, "executed by other runs", page->by_others,
		 "of the results (cache hits carry the usage of the original execution)");
	add_note(text, "tests and listings", page->test_digests,
		 "of the digests (--no-tests leaves them out)");
	add_note(text, "uploaded by the client", page->symptoms.missing[REASON_UPLOADED_BY_CLIENT],
		 "of the digests; Buck2 wrote them itself, so no CPU time is known, and no figure "
		 "holds them");
	add_note(text, "dev and viewcheck runs", page->unmeasured,
		 "of the digests are theirs alone and not part of a measured cell");
	add_note(
		text, "in flight", page->in_flight,
		"of the actions (builds that still run, or were killed); they count once they end");
	symptom_add(&page->symptoms, text);
}

static void add_page(struct page *page)
{
	if (!page->digests) {
		buf_addstr(&page->text, "no remote action in these runs: nothing to report\n");
		add_notes(page);
		return;
	}
	add_head(page);
	add_reasons(page);
	if (page->figures.actions) {
		add_buckets(page);
		buf_addf(&page->text, "\nactions that ended on a signal: %" PRIu64 "\n",
			 page->figures.on_signal);
		add_longest_list(page);
	}
	add_notes(page);
}

static int write_text(const struct buf *text, FILE *out, struct err *err)
{
	errno = 0;
	if (safe_print(out, (struct str){text->data, text->len}) < 0 || fflush(out) != 0)
		return err_errno(err, ERR_IO, errno, "cannot write the report");
	return 0;
}

static int print_page(struct store *store, const struct report_scope *scope,
		      const struct report_options *options, FILE *out, struct err *err)
{
	static const char *const names[] = {"id",    "category", "wall s",
					    "cores", "RSS GiB",	 "signal"};
	struct page page = {.store = store,
			    .options = options,
			    .text = BUF_INIT,
			    .instances = BUF_INIT,
			    .path = BUF_INIT,
			    .longest = grid_new(names, 6)};
	int rc = -1;

	init_params(page.params, scope, options);
	figures_init(&page.figures);
	buf_addf(&page.text, "%s\n", scope->title.data);
	if (!scope->run_count) {
		buf_addstr(&page.text, "nothing stored: br2-ingest reads the logs of a project, "
				       "br2-ingest report --all shows the whole file\n");
	} else {
		if (read_page(&page, err) < 0)
			goto out;
		add_page(&page);
	}
	rc = write_text(&page.text, out, err);
out:
	figures_release(&page.figures);
	grid_free(page.longest);
	buf_release(&page.instances);
	buf_release(&page.path);
	buf_release(&page.text);
	return rc;
}

static int print_rows(struct store *store, const struct report_scope *scope,
		      const struct report_options *options, FILE *out, struct err *err)
{
	struct output_options output = {.format = options->format};
	struct param params[PARAM_COUNT];
	struct buf sql = BUF_INIT;
	int rc;

	init_params(params, scope, options);
	add_statement(&sql, "report_rows");
	rc = output_query(store, sql.data, params, PARAM_COUNT, &output, out, err);
	buf_release(&sql);
	return rc;
}

int report_print(struct store *store, const struct report_scope *scope,
		 const struct report_options *options, FILE *out, struct err *err)
{
	return options->rows ? print_rows(store, scope, options, out, err)
			     : print_page(store, scope, options, out, err);
}
