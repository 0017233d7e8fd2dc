/* Runs and the files that showed them. */
#include "store_db.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

int store_knows_file(struct store *store, const char *path, int64_t bytes, int64_t mtime_ns,
		     struct err *err)
{
	struct statement *s = db_use(store, ST_FILE_KNOWN,
				     "SELECT 1 FROM log_file WHERE path = :path AND bytes = :bytes"
				     " AND mtime_ns = :mtime_ns");
	int known;

	bind_text(s, ":path", str_of(path));
	bind_int(s, ":bytes", bytes);
	bind_int(s, ":mtime_ns", mtime_ns);
	known = db_step(s, err);
	db_reset(s);
	return known;
}

static int put_file(struct store *store, const char *path, struct err *err)
{
	struct statement *s =
		db_use(store, ST_FILE_INSERT,
		       "INSERT INTO log_file (path) VALUES (:path) ON CONFLICT DO NOTHING");

	bind_text(s, ":path", str_of(path));
	return db_done(s, err);
}

int store_put_log(struct store *store, const struct log_outcome *outcome, struct err *err)
{
	struct statement *s;

	if (put_file(store, outcome->path, err) < 0)
		return -1;
	s = db_use(store, ST_FILE_PUT,
		   "UPDATE log_file SET bytes = :bytes, mtime_ns = :mtime_ns, ending = :ending,"
		   " records = :records, malformed = :malformed, too_large = :too_large,"
		   " note = :note WHERE path = :path AND (bytes, mtime_ns, ending, records,"
		   " malformed, too_large, note) IS NOT (:bytes, :mtime_ns, :ending, :records,"
		   " :malformed, :too_large, :note)");
	bind_int(s, ":bytes", outcome->bytes);
	bind_int(s, ":mtime_ns", outcome->mtime_ns);
	bind_text(s, ":ending", str_of(outcome->ending));
	bind_int(s, ":records", (int64_t)outcome->records);
	bind_int(s, ":malformed", (int64_t)outcome->malformed);
	bind_int(s, ":too_large", (int64_t)outcome->too_large);
	bind_text(s, ":note", str_of(outcome->note));
	bind_text(s, ":path", str_of(outcome->path));
	return db_done(s, err);
}

/* ---- the facts of a run ---- */

/* Columns of run that one log may know and another not. */
static const struct fact {
	const char *column, *param;
	enum { FACT_TEXT, FACT_INTEGER } type;
	size_t offset; /* in struct run_facts */
} run_facts_columns[] = {
#define FACT(name, type)                                                 \
	{                                                                \
#name, ":" #name, type, offsetof(struct run_facts, name) \
	}
	FACT(command, FACT_TEXT),
	FACT(working_dir, FACT_TEXT),
	FACT(host, FACT_TEXT),
	FACT(os, FACT_TEXT),
	FACT(os_version, FACT_TEXT),
	FACT(arch, FACT_TEXT),
	FACT(user, FACT_TEXT),
	FACT(buck2_revision, FACT_TEXT),
	FACT(daemon_uuid, FACT_TEXT),
	FACT(revision, FACT_TEXT),
	FACT(error, FACT_TEXT),
	FACT(start_ns, FACT_INTEGER),
	FACT(duration_us, FACT_INTEGER),
	FACT(succeeded, FACT_INTEGER),
	FACT(exit_code, FACT_INTEGER),
	FACT(error_count, FACT_INTEGER),
	FACT(digest_function, FACT_INTEGER),
#undef FACT
	{"argv", ":argv", FACT_TEXT, offsetof(struct run_facts, argv_json)},
};
#define FACT_COUNT (sizeof(run_facts_columns) / sizeof(*run_facts_columns))

/* The known one of two values; of two known ones the greater. */
static void add_merged(struct buf *sql, const char *column)
{
	buf_addf(sql, "coalesce(max(%s, excluded.%s), %s, excluded.%s)", column, column, column,
		 column);
}

