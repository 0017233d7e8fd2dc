/* What the user's project.json lists as heavy: one list a project, replaced as a whole. */
#include "store_db.h"

/* 1: a list of the project is stored: of the same file, of one that this one outranks; 0; -1. */
static int read_known(struct store *store, int64_t project_id, const struct listing *listing,
		      bool *out_same, bool *out_greater, struct err *err)
{
	struct statement *s =
		db_use(store, ST_LISTED_FILE,
		       "SELECT path = :path, (:mtime, :path) > (mtime_ns, path) FROM project_file"
		       " WHERE project_id = :project");
	int found;

	bind_int(s, ":project", project_id);
	bind_text(s, ":path", str_of(listing->path));
	bind_int(s, ":mtime", listing->mtime_ns);
	found = db_step(s, err);
	*out_same = found > 0 && column_int(s, 0);
	*out_greater = found > 0 && column_int(s, 1);
	db_reset(s);
	return found;
}

/* 1: the stored list is this one; 0; -1. */
static int is_listed(struct store *store, int64_t project_id, const struct listing *listing,
		     struct err *err)
{
	struct statement *s = db_use(store, ST_LISTED_SELECT,
				     "SELECT package FROM listed_package"
				     " WHERE project_id = :project ORDER BY position");
	bool same = true;
	size_t at = 0;
	int more;

	bind_int(s, ":project", project_id);
	while ((more = db_step(s, err)) > 0 && same) {
		same = at < listing->count && str_is(column_text(s, 0), listing->packages[at]);
		at++;
	}
	db_reset(s);
	return more < 0 ? -1 : same && at == listing->count;
}

static int put_file(struct store *store, int64_t project_id, const struct listing *listing,
		    struct err *err)
{
	struct statement *s = db_use(
		store, ST_LISTED_FILE_PUT,
		"INSERT INTO project_file (project_id, path, mtime_ns)"
		" VALUES (:project, :path, :mtime) ON CONFLICT (project_id) DO UPDATE SET"
		" path = :path, mtime_ns = :mtime WHERE (path, mtime_ns) <> (:path, :mtime)");

	bind_int(s, ":project", project_id);
	bind_text(s, ":path", str_of(listing->path));
	bind_int(s, ":mtime", listing->mtime_ns);
	return db_done(s, err);
}

static int put_package(struct store *store, int64_t project_id, const char *package, size_t at,
		       struct err *err)
{
	struct statement *s = db_use(store, ST_LISTED_PUT,
				     "INSERT INTO listed_package (project_id, package, position)"
				     " VALUES (:project, :package, :position)"
				     " ON CONFLICT DO NOTHING");

	bind_int(s, ":project", project_id);
	bind_text(s, ":package", str_of(package));
	bind_int(s, ":position", (int64_t)at);
	return db_done(s, err);
}

static int put_packages(struct store *store, int64_t project_id, const struct listing *listing,
			struct err *err)
{
	struct statement *s = db_use(store, ST_LISTED_DROP,
				     "DELETE FROM listed_package WHERE project_id = :project");
	size_t i;

	bind_int(s, ":project", project_id);
	if (db_done(s, err) < 0)
		return -1;
	for (i = 0; i < listing->count; i++)
		if (put_package(store, project_id, listing->packages[i], i, err) < 0)
			return -1;
	return 0;
}

int store_put_listing(struct store *store, const struct listing *listing, struct err *err)
{
	bool same_file, greater;
	int64_t project_id;
	int known;

	if (name_intern(store, NAME_PROJECT, str_of(listing->project), &project_id, err) < 0)
		return -1;
	known = read_known(store, project_id, listing, &same_file, &greater, err);
	if (known < 0)
		return -1;
	if (known && !same_file && !greater)
		return 0;
	if (put_file(store, project_id, listing, err) < 0)
		return -1;
	known = is_listed(store, project_id, listing, err);
	if (known)
		return known < 0 ? -1 : 0;
	return put_packages(store, project_id, listing, err);
}
