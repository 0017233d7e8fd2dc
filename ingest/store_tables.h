/*
 * Are the tables of the file the program's own? A table or index is the SQL that SQLite
 * keeps of it: generated columns, CHECKs, defaults, expressions of indexes. All of that
 * runs when a row is read or written, so each is compared with the shipped steps.
 */
#ifndef BR2_STORE_TABLES_H
#define BR2_STORE_TABLES_H

#include "store.h"

/*
 * Compares the file's tables and indexes with what the first `version` steps make. What
 * is not of the steps is left alone (a table, view or trigger of the user's, which
 * nothing here runs), but for
 * - an index on one of our tables, unless it is a plain one: over columns, not unique,
 *   not partial. Others compute, or refuse rows, when we write;
 * - names that stand before SQLite's own functions: pragma_*, json_each, json_tree.
 * -1: what differs, in words.
 */
int tables_check(struct store *store, int64_t version, struct err *err);

#endif
