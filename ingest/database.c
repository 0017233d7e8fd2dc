#include "database.h"

#include "common.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int database_path(char **out_path, struct err *err)
{
	char *path;

	if (common_db_path(common_options.db, &path, err) < 0)
		return -1;
	if (access(path, F_OK) != 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			err_set(err, ERR_IO,
				"no database at %s yet: br2-ingest in a project makes it", path);
		else
			err_errno(err, ERR_IO, errno, "%s", path);
		free(path);
		return -1;
	}
	*out_path = path;
	return 0;
}

int database_open(struct store **out_store, struct err *err)
{
	char *path;
	int rc;

	if (database_path(&path, err) < 0)
		return -1;
	rc = store_open(out_store, path, STORE_READ, err);
	free(path);
	return rc;
}
