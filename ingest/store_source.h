/* Beneath store_open(): what is different for a file that is opened to be merged. */
#ifndef BR2_STORE_SOURCE_H
#define BR2_STORE_SOURCE_H

#include "store_db.h"

/*
 * By which name and flags SQLite opens it, so that no file is made beside it; the
 * caller frees *out_name. -1: it is no file, or its newest rows are in a WAL file.
 */
int source_name(const char *path, char **out_name, int *out_flags, struct err *err);

/*
 * The tables and their indexes are whole. From here on one state of the file is
 * read. -1: they are not: err says which.
 */
int source_verify(struct store *source, struct err *err);

/* Nobody has written to the file since. -1: somebody has. */
int source_unchanged(struct store *source, struct err *err);

#endif
