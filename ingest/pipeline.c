#include "pipeline.h"

#include "pipeline_ask.h"
#include "pipeline_cluster.h"
#include "pipeline_listed.h"
#include "pipeline_logs.h"
#include "pipeline_propose.h"
#include "pipeline_values.h"
#include "places.h"
#include "slice.h"
#include "store.h"
#include "util/http.h"
#include "util/msg.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

static volatile sig_atomic_t interrupted;

void pipeline_interrupt(void)
{
	interrupted = 1;
	lookup_interrupt();
	http_interrupt();
}

bool pipeline_interrupted(void)
{
	return interrupted != 0;
}

struct pipeline {
	const struct ingest_options *options;
	struct ingest_tally *tally;
	struct store *store;   /* NULL: --dry-run */
	struct slice slice;    /* of the store */
	struct asking *asking; /* NULL: no server is asked */
	struct places places;
	struct log_list *list;
	struct values_news news; /* of pools, to be told at the end */
	bool no_logs;		 /* only the cluster is asked about */
};

/* ---- the whole ---- */

static void note_list(const struct pipeline *pipeline)
{
	const struct log_list *list = pipeline->list;
	size_t i;

	pipeline->tally->files = list->count;
	pipeline->tally->vanished = list->vanished;
	if (list->root_count > 1)
		for (i = 0; i < list->root_count; i++)
			msg_note("project %s", list->roots[i]);
	if (list->unreadable) {
		pipeline->tally->unreadable = list->unreadable;
		pipeline->tally->trouble = true;
		msg_warn("%" PRIu64 " places could not be looked at; first: %s", list->unreadable,
			 list->note);
	}
}

static void note_logs(const struct ingest_tally *tally)
{
	msg_note("%" PRIu64 " logs: %" PRIu64 " read, %" PRIu64 " known and unchanged; %" PRIu64
		 " runs, %" PRIu64 " actions, %" PRIu64 " tests read",
		 tally->files, tally->read, tally->known, tally->runs, tally->actions,
		 tally->tests);
}

static struct proposing proposing_of(const struct pipeline *pipeline)
{
	return (struct proposing){pipeline->store, pipeline->options, &pipeline->places};
}

static int name_instances(struct pipeline *pipeline, struct err *err)
{
	const struct proposing proposing = proposing_of(pipeline);
	size_t i;

	if (!pipeline->store)
		return 0;
	if (slice_open(&pipeline->slice, err) < 0)
		return -1;
	for (i = 0; i < pipeline->list->count; i++)
		if (propose_news(&proposing, &pipeline->list->files[i], err) < 0) {
			slice_drop(&pipeline->slice);
			return -1;
		}
	return slice_commit(&pipeline->slice, err);
}

static int tell_of_caches(const struct pipeline *pipeline, struct err *err)
{
	const struct proposing proposing = proposing_of(pipeline);
	bool asked = pipeline->asking && !pipeline->tally->trouble;

	return pipeline->store ? propose_tell(&proposing, pipeline->list, asked, err) : 0;
}

/* ---- between logs ---- */

static int on_batch(void *context, struct err *err)
{
	const struct pipeline *pipeline = context;

	return pipeline->asking ? asking_some(pipeline->asking, err) : 0;
}

/* A log whose name does not tell its run may show any. */
static bool comes_again(void *context, struct str trace_id)
{
	const struct logs_left *left = context;
	size_t i;

	for (i = 0; i < left->count; i++)
		if (!left->files[i]->trace_id[0] ||
		    str_equal(str_of(left->files[i]->trace_id), trace_id))
			return true;
	return false;
}

static int on_log(void *context, const struct log_file *file, struct logs_left *left,
		  struct err *err)
{
	struct pipeline *pipeline = context;
	const struct proposing proposing = proposing_of(pipeline);

	if (!pipeline->asking)
		return 0;
	if (slice_open(&pipeline->slice, err) < 0 || propose(&proposing, file, err) < 0)
		return -1;
	/* Nobody is kept from writing while answers are waited for. */
	if (slice_commit(&pipeline->slice, err) < 0)
		return -1;
	return asking_log_ended(pipeline->asking, comes_again, left, err);
}

static int take_logs(struct pipeline *pipeline, struct err *err)
{
	const struct log_intake intake = {
		.options = pipeline->options,
		.places = &pipeline->places,
		.list = pipeline->list,
		.slice = pipeline->store ? &pipeline->slice : NULL,
		.tally = pipeline->tally,
		.on_batch = on_batch,
		.on_log = on_log,
		.context = pipeline,
	};

	/* Before the first row, so that it can tell what is new. */
	if (on_batch(pipeline, err) < 0)
		return -1;
	return pipeline_take_logs(&intake, err);
}

static void warn_of_views(const struct store *store)
{
	const char *const *names;
	size_t count = store_foreign_views(store, &names), i;

	for (i = 0; i < count; i++)
		msg_warn("the view %s is not made: the database has a table or view of yours by "
			 "that name",
			 names[i]);
}

/* Before the logs: what is known of pools goes with each result as it is stored. */
static int take_values(struct pipeline *pipeline, struct err *err)
{
	if (values_store(pipeline->store, pipeline->options, &pipeline->news,
			 &pipeline->tally->trouble, err) < 0)
		return -1;
	return pipeline->store ? store_allot(pipeline->store, err) : 0;
}

