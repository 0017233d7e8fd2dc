#include "pipeline_logs.h"

#include "readers.h"
#include "rowput.h"
#include "util/mem.h"
#include "util/msg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct work {
	const struct log_intake *intake;
	const struct log_file **files; /* that are not known, in the list's order */
	size_t count;
};

/* ---- which ---- */

/* 1; 0; -1: the store failed. */
static int is_known(const struct log_intake *intake, const struct log_file *file, struct err *err)
{
	if (!intake->slice)
		return 0;
	return store_knows_file(intake->slice->store, file->path, file->bytes, file->mtime_ns, err);
}

static int look_at_files(struct work *work, struct err *err)
{
	const struct log_intake *intake = work->intake;
	size_t i;

	work->files = xcalloc(intake->list->count, sizeof(const struct log_file *));
	for (i = 0; i < intake->list->count; i++) {
		const struct log_file *file = &intake->list->files[i];
		int known = is_known(intake, file, err);

		if (known < 0)
			return -1;
		if (known)
			intake->tally->known++;
		else
			work->files[work->count++] = file;
	}
	return 0;
}

static int pick_files(struct work *work, struct err *err)
{
	struct store *store = work->intake->slice ? work->intake->slice->store : NULL;
	int failed;

	if (!store)
		return look_at_files(work, err);
	if (store_hold(store, err) < 0)
		return -1;
	failed = look_at_files(work, err);
	store_release(store);
	return failed;
}

static void fill_place(void *context, size_t index, struct runlog_place *out)
{
	const struct work *work = context;
	const struct log_file *file = work->files[index];
	const struct ingest_options *options = work->intake->options;
	const struct place *place = places_find(work->intake->places, file->root);

	memset(out, 0, sizeof(*out));
	out->path = file->path;
	out->held = file->held;
	out->project = file->project;
	out->project_rank = (int)file->rank;
	out->isolation_dir = file->isolation_dir;
	out->cache = options->cache;
	out->instance_flag = options->instance;
	out->pool = options->pool;
	out->no_stderr = options->no_stderr;
	if (place) {
		out->digest_function = place->digest_function;
		out->buckconfig_instance = place->instance;
		out->project_json_name = place->project_json_name;
	}
}

/* ---- what is said and counted ---- */

static const char *ending_word(enum stream_ending ending)
{
	switch (ending) {
	case STREAM_WHOLE:
		return "whole";
	case STREAM_BROKEN:
		return "broken";
	case STREAM_OPEN:
	case STREAM_CUT:
		break;
	}
	return "cut";
}

static void show_progress(const struct log_intake *intake, const struct log_file *file,
			  const struct reading_progress *progress)
{
	const struct ingest_tally *tally = intake->tally;

	msg_progress("log %" PRIu64 " of %zu: %.1f of %.1f MB, %" PRIu64 " actions",
		     tally->known + tally->read + 1, intake->list->count,
		     (double)progress->bytes_read / 1e6, (double)file->bytes / 1e6,
		     tally->actions + progress->actions);
}

static void count_log(struct ingest_tally *tally, const struct reading_outcome *outcome)
{
	tally->runs += outcome->rows.runs;
	tally->actions += outcome->rows.actions;
	tally->tests += outcome->rows.tests;
	tally->attempts += outcome->rows.attempts;
	tally->digests += outcome->rows.digests;
	tally->in_flight += outcome->rows.in_flight;
	tally->malformed += outcome->records.malformed;
	tally->too_large += outcome->records.too_large;
	tally->bytes_read += outcome->bytes_read;
	tally->bytes_decoded += outcome->bytes_decoded;
}

/* Says what was wrong with a log that was read, and counts it. */
static void judge_log(struct ingest_tally *tally, const char *path,
		      const struct reading_outcome *outcome)
{
	const struct log_tally *records = &outcome->records;

	if (outcome->ending == STREAM_CUT) {
		tally->cut++;
		msg_note("%s: cut short (a build that still runs, or a killed client): "
			 "all whole records are stored",
			 path);
	} else if (outcome->ending == STREAM_BROKEN) {
		tally->broken++;
		msg_warn("%s: %s; what stands before is stored", path, outcome->stream_fault);
	}
	if (records->malformed || records->too_large)
		msg_warn("%s: %" PRIu64 " malformed and %" PRIu64 " too large of %" PRIu64
			 " records skipped; first: %s",
			 path, records->malformed, records->too_large, records->records,
			 outcome->complaint);
}

