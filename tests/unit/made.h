/*
 * Made runs: logs out of a seed, put into a store as the pipeline does, for the
 * laws of storing. A run's records are the same in every copy of its log; a copy
 * may be cut after any record. Digests are shared between runs; the answers of
 * the made cache depend on the digest only, and are given under one instance.
 */
#ifndef BR2_MADE_H
#define BR2_MADE_H

#include "store.h"

/* Records of every made log; its last one completes the run. */
#define MADE_RECORDS 128u
/* The instance under which the made cache knows results: named by a late link. */
#define MADE_INSTANCE "made/true"

struct made_log {
	unsigned run;	  /* which run: same number, same records */
	unsigned records; /* of the copy: up to MADE_RECORDS */
	unsigned copy;	  /* where it lies: another path, project and rank */
	unsigned slice;	  /* records a transaction; 0: all in one */
};

/* Every call ends the test program where it fails. */
struct store *made_open(const char *path, enum store_access access);
void made_ingest(struct store *store, const struct made_log *log);
/* Asks the made cache for all that is wanted, linked blobs included; sums up what is due. */
void made_answer(struct store *store);

/* All rows of a database by natural keys, sorted (tests/dump_rows.sql). Caller frees. */
char *made_dump(const char *path);
/* The same without the tables that say which files were read. */
char *made_dump_rows(const char *path);
/* Fails with the first line that two such dumps do not share. */
void made_assert_same(const char *rows, const char *wanted);
/* The file's bytes as they are. Caller frees. */
char *made_bytes(const char *path, size_t *out_len);
/* One number of a query that has one row of one column. */
int64_t made_number(struct store *store, const char *sql);
/* One text of such a query. Caller frees; NULL for NULL and for no row. */
char *made_text(struct store *store, const char *sql);

#endif
