/* Runs of a source: what they are, where they were seen, how their digests are asked. */
#include "digest.h"
#include "store_merge_db.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static void read_facts(struct columns *c, struct run_facts *out)
{
	out->command = next_text(c);
	out->argv_json = next_text(c);
	out->working_dir = next_text(c);
	out->start_ns = next_int(c);
	out->duration_us = next_int(c);
	out->succeeded = next_int(c);
	out->exit_code = next_int(c);
	out->error = next_text(c);
	out->error_count = next_int(c);
	out->host = next_text(c);
	out->os = next_text(c);
	out->os_version = next_text(c);
	out->arch = next_text(c);
	out->user = next_text(c);
	out->buck2_revision = next_text(c);
	out->daemon_uuid = next_text(c);
	out->revision = next_text(c);
	out->digest_function = next_int(c);
	out->complete = next_int(c) > 0;
}

/* A run of the source at its row: texts borrowed while it stands there. */
struct run_at {
	int64_t run_id; /* in the source */
	struct run_facts facts;
	struct str project, isolation_dir;
	struct str cache, instance, source; /* its choice; NULL: none */
	bool proved;
};

static struct statement *use_runs(struct merge *merge)
{
	return db_use(merge->from, ST_FROM_RUNS,
		      "SELECT r.run_id, r.trace_id, r.command, r.argv, r.working_dir, r.start_ns,"
		      " r.duration_us, r.succeeded, r.exit_code, r.error, r.error_count, r.host,"
		      " r.os, r.os_version, r.arch, r.user, r.buck2_revision, r.daemon_uuid,"
		      " r.revision, r.digest_function, r.complete, p.name, r.isolation_dir,"
		      " i.cache, i.name, r.instance_source, r.instance_proved"
		      " FROM run r JOIN project p ON p.project_id = r.project_id"
		      " LEFT JOIN instance i ON i.instance_id = r.instance_id ORDER BY r.run_id");
}

static void read_run(struct statement *s, struct run_at *out)
{
	struct columns c = {s, 0};

	out->run_id = next_int(&c);
	out->facts.trace_id = next_text(&c);
	read_facts(&c, &out->facts);
	out->project = next_text(&c);
	out->isolation_dir = next_text(&c);
	out->cache = next_text(&c);
	out->instance = next_text(&c);
	out->source = next_text(&c);
	out->proved = next_int(&c) > 0;
}

/* ---- the run and its places ---- */

/* A run that somebody still has comes back, whoever dropped it: else the order would matter. */
static int forget_prune(struct merge *merge, struct str trace_id, struct err *err)
{
	struct statement *s = db_use(merge->into, ST_INTO_PRUNED_DROP,
				     "DELETE FROM pruned_run WHERE trace_id = :trace_id");

	bind_text(s, ":trace_id", trace_id);
	return db_done(s, err);
}

/* SQLite's texts end with a NUL, and the tables hold none inside. */
static int put_run(struct merge *merge, const struct run_at *run, bool complete, int64_t *out_id,
		   struct err *err)
{
	struct statement *s = db_use(merge->from, ST_FROM_RUN_LOGS,
				     "SELECT f.path, l.project, l.project_rank, l.isolation_dir"
				     " FROM run_log l JOIN log_file f USING (log_file_id)"
				     " WHERE l.run_id = :run ORDER BY f.path");
	struct sighting sighting = {NULL, run->project.data, 0, run->isolation_dir.data};
	struct run_facts facts = run->facts;
	int more, seen = 0;

	facts.complete = complete;
	bind_int(s, ":run", run->run_id);
	while ((more = db_step(s, err)) > 0) {
		sighting = (struct sighting){column_text(s, 0).data, column_text(s, 1).data,
					     (int)column_int(s, 2), column_text(s, 3).data};
		seen++;
		if (store_put_run(merge->into, &facts, &sighting, out_id, err) < 0) {
			db_reset(s);
			return -1;
		}
	}
	if (more == 0 && !seen)
		return store_put_run(merge->into, &facts, &sighting, out_id, err);
	return more;
}

/* As with all that two logs of a run say differently, the greater one stays. */
static int put_value(struct merge *merge, int64_t run_id, struct statement *row, struct err *err)
{
	struct statement *s =
		db_use(merge->into, ST_INTO_CONFIG,
		       "INSERT INTO run_config (run_id, key, value) VALUES (:run, :key, :value)"
		       " ON CONFLICT (run_id, key) DO UPDATE SET value = excluded.value"
		       " WHERE excluded.value > value");

	bind_int(s, ":run", run_id);
	bind_text(s, ":key", column_text(row, 0));
	bind_text(s, ":value", column_text(row, 1));
	return db_done(s, err);
}

static int put_config(struct merge *merge, const struct run_at *run, int64_t run_id,
		      struct err *err)
{
	struct statement *s = db_use(merge->from, ST_FROM_CONFIG,
				     "SELECT key, value FROM run_config WHERE run_id = :run");
	int more;

