/*
 * The statements of reports: files of ingest/sql, in the binary. Kept out of C,
 * so that they can be read, and tried in the sqlite3 shell.
 */
#ifndef BR2_REPORT_SQL_H
#define BR2_REPORT_SQL_H

#include "embedded.h"

extern const struct embedded_sql report_statements[];

/* The text of ingest/sql/<name>.sql; a name that does not exist is a bug. */
const char *report_sql(const char *name);

#endif