/* The column list three times over is better made than written. */
static void make_merge_sql(struct buf *sql)
{
	size_t i;

	buf_addstr(sql, "INSERT INTO run (trace_id, project_id, complete");
	for (i = 0; i < FACT_COUNT; i++)
		buf_addf(sql, ", %s", run_facts_columns[i].column);
	buf_addstr(sql, ") VALUES (:trace_id, :project_id, :complete");
	for (i = 0; i < FACT_COUNT; i++)
		buf_addf(sql, ", %s", run_facts_columns[i].param);
	buf_addstr(sql, ") ON CONFLICT (trace_id) DO UPDATE SET complete = max(complete,"
			" excluded.complete)");
	for (i = 0; i < FACT_COUNT; i++) {
		buf_addf(sql, ", %s = ", run_facts_columns[i].column);
		add_merged(sql, run_facts_columns[i].column);
	}
	buf_addstr(sql, " WHERE complete < excluded.complete");
	for (i = 0; i < FACT_COUNT; i++) {
		buf_addf(sql, " OR %s IS NOT ", run_facts_columns[i].column);
		add_merged(sql, run_facts_columns[i].column);
	}
}

static void bind_fact(struct statement *s, const struct fact *fact, const struct run_facts *facts)
{
	const char *at = (const char *)facts + fact->offset;

	if (fact->type == FACT_TEXT) {
		struct str text;

		memcpy(&text, at, sizeof(text));
		bind_text(s, fact->param, text);
	} else {
		int64_t number;

		memcpy(&number, at, sizeof(number));
		bind_int(s, fact->param, number);
	}
}

static int merge_run(struct store *store, const struct run_facts *facts, int64_t project_id,
		     struct err *err)
{
	struct buf sql = BUF_INIT;
	struct statement *s;
	size_t i;

	if (!store->statements[ST_RUN_MERGE].handle)
		make_merge_sql(&sql);
	s = db_use(store, ST_RUN_MERGE, sql.data);
	buf_release(&sql);
	bind_text(s, ":trace_id", facts->trace_id);
	bind_int(s, ":project_id", project_id);
	bind_int(s, ":complete", facts->complete);
	for (i = 0; i < FACT_COUNT; i++)
		bind_fact(s, &run_facts_columns[i], facts);
	return db_done(s, err);
}

struct known_run {
	int64_t run_id, project_id, start_ns;
};

/* 1; 0: not known; -1. */
static int find_run(struct store *store, struct str trace_id, struct known_run *out,
		    struct err *err)
{
	struct statement *s =
		db_use(store, ST_RUN_SELECT,
		       "SELECT run_id, project_id, start_ns FROM run WHERE trace_id = :trace_id");
	int found;

	bind_text(s, ":trace_id", trace_id);
	found = db_step(s, err);
	if (found > 0) {
		out->run_id = column_int(s, 0);
		out->project_id = column_int(s, 1);
		out->start_ns = column_int(s, 2);
	}
	db_reset(s);
	return found;
}

/* ---- where it was seen ---- */

/* Of two sightings by one file the better one stays, as of two files. */
static int put_sighting(struct store *store, int64_t run_id, const struct sighting *sighting,
			struct err *err)
{
	struct statement *s;

	if (put_file(store, sighting->path, err) < 0)
		return -1;
	s = db_use(store, ST_SIGHTING_PUT,
		   "INSERT INTO run_log (run_id, log_file_id, project, project_rank, isolation_dir)"
		   " SELECT :run, log_file_id, :project, :rank, :isolation_dir FROM log_file"
		   " WHERE path = :path"
		   " ON CONFLICT (run_id, log_file_id) DO UPDATE SET project = excluded.project,"
		   " project_rank = excluded.project_rank, isolation_dir = excluded.isolation_dir"
		   " WHERE (-excluded.project_rank, excluded.project,"
		   " excluded.isolation_dir IS NULL, ifnull(excluded.isolation_dir, ''))"
		   " < (-project_rank, project, isolation_dir IS NULL, ifnull(isolation_dir, ''))");
	bind_int(s, ":run", run_id);
	bind_text(s, ":project", str_of(sighting->project));
	bind_int(s, ":rank", sighting->project_rank);
	bind_text(s, ":isolation_dir", str_of(sighting->isolation_dir));
	bind_text(s, ":path", str_of(sighting->path));
	return db_done(s, err);
}

