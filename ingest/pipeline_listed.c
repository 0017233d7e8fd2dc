#include "pipeline_listed.h"

#include "util/msg.h"

static int put_listing(struct store *store, const struct heavy_list *heavy, const char *project,
		       struct err *err)
{
	struct listing listing = {
		.project = project,
		.path = heavy->path,
		.mtime_ns = heavy->mtime_ns,
		.packages = (const char *const *)heavy->packages,
		.count = heavy->count,
	};

	if (store_begin(store, err) < 0)
		return -1;
	if (store_put_listing(store, &listing, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, err);
}

/* `project`: --project, which names a project whatever its file says; or NULL. */
static int store_root(struct store *store, const char *root, const char *project, struct err *err)
{
	struct heavy_list heavy;
	struct err fault = ERR_INIT;
	int rc = project_heavy(root, &heavy, &fault);

	if (rc < 0)
		msg_warn("%s: its list of heavy packages is not read", fault.text);
	if (rc <= 0)
		return 0;
	rc = put_listing(store, &heavy, project ? project : heavy.project, err);
	heavy_list_release(&heavy);
	return rc;
}

int listed_store(struct store *store, const struct log_list *list, const char *project,
		 struct err *err)
{
	size_t i;

	for (i = 0; i < list->root_count; i++)
		if (store_root(store, list->roots[i], project, err) < 0)
			return -1;
	return 0;
}