	bind_int(s, ":run", run->run_id);
	while ((more = db_step(s, err)) > 0)
		if (put_value(merge, run_id, s, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

/* ---- how its digests are asked ---- */

static int put_candidates(struct merge *merge, const struct run_at *run, int64_t run_id,
			  struct err *err)
{
	struct statement *s =
		db_use(merge->from, ST_FROM_CANDIDATES,
		       "SELECT cache, name, source FROM instance_candidate WHERE run_id = :run");
	int more;

	bind_int(s, ":run", run->run_id);
	while ((more = db_step(s, err)) > 0) {
		const struct instance_choice choice = {column_text(s, 0).data,
						       column_text(s, 1).data,
						       column_text(s, 2).data, false};

		if (store_put_candidates(merge->into, run_id, &choice, 1, err) < 0) {
			db_reset(s);
			return -1;
		}
	}
	return more;
}

/*
 * Two proofs of different names: an ingest goes by the later one. Here both are as
 * old as each other, and the better guess stays.
 */
static int put_instance(struct merge *merge, const struct run_at *run, int64_t run_id,
			struct err *err)
{
	const struct instance_choice choice = {run->cache.data, run->instance.data,
					       run->source.data ? run->source.data : "default",
					       run->proved};
	struct instance_choice known;
	int found;

	if (!run->cache.data)
		return 0;
	found = store_get_instance(merge->into, run_id, &known, err);
	if (found < 0)
		return -1;
	if (found && known.proved && choice.proved && instance_order(&known, &choice) <= 0)
		return 0;
	return store_put_instance(merge->into, run_id, &choice, err);
}

/* The function of a run's digests and whether an answer proved it. 1; 0: it has none; -1. */
static int read_function(struct store *store, int64_t run_id, enum digest_function *out,
			 bool *out_proved, struct err *err)
{
	struct statement *s =
		db_use(store, ST_FROM_FUNCTION,
		       "SELECT l.function, r.instance_proved FROM run r JOIN attempt t"
		       " ON t.run_id = r.run_id JOIN lookup l ON l.lookup_id = t.lookup_id"
		       " WHERE r.run_id = :run LIMIT 1");
	int found;

	bind_int(s, ":run", run_id);
	found = db_step(s, err);
	if (found > 0) {
		*out = (enum digest_function)column_int(s, 0);
		*out_proved = column_int(s, 1) > 0;
	}
	db_reset(s);
	return found;
}

/*
 * Where a log does not say the function, a project's configuration does, and one
 * side may not have had it. A proved one stays; else the one that somebody
 * configured: Buck2's defaults are the smaller numbers. Asked before put_instance(),
 * which makes the source's proof this database's own.
 */
static int settle_function(struct merge *merge, const struct run_at *run, int64_t run_id,
			   enum digest_function *out, struct err *err)
{
	enum digest_function theirs = DIGEST_UNKNOWN, ours = DIGEST_UNKNOWN;
	bool theirs_proved, ours_proved;
	int found = read_function(merge->from, run->run_id, &theirs, &theirs_proved, err);

	*out = DIGEST_UNKNOWN;
	if (found > 0)
		found = read_function(merge->into, run_id, &ours, &ours_proved, err);
	if (found <= 0 || ours == theirs)
		return found < 0 ? -1 : 0;
	*out = ours;
	if (ours_proved != theirs_proved ? ours_proved : ours > theirs)
		return 0;
	*out = theirs;
	return run_move_function(merge->into, run_id, theirs, err);
}

/* ---- one run ---- */

/*
 * That it is complete is said last: a kill before that leaves a run that says of
 * itself that something is missing.
 */
static int merge_run(struct merge *merge, const struct run_at *run, struct err *err)
{
	enum digest_function function;
	int64_t run_id;

	if (forget_prune(merge, run->facts.trace_id, err) < 0 ||
	    put_run(merge, run, false, &run_id, err) < 0 ||
	    put_config(merge, run, run_id, err) < 0 ||
	    put_candidates(merge, run, run_id, err) < 0 ||
	    settle_function(merge, run, run_id, &function, err) < 0 ||
	    put_instance(merge, run, run_id, err) < 0 ||
	    merge_actions(merge, run->run_id, run_id, function, err) < 0 ||
	    merge_flights(merge, run->run_id, run_id, err) < 0 ||
	    merge_graph(merge, run->run_id, run_id, err) < 0)
		return -1;
	return run->facts.complete ? put_run(merge, run, true, &run_id, err) : 0;
}

static int is_known(struct merge *merge, struct str trace_id, struct err *err)
{
	struct statement *s = db_use(merge->into, ST_INTO_RUN,
				     "SELECT run_id FROM run WHERE trace_id = :trace_id");
	int found;

	bind_text(s, ":trace_id", trace_id);
	found = db_step(s, err);
	db_reset(s);
	return found;
}

int merge_runs(struct merge *merge, struct err *err)
{
	struct statement *s = use_runs(merge);
	struct run_at run;
	int more, known;

	while ((more = db_step(s, err)) > 0) {
		read_run(s, &run);
		known = is_known(merge, run.facts.trace_id, err);
		if (known < 0 || merge_run(merge, &run, err) < 0 || merge_rows(merge, 1, err) < 0) {
			db_reset(s);
			return -1;
		}
		merge->tally->runs += !known;
		merge->tally->runs_known += known;
	}
	return more;
}

/* What the source dropped, and this database does not have, an ingest does not bring back here
 * either. */
static int put_pruned(struct merge *merge, struct str trace_id, struct err *err)
{
	struct statement *s =
		db_use(merge->into, ST_INTO_PRUNED_PUT,
		       "INSERT INTO pruned_run (trace_id) SELECT :trace_id WHERE NOT EXISTS"
		       " (SELECT 1 FROM run WHERE trace_id = :trace_id) ON CONFLICT DO NOTHING");

	bind_text(s, ":trace_id", trace_id);
	return db_done(s, err);
}

int merge_pruned(struct merge *merge, struct err *err)
{
	struct statement *s =
		db_use(merge->from, ST_FROM_PRUNED, "SELECT trace_id FROM pruned_run");
	int more;

	while ((more = db_step(s, err)) > 0)
		if (put_pruned(merge, column_text(s, 0), err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}
