/* The paths through a build's graph. */
#include "store_db.h"

/* 1: the run's row is this record's now; 0: one that is as early is there; -1. */
static int put_graph(struct store *store, int64_t run_id, uint64_t seq,
		     const struct build_graph *graph, struct err *err)
{
	struct statement *s =
		db_use(store, ST_GRAPH_PUT,
		       "INSERT INTO build_graph (run_id, seq, nodes, edges)"
		       " VALUES (:run, :seq, :nodes, :edges)"
		       " ON CONFLICT (run_id) DO UPDATE SET seq = excluded.seq,"
		       " nodes = excluded.nodes, edges = excluded.edges WHERE excluded.seq < seq");

	bind_int(s, ":run", run_id);
	bind_int(s, ":seq", (int64_t)seq);
	bind_int(s, ":nodes", graph->nodes);
	bind_int(s, ":edges", graph->edges);
	return db_done(s, err) < 0 ? -1 : db_changes(store) > 0;
}

static int drop_steps(struct store *store, int64_t run_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_STEPS_DROP, "DELETE FROM path_step WHERE run_id = :run");

	bind_int(s, ":run", run_id);
	return db_done(s, err);
}

struct step_names {
	int64_t name_id, detail_id, rule_id; /* UNKNOWN: none */
};

static int intern_names(struct store *store, const struct path_step *step, struct step_names *out,
			struct err *err)
{
	out->name_id = UNKNOWN;
	if ((step->name.target.data || step->name.category.data) &&
	    name_intern_action(store, &step->name, &out->name_id, err) < 0)
		return -1;
	if (name_intern_or_null(store, NAME_RULE, step->detail, &out->detail_id, err) < 0)
		return -1;
	return name_intern_or_null(store, NAME_RULE, step->rule_type, &out->rule_id, err);
}

static void bind_durations(struct statement *s, const struct path_step *step)
{
	bind_int(s, ":start_off_ns", step->start_ns);
	bind_int(s, ":duration_us", step->duration_us);
	bind_int(s, ":user_us", step->user_us);
	bind_int(s, ":total_us", step->total_us);
	bind_int(s, ":potential_us", step->potential_us);
	bind_int(s, ":queue_us", step->queue_us);
	bind_int(s, ":off_path_us", step->off_path_us);
}

static int put_step(struct store *store, int64_t run_id, size_t path, size_t idx,
		    const struct path_step *step, struct err *err)
{
	struct step_names names;
	struct statement *s;

	if (intern_names(store, step, &names, err) < 0)
		return -1;
	s = db_use(store, ST_STEP_PUT,
		   "INSERT INTO path_step (run_id, path, idx, kind, name_id, detail_id, rule_id,"
		   " execution_kind, span_id, hash, size_bytes, reused, start_off_ns, duration_us,"
		   " user_us, total_us, potential_us, queue_us, off_path_us)"
		   " VALUES (:run, :path, :idx, :kind, :name, :detail, :rule, :execution_kind,"
		   " :span, :hash, :size, :reused, :start_off_ns, :duration_us, :user_us,"
		   " :total_us, :potential_us, :queue_us, :off_path_us)");
	bind_int(s, ":run", run_id);
	bind_int(s, ":path", (int64_t)path);
	bind_int(s, ":idx", (int64_t)idx);
	bind_int(s, ":kind", step->kind);
	bind_int(s, ":name", names.name_id);
	bind_int(s, ":detail", names.detail_id);
	bind_int(s, ":rule", names.rule_id);
	bind_int(s, ":execution_kind", step->execution_kind);
	bind_int(s, ":span", step->span_id ? (int64_t)step->span_id : UNKNOWN);
	if (step->digest.hash_len) {
		bind_blob(s, ":hash", step->digest.hash, step->digest.hash_len);
		bind_int(s, ":size", step->digest.size_bytes);
	}
	bind_int(s, ":reused", step->reused);
	bind_durations(s, step);
	return db_done(s, err);
}

int store_put_graph(struct store *store, int64_t run_id, uint64_t seq,
		    const struct build_graph *graph, struct err *err)
{
	int changed = put_graph(store, run_id, seq, graph, err);
	size_t path, i;

	if (changed <= 0)
		return changed;
	if (drop_steps(store, run_id, err) < 0)
		return -1;
	for (path = PATH_CRITICAL; path < PATH_KINDS; path++)
		for (i = 0; i < graph->paths[path].count; i++)
			if (put_step(store, run_id, path, i, &graph->paths[path].steps[i], err) < 0)
				return -1;
	return 0;
}
