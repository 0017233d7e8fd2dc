/*
 * Beneath store_open(): the file may be a stranger's, and opening it runs nothing of his.
 * What holds that: the settings below, tables_check() (store_tables.h) for what SQLite
 * computes when rows are read or written, views_refresh() (store_views.h) for SQL that our
 * statements would read through, store_vfs() for what a journal names. Triggers are off
 * for good. Views, tables and triggers of the user's own stay as they are, and are not run;
 * a view of his runs where he exports it by name.
 */
#ifndef BR2_STORE_GUARD_H
#define BR2_STORE_GUARD_H

#include "store_db.h"

/* -1: the path is a pipe, a device or a socket. */
int guard_path(const char *path, struct err *err);
/* Configures a fresh handle, and lets it read the schema. -1: that is damaged, or far too large. */
int guard_open(struct store *store, struct err *err);

#endif
