#include "pipeline_samples.h"

#include "util/arena.h"
#include "util/mem.h"
#include "util/msg.h"

#include <inttypes.h>
#include <stdlib.h>

#define NS_PER_S INT64_C(1000000000)
/* One question's worth: see cluster_prometheus.h. */
#define PIECE_NS (INT64_C(6) * 3600 * NS_PER_S)
/* Stored in one transaction; a row of a result is some 40 bytes. */
#define PIECE_WINDOWS 10000
/* Of the names of pods. */
#define NAMES_MAX ((size_t)256 << 20)

/* Executions to ask about, by the time of their start. */
struct wanted_windows {
	struct sample_window *items;
	size_t count, room;
	struct arena names;
};

/* What is known while the pieces of time are asked, the oldest first. */
struct progress {
	const struct sampling *sampling;
	int64_t first_ns;  /* the oldest sample of a container, of all that were seen; INT64_MAX:
			      none */
	size_t unanswered; /* windows at the beginning, from before any sample that was seen */
	uint64_t sampled;  /* executions with samples */
};

/* ---- what to ask ---- */

/* Names that follow each other are often equal. NULL data: there are too many. */
static struct str keep_name(struct wanted_windows *wanted, struct str name)
{
	struct str last = wanted->count ? wanted->items[wanted->count - 1].pod : STR_NULL;
	char *copy;

	if (str_equal(name, last))
		return last;
	copy = arena_alloc(&wanted->names, name.len + 1);
	if (!copy)
		return STR_NULL;
	memcpy(copy, name.data, name.len);
	return (struct str){copy, name.len};
}

static int take_window(void *context, const struct row *row, struct err *err)
{
	struct wanted_windows *wanted = context;
	struct sample_window window = {
		.result_id = row->values[0].integer,
		.pod = keep_name(wanted, row->values[1].text),
		.shared = row->values[2].integer != 0,
		.from_ns = row->values[3].integer,
		.to_ns = row->values[4].integer,
	};

	if (!window.pod.data)
		return err_set(err, ERR_LIMIT, "the pods' names take more than %zu MB",
			       NAMES_MAX >> 20);
	if (wanted->count == wanted->room) {
		wanted->room = wanted->room ? 2 * wanted->room : 1024;
		wanted->items = xreallocarray(wanted->items, wanted->room, sizeof(*wanted->items));
	}
	wanted->items[wanted->count++] = window;
	return 0;
}

/*
 * By the sums that are kept of those who asked for executions, so that only young
 * results are read. Cut to what Prometheus may know.
 */
static int list_windows(const struct sampling *sampling, struct wanted_windows *wanted,
			struct err *err)
{
	struct param params[] = {
		{":cache", {.type = VALUE_TEXT, .text = str_of(sampling->cache)}},
		{":oldest", {.type = VALUE_INTEGER, .integer = sampling->oldest_ns}},
		{":now", {.type = VALUE_INTEGER, .integer = sampling->now_ns}},
	};

	return store_query(
		sampling->store,
		"WITH placed AS MATERIALIZED (SELECT k.worker_id, k.pod,"
		" w.name GLOB '{*\"thread\":*' AS is_shared FROM _worker k"
		" JOIN worker w ON w.worker_id = k.worker_id WHERE k.pod <> ''),"
		" asked AS (SELECT request_id FROM request WHERE last_ns > :oldest"
		" UNION ALL SELECT NULL)"
		" SELECT r.result_id, p.pod, p.is_shared, max(t.execution_start_ns, :oldest),"
		" min(t.execution_completed_ns, :now)"
		" FROM asked q CROSS JOIN result r INDEXED BY result_request"
		" ON r.request_id IS q.request_id JOIN placed p ON p.worker_id = r.worker_id"
		" JOIN _time t ON t.result_id = r.result_id"
		" JOIN lookup l ON l.lookup_id = r.lookup_id"
		" JOIN instance i ON i.instance_id = l.instance_id AND i.cache = :cache"
		" WHERE t.execution_completed_ns > :oldest AND t.execution_start_ns < :now"
		" AND t.execution_completed_ns >= t.execution_start_ns"
		" AND NOT EXISTS (SELECT 1 FROM result_container c"
		" WHERE c.result_id = r.result_id AND c.settled = 1) ORDER BY 4, 1",
		params, 3, take_window, wanted, err);
}

static int take_integer(void *context, const struct row *row, struct err *err)
{
	int64_t *value = context;

	(void)err;
	if (row->values[0].type == VALUE_INTEGER)
		*value = row->values[0].integer;
	return 1;
}

/*
 * The oldest minute that this selector has ever shown. So what is asked in two
 * parts, the newer one first, is answered as if it were asked at once.
 */
static int find_first(const struct sampling *sampling, int64_t *out_ns, struct err *err)
{
	const char *namespace = cluster_selector_namespace(&sampling->selector);
	const char *container = cluster_selector_container(&sampling->selector);
	struct param params[] = {
		{":namespace", {.type = VALUE_TEXT, .text = str_of(namespace)}},
		{":container", {.type = VALUE_TEXT, .text = str_of(container)}},
	};

	return store_query(sampling->store,
			   "SELECT 60000000000 * min((SELECT min(u.minute) FROM container_usage u"
			   " WHERE u.life_id = f.life_id)) FROM container_life f"
			   " JOIN pod p ON p.pod_id = f.pod_id WHERE f.container = :container"
			   " AND (:namespace = '' OR p.namespace = :namespace)",
			   params, 2, take_integer, out_ns, err);
}

