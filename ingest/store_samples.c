/*
 * What containers used, as Prometheus sampled it. A row is replaced as a whole:
 * its figures come from the same samples.
 */
#include "store_db.h"

static void bind_figures(struct statement *s, const struct container_figures *figures)
{
	bind_int(s, ":memory_samples", figures->memory_samples);
	bind_int(s, ":working_set", figures->working_set_peak_bytes);
	bind_int(s, ":anon", figures->anon_peak_bytes);
	bind_int(s, ":cpu_samples", figures->cpu_samples);
	bind_int(s, ":cpu", figures->cpu_ns);
	bind_int(s, ":cpu_window", figures->cpu_window_ns);
}

/*
 * In one comparison: samples, then a status, then that it is settled; equal rows
 * are not written. A result that has gone meanwhile gets none.
 */
int store_put_result_usage(struct store *store, const struct result_usage *usage, struct err *err)
{
	struct statement *s = db_use(
		store, ST_RESULT_USAGE_PUT,
		"INSERT INTO result_container (result_id, status, settled, interval_ms, lives,"
		" memory_samples, working_set_peak_bytes, anon_peak_bytes, cpu_samples, cpu_ns,"
		" cpu_window_ns, cores_peak_milli, wall_ns)"
		" SELECT :result, :status, :settled, :interval, :lives, :memory_samples,"
		" :working_set, :anon, :cpu_samples, :cpu, :cpu_window, :cores_peak,"
		" CASE WHEN source = 1 AND cpu_ns IS NOT NULL THEN wall_ns END"
		" FROM result WHERE result_id = :result"
		" ON CONFLICT (result_id) DO UPDATE SET status = excluded.status,"
		" settled = max(settled, excluded.settled), interval_ms = excluded.interval_ms,"
		" lives = excluded.lives, memory_samples = excluded.memory_samples,"
		" working_set_peak_bytes = excluded.working_set_peak_bytes,"
		" anon_peak_bytes = excluded.anon_peak_bytes, cpu_samples = excluded.cpu_samples,"
		" cpu_ns = excluded.cpu_ns, cpu_window_ns = excluded.cpu_window_ns,"
		" cores_peak_milli = excluded.cores_peak_milli"
		" WHERE (excluded.memory_samples + excluded.cpu_samples, -excluded.status,"
		" excluded.settled) > (memory_samples + cpu_samples, -status, settled)");

	bind_int(s, ":result", usage->result_id);
	bind_int(s, ":status", usage->status);
	bind_int(s, ":settled", usage->settled);
	bind_int(s, ":interval", usage->interval_ms);
	bind_int(s, ":lives", usage->lives);
	bind_int(s, ":cores_peak", usage->cores_peak_milli);
	bind_figures(s, &usage->figures);
	return db_done(s, err);
}

/* ---- minutes ---- */

static void bind_life(struct statement *s, int64_t pod_id, const struct minute_usage *usage)
{
	bind_int(s, ":pod", pod_id);
	bind_text(s, ":container", usage->container);
	bind_text(s, ":id", usage->container_id);
}

static int put_life(struct store *store, int64_t pod_id, const struct minute_usage *usage,
		    int64_t *out_life_id, struct err *err)
{
	struct statement *s = db_use(store, ST_LIFE_PUT,
				     "INSERT INTO container_life (pod_id, container, container_id)"
				     " VALUES (:pod, :container, :id) ON CONFLICT DO NOTHING");

	bind_life(s, pod_id, usage);
	if (db_done(s, err) < 0)
		return -1;
	s = db_use(store, ST_LIFE_SELECT,
		   "SELECT life_id FROM container_life"
		   " WHERE pod_id = :pod AND container = :container AND container_id = :id");
	bind_life(s, pod_id, usage);
	if (db_row(s, err) < 0)
		return -1;
	*out_life_id = column_int(s, 0);
	db_reset(s);
	return 0;
}

int store_put_minute_usage(struct store *store, const struct minute_usage *usage, struct err *err)
{
	struct statement *s;
	int64_t pod_id, life_id;

	if (pod_intern(store, usage->namespace, usage->pod, &pod_id, err) < 0 ||
	    put_life(store, pod_id, usage, &life_id, err) < 0)
		return -1;
	s = db_use(store, ST_MINUTE_USAGE_PUT,
		   "INSERT INTO container_usage (life_id, minute, memory_samples,"
		   " working_set_peak_bytes, anon_peak_bytes, cpu_samples, cpu_ns, cpu_window_ns)"
		   " VALUES (:life, :minute, :memory_samples, :working_set, :anon, :cpu_samples,"
		   " :cpu, :cpu_window)"
		   " ON CONFLICT (life_id, minute) DO UPDATE SET"
		   " memory_samples = excluded.memory_samples,"
		   " working_set_peak_bytes = excluded.working_set_peak_bytes,"
		   " anon_peak_bytes = excluded.anon_peak_bytes,"
		   " cpu_samples = excluded.cpu_samples, cpu_ns = excluded.cpu_ns,"
		   " cpu_window_ns = excluded.cpu_window_ns"
		   " WHERE excluded.memory_samples + excluded.cpu_samples"
		   " > memory_samples + cpu_samples");
	bind_int(s, ":life", life_id);
	bind_int(s, ":minute", usage->minute);
	bind_figures(s, &usage->figures);
	return db_done(s, err);
}
