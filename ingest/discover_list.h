/*
 * The list that discover() fills: which files are wanted, and their order; only
 * for discover.c.
 */
#ifndef BR2_DISCOVER_LIST_H
#define BR2_DISCOVER_LIST_H

#include "discover.h"

#include <sys/stat.h>

/* What the folder of a log says of it. */
struct where {
	char *root, *project, *isolation_dir;
	enum project_rank rank;
};

/* Adds the file if the options want it. `path` is absolute; all is copied. */
void list_add_file(struct log_list *list, const struct discover_options *options, const char *path,
		   const struct stat *st, const struct where *where);
/* Adds it once. */
void list_add_root(struct log_list *list, const char *root);
/* A folder that was looked into. */
void list_add_folder(struct log_list *list, const char *path, bool of_logs);
/* Counts something that could not be looked at; `number` is errno's value. */
void list_note_failure(struct log_list *list, const char *path, int number);
/* Sorts, drops doubles, keeps the newest `last` files (UNKNOWN: all). */
void list_put_in_order(struct log_list *list, int64_t last);

#endif
