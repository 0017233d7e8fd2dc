/* The paths through the build's graph of a source's run. */
#include "store_merge_db.h"

/* The run's row. 1; 0: its log held none; -1. */
static int read_graph(struct merge *merge, int64_t run_id, uint64_t *out_seq,
		      struct build_graph *out, struct err *err)
{
	struct statement *s = db_use(merge->from, ST_FROM_GRAPH,
				     "SELECT seq, nodes, edges FROM build_graph"
				     " WHERE run_id = :run");
	int found;

	bind_int(s, ":run", run_id);
	found = db_step(s, err);
	if (found > 0) {
		*out_seq = (uint64_t)column_int(s, 0);
		out->nodes = column_int(s, 1);
		out->edges = column_int(s, 2);
	}
	db_reset(s);
	return found;
}

static struct statement *use_steps(struct merge *merge, int64_t run_id, size_t path)
{
	struct statement *s = db_use(
		merge->from, ST_FROM_STEPS,
		"SELECT count(*) OVER (), s.kind, " NAME_COLUMNS ", d.name, u.name,"
		" s.execution_kind, NULL, s.hash, s.size_bytes, s.span_id, s.start_off_ns,"
		" s.duration_us, s.user_us, s.total_us, s.potential_us, s.queue_us,"
		" s.off_path_us, s.reused FROM path_step s"
		" LEFT JOIN action_name n ON n.name_id = s.name_id" NAME_JOINS(
			"LEFT JOIN") " LEFT JOIN rule d ON d.rule_id = s.detail_id"
				     " LEFT JOIN rule u ON u.rule_id = s.rule_id"
				     " WHERE s.run_id = :run AND s.path = :path ORDER BY s.idx");

	bind_int(s, ":run", run_id);
	bind_int(s, ":path", (int64_t)path);
	return s;
}

static int keep_texts(struct merge *merge, struct path_step *step, struct err *err)
{
	struct str *const texts[] = {&step->name.buck_package,	&step->name.target,
				     &step->name.category,	&step->name.identifier,
				     &step->name.configuration, &step->detail,
				     &step->rule_type};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (keep_text(merge, &merge->arena, *texts[i], texts[i], err) < 0)
			return -1;
	return 0;
}

static int read_step(struct merge *merge, struct columns *c, struct path_step *out, struct err *err)
{
	int64_t span_id;

	out->kind = next_int(c);
	next_name(c, &out->name);
	out->detail = next_text(c);
	out->rule_type = next_text(c);
	out->execution_kind = next_int(c);
	if (next_digest(c, &out->digest, err) < 0)
		return -1;
	span_id = next_int(c);
	out->span_id = span_id == UNKNOWN ? 0 : (uint64_t)span_id;
	out->start_ns = next_int(c);
	out->duration_us = next_int(c);
	out->user_us = next_int(c);
	out->total_us = next_int(c);
	out->potential_us = next_int(c);
	out->queue_us = next_int(c);
	out->off_path_us = next_int(c);
	out->reused = next_int(c) > 0;
	return keep_texts(merge, out, err);
}

static int read_path(struct merge *merge, int64_t run_id, size_t path, struct path *out,
		     struct err *err)
{
	struct statement *s = use_steps(merge, run_id, path);
	size_t at = 0;
	int more, rc = 0;

	while (rc == 0 && (more = db_step(s, err)) != 0) {
		struct columns c = {s, 0};

		if (more < 0)
			return -1;
		out->count = (size_t)next_int(&c);
		if (!at)
			out->steps = keep_room(merge, &merge->arena, out->count,
					       sizeof(*out->steps), err);
		rc = out->steps ? read_step(merge, &c, &out->steps[at++], err) : -1;
	}
	db_reset(s);
	return rc;
}

int merge_graph(struct merge *merge, int64_t from_run_id, int64_t run_id, struct err *err)
{
	struct build_graph graph = {0};
	uint64_t seq;
	size_t path, steps = 1;
	int found = read_graph(merge, from_run_id, &seq, &graph, err);

	if (found <= 0)
		return found;
	arena_reset(&merge->arena);
	for (path = PATH_CRITICAL; path < PATH_KINDS; path++) {
		if (read_path(merge, from_run_id, path, &graph.paths[path], err) < 0)
			return -1;
		steps += graph.paths[path].count;
	}
	if (store_put_graph(merge->into, run_id, seq, &graph, err) < 0)
		return -1;
	return merge_rows(merge, steps, err);
}
