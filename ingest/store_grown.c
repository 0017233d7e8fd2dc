#include "store_db.h"

/*
 * A file's row tells how many records it had when it was last read to its end, and
 * is written after their rows. That holds for the run only if
 *
 *   - nothing was passed over as damaged: it may have been mended since;
 *   - the file showed no other run, whose records would count, too;
 *   - the run has an action that late: a run that stood in the file twice, cut
 *     short both times, has numbers that begin anew.
 */
int store_stored_until(struct store *store, int64_t run_id, const char *path, int64_t *out_seq,
		       struct err *err)
{
	struct statement *s =
		db_use(store, ST_STORED_UNTIL,
		       "SELECT coalesce(min(f.records, (SELECT max(a.seq) FROM action a"
		       " WHERE a.run_id = l.run_id)), 0)"
		       " FROM log_file f JOIN run_log l USING (log_file_id)"
		       " WHERE f.path = :path AND l.run_id = :run"
		       " AND f.malformed = 0 AND f.too_large = 0 AND (SELECT count(*)"
		       " FROM run_log o WHERE o.log_file_id = f.log_file_id) = 1");
	int found;

	bind_int(s, ":run", run_id);
	bind_text(s, ":path", str_of(path));
	found = db_step(s, err);
	*out_seq = found > 0 ? column_int(s, 0) : 0;
	db_reset(s);
	return found < 0 ? -1 : 0;
}