static int set_result_project(struct store *store, int64_t result_id, int64_t project_id,
			      struct err *err)
{
	struct statement *s;

	if (sizes_leave(store, result_id, err) < 0)
		return -1;
	s = db_use(store, ST_RESULT_PROJECT,
		   "UPDATE result SET project_id = :project WHERE result_id = :result");
	bind_int(s, ":project", project_id);
	bind_int(s, ":result", result_id);
	return db_done(s, err) < 0 ? -1 : sizes_join(store, result_id, err);
}

/*
 * Results carry the project of their digest's first reference. All are found and sorted before the
 * first one is changed, and one that two attempts refer to is there once.
 */
static int set_results_project(struct store *store, int64_t run_id, int64_t project_id,
			       struct err *err)
{
	struct statement *s =
		db_use(store, ST_RUN_RESULTS,
		       "SELECT r.result_id FROM attempt a CROSS JOIN lookup l CROSS JOIN result r"
		       " WHERE a.run_id = :run AND l.lookup_id = a.lookup_id"
		       " AND l.first_run_id = :run AND r.lookup_id = l.lookup_id AND r.source = 1"
		       " UNION "
		       "SELECT r.result_id FROM attempt a CROSS JOIN lookup l CROSS JOIN result r"
		       " WHERE a.run_id = :run AND l.lookup_id = a.lookup_id"
		       " AND l.first_run_id = :run AND r.lookup_id = l.lookup_id AND r.source = 2");
	int more;