/* After all else: what was learned meanwhile goes to results that were there before. */
static int settle(struct pipeline *pipeline, struct err *err)
{
	if (!pipeline->store)
		return 0;
	if (listed_store(pipeline->store, pipeline->list, pipeline->options->discover.project,
			 err) < 0 ||
	    store_allot(pipeline->store, err) < 0 || store_sum_packages(pipeline->store, err) < 0 ||
	    store_sum_invocations(pipeline->store, err) < 0)
		return -1;
	return values_tell(pipeline->store, pipeline->options->cache, &pipeline->news, err);
}

/* From here on all is settled that can stop the work before a log is read. */
static int work(struct pipeline *pipeline, const char *db, struct watching *watching,
		struct err *err)
{
	if (!pipeline->options->dry_run) {
		if (store_open(&pipeline->store, db, STORE_WRITE, err) < 0)
			return -1;
		pipeline->slice.store = pipeline->store;
		msg_note("database %s", db);
		warn_of_views(pipeline->store);
	}
	if (pipeline->asking)
		asking_begin(pipeline->asking, &pipeline->slice, &pipeline->tally->trouble);
	if (take_values(pipeline, err) < 0 || take_logs(pipeline, err) < 0)
		return -1;
	if (!pipeline->no_logs)
		note_logs(pipeline->tally);
	if (name_instances(pipeline, err) < 0)
		return -1;
	if (pipeline->asking && asking_run(pipeline->asking, err) < 0)
		return -1;
	if (pipeline->asking)
		pipeline->tally->results = asking_stored(pipeline->asking);
	if (tell_of_caches(pipeline, err) < 0)
		return -1;
	if (watching && watching_run(watching, pipeline->store, &pipeline->tally->trouble, err) < 0)
		return -1;
	return settle(pipeline, err);
}

/* Without a path, nor an option about logs, but with one about the cluster. */
static bool wants_cluster_only(const struct ingest_options *options)
{
	const struct discover_options *logs = &options->discover;
	const struct cluster_options *cluster = &options->cluster;

	return !options->path_count && !logs->project && !logs->isolation_dir && !logs->trace_id &&
	       logs->since_ns == UNKNOWN && logs->last == UNKNOWN &&
	       (cluster->value_count || cluster->shape_count || cluster->pod_count ||
		cluster->prometheus_http.url);
}

/* A name that no log has is mistyped: to store nothing and be content would hide it. */
static int named_logs(const struct discover_options *options, const struct log_list *list,
		      struct err *err)
{
	const char *trace_id = options->trace_id, *isolation_dir = options->isolation_dir;

	if (list->count || !list->unwanted || (!trace_id && !isolation_dir))
		return 0;
	return err_set(err, ERR_USAGE,
		       "no log of %s%s%s%s%s: without %s, the %" PRIu64 " here would be read",
		       trace_id ? "run " : "", trace_id ? trace_id : "",
		       trace_id && isolation_dir ? " in " : "",
		       isolation_dir ? "isolation dir " : "", isolation_dir ? isolation_dir : "",
		       trace_id ? "--trace-id" : "--isolation-dir", list->unwanted);
}

static int find_logs(struct pipeline *pipeline, struct err *err)
{
	const struct ingest_options *options = pipeline->options;

	if (discover(&options->discover, options->paths, options->path_count, pipeline->list,
		     err) == 0)
		return named_logs(&options->discover, pipeline->list, err);
	if (err->kind != ERR_USAGE || !wants_cluster_only(options))
		return -1;
	*err = (struct err)ERR_INIT;
	pipeline->no_logs = true;
	msg_note("no project here, so no log is read and no result asked for");
	return 0;
}

/* The list is there. */
static int take_list(struct pipeline *pipeline, const char *db, struct err *err)
{
	const struct ingest_options *options = pipeline->options;
	struct watching *watching = NULL;
	int failed = -1;

	if (places_load(&pipeline->places, pipeline->list, err) < 0)
		goto out;
	note_list(pipeline);
	if (!options->dry_run && !options->no_remote && !pipeline->no_logs &&
	    asking_open(&pipeline->asking, &pipeline->places, options, err) < 0)
		goto out;
	if (watching_open(&watching, options, err) < 0)
		goto out;
	failed = work(pipeline, db, watching, err);
out:
	watching_free(watching);
	asking_free(pipeline->asking);
	store_close(pipeline->store);
	values_news_release(&pipeline->news);
	places_release(&pipeline->places);
	return failed;
}

int pipeline_run(const char *db, const struct ingest_options *options, struct log_list *out_list,
		 struct ingest_tally *tally, struct err *err)
{
	struct pipeline pipeline = {
		.options = options, .tally = tally, .list = out_list, .news = VALUES_NEWS_INIT};

	memset(tally, 0, sizeof(*tally));
	return find_logs(&pipeline, err) < 0 ? -1 : take_list(&pipeline, db, err);
}

int pipeline_take(const char *db, const struct ingest_options *options, struct log_list *list,
		  struct ingest_tally *tally, struct err *err)
{
	struct pipeline pipeline = {
		.options = options, .tally = tally, .list = list, .news = VALUES_NEWS_INIT};

	memset(tally, 0, sizeof(*tally));
	return take_list(&pipeline, db, err);
}
