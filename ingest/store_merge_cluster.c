/* What a source knows of pods and their containers, and of looks at them. */
#include "store_merge_db.h"

/* Puts the row at which a statement stands. */
typedef int put_row_fn(struct merge *merge, struct columns *row, struct err *err);

static int each_row(struct merge *merge, struct statement *s, put_row_fn *put, struct err *err)
{
	int more;

	while ((more = db_step(s, err)) > 0) {
		struct columns c = {s, 0};

		if (put(merge, &c, err) < 0 || merge_rows(merge, 1, err) < 0) {
			db_reset(s);
			return -1;
		}
	}
	return more;
}

static int put_container(struct merge *merge, struct columns *c, struct err *err)
{
	struct container_spec spec = {0};

	spec.namespace = next_text(c);
	spec.pod = next_text(c);
	spec.container = next_text(c);
	spec.uid = next_text(c);
	spec.node = next_text(c);
	spec.cpu_request_millicores = next_int(c);
	spec.cpu_limit_millicores = next_int(c);
	spec.memory_request_bytes = next_int(c);
	spec.memory_limit_bytes = next_int(c);
	spec.restart_count = next_int(c);
	return store_put_container(merge->into, &spec, err);
}

static int put_termination(struct merge *merge, struct columns *c, struct err *err)
{
	struct termination end = {0};

	end.namespace = next_text(c);
	end.pod = next_text(c);
	end.container = next_text(c);
	end.finished_ns = next_int(c);
	end.layer = (enum evidence_layer)next_int(c);
	end.started_ns = next_int(c);
	end.exit_code = next_int(c);
	end.signal = next_int(c);
	end.reason = next_text(c);
	end.container_id = next_text(c);
	end.restarts = next_int(c);
	return store_put_termination(merge->into, &end, err);
}

static int put_oom(struct merge *merge, struct columns *c, struct err *err)
{
	struct oom_count oom = {0};

	oom.namespace = next_text(c);
	oom.pod = next_text(c);
	oom.container = next_text(c);
	oom.container_id = next_text(c);
	oom.last_ns = next_int(c);
	oom.first_ns = next_int(c);
	oom.count = next_int(c);
	return store_put_oom_count(merge->into, &oom, err);
}

static int put_look(struct merge *merge, struct columns *c, struct err *err)
{
	struct look look;
	struct interval span;

	look.layer = (enum evidence_layer)next_int(c);
	look.cache = next_text(c).data;
	look.selector = next_text(c).data;
	span.from = next_int(c);
	span.to = next_int(c);
	return store_put_look(merge->into, &look, span, err);
}

static int put_minute(struct merge *merge, struct columns *c, struct err *err)
{
	struct minute_usage usage;

	usage.namespace = next_text(c);
	usage.pod = next_text(c);
	usage.container = next_text(c);
	usage.container_id = next_text(c);
	usage.minute = next_int(c);
	usage.figures.memory_samples = next_int(c);
	usage.figures.working_set_peak_bytes = next_int(c);
	usage.figures.anon_peak_bytes = next_int(c);
	usage.figures.cpu_samples = next_int(c);
	usage.figures.cpu_ns = next_int(c);
	usage.figures.cpu_window_ns = next_int(c);
	return store_put_minute_usage(merge->into, &usage, err);
}

int merge_cluster(struct merge *merge, struct err *err)
{
	struct store *from = merge->from;

	if (each_row(merge,
		     db_use(from, ST_FROM_CONTAINERS,
			    "SELECT p.namespace, p.name, s.name, s.uid, s.node,"
			    " s.cpu_request_milli, s.cpu_limit_milli, s.memory_request_bytes,"
			    " s.memory_limit_bytes, c.restarts FROM container_said s"
			    " JOIN pod p ON p.pod_id = s.pod_id LEFT JOIN container c"
			    " ON c.pod_id = s.pod_id AND c.name = s.name ORDER BY s.rowid"),
		     put_container, err) < 0 ||
	    each_row(merge,
		     db_use(from, ST_FROM_TERMINATIONS,
			    "SELECT p.namespace, p.name, t.container, t.finished_ns, t.layer,"
			    " t.started_ns, t.exit_code, t.signal, t.reason, t.container_id,"
			    " t.restarts FROM termination t JOIN pod p ON p.pod_id = t.pod_id"),
		     put_termination, err) < 0)
		return -1;
	return each_row(merge,
			db_use(from, ST_FROM_OOMS,
			       "SELECT p.namespace, p.name, o.container, o.container_id,"
			       " o.last_ns, o.first_ns, o.count FROM oom_count o"
			       " JOIN pod p ON p.pod_id = o.pod_id"),
			put_oom, err);
}

/* Looks last: they say that all that was seen is stored. */
int merge_samples(struct merge *merge, struct err *err)
{
	if (each_row(merge,
		     db_use(merge->from, ST_FROM_MINUTES,
			    "SELECT p.namespace, p.name, l.container, l.container_id, u.minute,"
			    " u.memory_samples, u.working_set_peak_bytes, u.anon_peak_bytes,"
			    " u.cpu_samples, u.cpu_ns, u.cpu_window_ns FROM container_usage u"
			    " JOIN container_life l ON l.life_id = u.life_id"
			    " JOIN pod p ON p.pod_id = l.pod_id ORDER BY u.life_id, u.minute"),
		     put_minute, err) < 0)
		return -1;
	return each_row(merge,
			db_use(merge->from, ST_FROM_LOOKS,
			       "SELECT layer, cache, selector, from_ns, to_ns FROM layer_look"),
			put_look, err);
}