/* For fear of a log that only starts actions; an action that ends needs no start. */
static void judge_starts(const char *path, const struct runlog_tally *rows)
{
	if (rows->refused_starts)
		msg_warn("%s: more actions open at once than are kept: %" PRIu64
			 " starts and stages left out, which show in incomplete runs only",
			 path, rows->refused_starts);
}

static void judge_unread(struct ingest_tally *tally, const char *path,
			 const struct reading_outcome *outcome)
{
	if (outcome->end == READING_VANISHED) {
		tally->vanished++;
		msg_warn("%s: gone before it was opened, skipping", path);
		return;
	}
	tally->unreadable++;
	tally->trouble = true;
	msg_warn("%s, skipping", outcome->fault.text);
}

/* ---- one log ---- */

static int store_file(struct slice *slice, const char *path, const struct reading_outcome *outcome,
		      struct err *err)
{
	const struct stat *stat = &outcome->stat;
	const char *note = outcome->stream_fault[0] ? outcome->stream_fault : outcome->complaint;
	struct log_outcome row = {
		.path = path,
		.bytes = stat->st_size,
		.mtime_ns = (int64_t)stat->st_mtim.tv_sec * 1000000000 + stat->st_mtim.tv_nsec,
		.ending = ending_word(outcome->ending),
		.records = outcome->records.records,
		.malformed = outcome->records.malformed,
		.too_large = outcome->records.too_large,
		.note = *note ? note : NULL,
	};

	if (slice_open(slice, err) < 0 || store_put_log(slice->store, &row, err) < 0)
		return -1;
	return slice_commit(slice, err);
}

static int finish_log(const struct log_intake *intake, const char *path,
		      const struct reading_outcome *outcome, struct err *err)
{
	count_log(intake->tally, outcome);
	if (outcome->end != READING_DONE) {
		judge_unread(intake->tally, path, outcome);
		return 0;
	}
	judge_log(intake->tally, path, outcome);
	judge_starts(path, &outcome->rows);
	if (intake->slice && store_file(intake->slice, path, outcome, err) < 0)
		return -1;
	intake->tally->read++;
	return 0;
}

static int put_rows(const struct log_intake *intake, struct rowput *put, struct rows *rows,
		    struct err *err)
{
	int failed = 0;

	if (pipeline_interrupted())
		failed = err_set(err, ERR_IO, "interrupted");
	else if (put)
		failed = rowput_rows(put, rows, err) < 0 ||
			 intake->on_batch(intake->context, err) < 0;
	rows_release(rows);
	return failed ? -1 : 0;
}

/* The log whose turn it is, to its end. */
static int take_log(const struct log_intake *intake, const struct log_file *file,
		    struct readers *readers, struct err *err)
{
	struct rowput *put = intake->slice ? rowput_new(intake->slice) : NULL;
	const struct reading_outcome *outcome = NULL;
	struct reading_progress progress;
	bool more = true;
	int failed = 0;

	while (more && !failed) {
		struct rows rows;

		more = readers_next(readers, &rows, &progress, &outcome);
		failed = put_rows(intake, put, &rows, err);
		show_progress(intake, file, &progress);
	}
	rowput_free(put);
	return failed ? -1 : finish_log(intake, file->path, outcome, err);
}

/* ---- all ---- */

static int end_log(const struct work *work, size_t index, struct err *err)
{
	const struct log_intake *intake = work->intake;
	struct logs_left left = {
		(const struct log_file *const *)work->files + index + 1,
		work->count - index - 1,
	};

	if (!intake->slice)
		return 0;
	return intake->on_log(intake->context, work->files[index], &left, err);
}

static int take_files(struct work *work, struct err *err)
{
	const struct log_intake *intake = work->intake;
	const struct readers_options options = {
		.count = work->count,
		.keep_rows = work->intake->slice != NULL,
		.place = fill_place,
		.context = work,
	};
	struct readers *readers = readers_new(&options);
	int failed = 0;
	size_t i;

	for (i = 0; i < work->count && !failed; i++)
		failed = take_log(work->intake, work->files[i], readers, err) < 0 ||
			 end_log(work, i, err) < 0;
	readers_free(readers);
	if (failed && intake->slice)
		slice_drop(intake->slice);
	return failed ? -1 : 0;
}

int pipeline_take_logs(const struct log_intake *intake, struct err *err)
{
	struct work work = {.intake = intake};
	int failed = pick_files(&work, err);

	if (!failed && work.count)
		failed = take_files(&work, err);
	free(work.files);
	msg_progress_end();
	return failed;
}
