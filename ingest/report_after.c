/* The joint between an ingest and its report; kept apart, so that reports know no stage but the
 * store. */
#include "report.h"

#include "discover.h"
#include "util/mem.h"

#include <stdlib.h>

int report_after_ingest(const char *db, const struct log_list *list, FILE *out, struct err *err)
{
	const char **paths = xreallocarray(NULL, list->count + 1, sizeof(*paths));
	struct report_scope scope = REPORT_SCOPE_INIT;
	struct report_options options = REPORT_OPTIONS_INIT;
	struct store *store = NULL;
	int rc = -1;
	size_t i;

	for (i = 0; i < list->count; i++)
		paths[i] = list->files[i].path;
	if (store_open(&store, db, STORE_READ, err) == 0 &&
	    report_scope_paths(store, paths, list->count, false, &scope, err) == 0)
		rc = report_print(store, &scope, &options, out, err);
	report_scope_release(&scope);
	store_close(store);
	free(paths);
	return rc;
}