/* ---- storing ---- */

static int put_result(void *context, const struct result_usage *usage, struct err *err)
{
	struct progress *progress = context;

	progress->sampled += usage->status == SAMPLE_OK;
	return store_put_result_usage(progress->sampling->store, usage, err);
}

static int put_minute(void *context, const struct minute_usage *usage, struct err *err)
{
	struct progress *progress = context;

	return store_put_minute_usage(progress->sampling->store, usage, err);
}

static int store_samples(struct progress *progress, const struct samples *samples, struct err *err)
{
	const struct sampling *sampling = progress->sampling;
	struct usage_sink sink = {progress, put_result, put_minute};

	if (store_begin(sampling->store, err) < 0)
		return -1;
	if (samples_give(samples, progress->first_ns, sampling->settled_ns, &sink, err) < 0) {
		store_rollback(sampling->store);
		return -1;
	}
	return store_commit(sampling->store, err);
}

/* Nothing was seen from so early on, but later: Prometheus has forgotten that time. */
static int store_unanswered(struct progress *progress, const struct sample_window *windows,
			    struct err *err)
{
	struct samples *samples;
	size_t at, count;
	int rc = 0;

	for (at = 0; rc == 0 && at < progress->unanswered; at += count) {
		count = progress->unanswered - at;
		count = count > PIECE_WINDOWS ? PIECE_WINDOWS : count;
		samples = samples_none(windows + at, count);
		rc = store_samples(progress, samples, err);
		samples_free(samples);
	}
	progress->unanswered = 0;
	return rc;
}

/* ---- asking ---- */

/* How many of the windows one question is about: those that begin in six hours. */
static size_t piece_of(const struct sample_window *windows, size_t count)
{
	size_t n = 1;

	while (n < count && n < PIECE_WINDOWS && windows[n].from_ns - windows[0].from_ns < PIECE_NS)
		n++;
	return n;
}

/* As samples_read() of the first windows; a piece that is too much is made smaller. */
static int read_piece(const struct sampling *sampling, const struct sample_window *windows,
		      size_t *count, struct samples **out_samples, struct err *fault)
{
	struct interval known = {sampling->oldest_ns, sampling->now_ns};
	int rc;

	for (;;) {
		rc = samples_read(sampling->prometheus, &sampling->selector, windows, *count, known,
				  out_samples, fault);
		if (rc <= 0 || *count == 1)
			return rc ? -1 : 0;
		*count /= 2;
	}
}

/* A piece in which nothing was ever seen waits for what later ones show. */
static int take_piece(struct progress *progress, const struct wanted_windows *wanted, size_t end,
		      const struct samples *samples, struct err *err)
{
	int64_t first_ns = samples_first_ns(samples);

	if (first_ns < progress->first_ns)
		progress->first_ns = first_ns;
	if (progress->first_ns == INT64_MAX) {
		progress->unanswered = end;
		return 0;
	}
	if (store_unanswered(progress, wanted->items, err) < 0)
		return -1;
	return store_samples(progress, samples, err);
}

static int ask_all(struct progress *progress, const struct wanted_windows *wanted,
		   struct err *fault, struct err *err)
{
	struct samples *samples;
	size_t at, count;
	int rc = 0;

	for (at = 0; rc == 0 && at < wanted->count; at += count) {
		msg_progress("Prometheus: asked about the memory and CPU of %zu of %zu executions",
			     at, wanted->count);
		count = piece_of(wanted->items + at, wanted->count - at);
		if (read_piece(progress->sampling, wanted->items + at, &count, &samples, fault) <
		    0) {
			rc = 1;
			break;
		}
		rc = take_piece(progress, wanted, at + count, samples, err);
		samples_free(samples);
	}
	msg_progress_end();
	return rc;
}

static void tell(const struct progress *progress, size_t asked)
{
	const struct sampling *sampling = progress->sampling;
	const char *name = prometheus_name(sampling->prometheus);

	if (progress->first_ns == INT64_MAX)
		msg_warn("%s: has no memory and CPU of a container '%s' in namespace '%s' in the "
			 "time of %zu executions",
			 name, cluster_selector_container(&sampling->selector),
			 cluster_selector_namespace(&sampling->selector), asked);
	else
		msg_note("%s: memory and CPU were sampled while %" PRIu64
			 " of %zu executions ran (view sample_coverage)",
			 name, progress->sampled, asked);
}

int sampling_run(const struct sampling *sampling, struct err *fault, struct err *err)
{
	struct progress progress = {.sampling = sampling, .first_ns = INT64_MAX};
	struct wanted_windows wanted = {NULL, 0, 0, {0}};
	int rc;

	arena_init(&wanted.names, NAMES_MAX);
	rc = list_windows(sampling, &wanted, err);
	if (rc == 0)
		rc = find_first(sampling, &progress.first_ns, err);
	if (rc == 0)
		rc = ask_all(&progress, &wanted, fault, err);
	if (rc == 0 && wanted.count)
		tell(&progress, wanted.count);
	free(wanted.items);
	arena_release(&wanted.names);
	return rc;
}