	bind_int(s, ":run", run_id);
	while ((more = db_step(s, err)) > 0)
		if (set_result_project(store, column_int(s, 0), project_id, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

static int set_place(struct store *store, int64_t run_id, int64_t project_id,
		     struct str isolation_dir, struct err *err)
{
	struct statement *s =
		db_use(store, ST_RUN_PLACE,
		       "UPDATE run SET project_id = :project, isolation_dir = :isolation_dir"
		       " WHERE run_id = :run AND (project_id, isolation_dir)"
		       " IS NOT (:project, :isolation_dir)");

	bind_int(s, ":project", project_id);
	bind_text(s, ":isolation_dir", isolation_dir);
	bind_int(s, ":run", run_id);
	return db_done(s, err);
}

/* The best of all sightings names the run's project and isolation dir. */
static int place_run(struct store *store, const struct known_run *run, struct err *err)
{
	struct statement *s =
		db_use(store, ST_SIGHTING_BEST,
		       "SELECT project, isolation_dir FROM run_log WHERE run_id = :run"
		       " ORDER BY project_rank DESC, project, isolation_dir IS NULL, isolation_dir"
		       " LIMIT 1");
	int64_t project_id;
	int failed;

	bind_int(s, ":run", run->run_id);
	if (db_row(s, err) < 0)
		return -1;
	failed = name_intern(store, NAME_PROJECT, column_text(s, 0), &project_id, err) < 0 ||
		 set_place(store, run->run_id, project_id, column_text(s, 1), err) < 0;
	db_reset(s);
	if (failed)
		return -1;
	if (project_id == run->project_id)
		return 0;
	return set_results_project(store, run->run_id, project_id, err);
}

/* Where the run belongs. One that no file shows stays where it is, unless it is new here. */
static int put_place(struct store *store, const struct known_run *run, bool is_new,
		     const struct sighting *sighting, struct err *err)
{
	if (sighting->path)
		return put_sighting(store, run->run_id, sighting, err) < 0
			       ? -1
			       : place_run(store, run, err);
	return is_new ? set_place(store, run->run_id, run->project_id,
				  str_of(sighting->isolation_dir), err)
		      : 0;
}

/* ---- the run ---- */

/* The run's place among all runs has changed: who came first at its digests? */
static int refer_anew(struct store *store, int64_t run_id, struct err *err)
{
	struct statement *s = db_use(store, ST_RUN_LOOKUPS,
				     "SELECT lookup_id FROM attempt WHERE run_id = :run"
				     " AND lookup_id IS NOT NULL");
	int more;

	bind_int(s, ":run", run_id);
	while ((more = db_step(s, err)) > 0)
		if (lookup_refer_anew(store, column_int(s, 0), err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

static int land_run(struct store *store, int64_t run_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_RUN_LANDS, "DELETE FROM in_flight WHERE run_id = :run");

	bind_int(s, ":run", run_id);
	return db_done(s, err);
}

int store_put_run(struct store *store, const struct run_facts *facts,
		  const struct sighting *sighting, int64_t *out_run_id, struct err *err)
{
	struct known_run before, after;
	int known = find_run(store, facts->trace_id, &before, err);

	if (known == 0 && sighting->path) {
		int pruned = run_is_pruned(store, facts->trace_id, err);

		*out_run_id = STORE_PRUNED;
		if (pruned)
			return pruned < 0 ? -1 : 0;
	}
	if (known < 0 ||
	    (!known && name_intern(store, NAME_PROJECT, str_of(sighting->project),
				   &before.project_id, err) < 0) ||
	    merge_run(store, facts, before.project_id, err) < 0 ||
	    find_run(store, facts->trace_id, &after, err) <= 0 ||
	    put_place(store, &after, !known, sighting, err) < 0)
		return -1;
	if (known && before.start_ns != after.start_ns && refer_anew(store, after.run_id, err) < 0)
		return -1;
	if ((facts->complete && land_run(store, after.run_id, err) < 0) ||
	    run_propose_anew(store, after.run_id, err) < 0)
		return -1;
	*out_run_id = after.run_id;
	return 0;
}

/* ---- -c values ---- */

struct named_value {
	char *key;
	size_t index; /* in the order given */
};

static int by_key_and_index(const void *a, const void *b)
{
	const struct named_value *left = a, *right = b;
	int order = strcmp(left->key, right->key);

	return order ? order : (left->index > right->index) - (left->index < right->index);
}

/* "section.key", "cell//section.key" */
static char *config_key(const struct config_value *value)
{
	struct buf key = BUF_INIT, scratch = BUF_INIT;
	struct str clean;

	if (value->cell.data) {
		buf_add(&key, value->cell.data, value->cell.len);
		buf_addstr(&key, "//");
	}
	buf_add(&key, value->section.data, value->section.len);
	buf_addch(&key, '.');
	buf_add(&key, value->key.data, value->key.len);
	clean = text_clean((struct str){key.data, key.len}, &scratch);
	if (clean.data == key.data) {
		buf_release(&scratch);
		return buf_detach(&key);
	}
	buf_release(&key);
	return buf_detach(&scratch);
}

static int put_value(struct store *store, int64_t run_id, const char *key, struct str value,
		     struct err *err)
{
	struct statement *s =
		db_use(store, ST_CONFIG_PUT,
		       "INSERT INTO run_config (run_id, key, value) VALUES (:run, :key, :value)"
		       " ON CONFLICT (run_id, key) DO UPDATE SET value = excluded.value"
		       " WHERE value IS NOT excluded.value");

	bind_int(s, ":run", run_id);
	bind_text(s, ":key", str_of(key));
	bind_text(s, ":value", value.data ? value : STR(""));
	return db_done(s, err);
}

int store_put_config(struct store *store, int64_t run_id, const struct config_value *values,
		     size_t count, struct err *err)
{
	struct named_value *named = xcalloc(count + 1, sizeof(*named));
	size_t i;
	int failed = 0;

	for (i = 0; i < count; i++)
		named[i] = (struct named_value){config_key(&values[i]), i};
	qsort(named, count, sizeof(*named), by_key_and_index);
	for (i = 0; i < count && !failed; i++) {
		if (i + 1 < count && strcmp(named[i].key, named[i + 1].key) == 0)
			continue;
		failed = put_value(store, run_id, named[i].key, values[named[i].index].value, err);
	}
	for (i = 0; i < count; i++)
		free(named[i].key);
	free(named);
	return failed ? -1 : 0;
}
