/* The database as the verbs that only read it open it. */
#ifndef BR2_DATABASE_H
#define BR2_DATABASE_H

#include "store.h"
#include "util/err.h"

/* Where it is (see common_db_path()), and that it exists; caller frees. */
int database_path(char **out_path, struct err *err);
/* Opens it for reading. -1: no such file yet, in words that say how to make one. */
int database_open(struct store **out_store, struct err *err);

#endif
