/* Stage 6: what two runs were and used, as the head of compare.h's page. */
#ifndef BR2_COMPARE_SIDE_H
#define BR2_COMPARE_SIDE_H

#include "compare.h"

/* The columns of ingest/sql/compare_side.sql. */
enum compare_column {
	SIDE_RUN,
	SIDE_PROJECT,
	SIDE_STARTED,
	SIDE_LOG,
	SIDE_VARIANT,
	SIDE_MODE,
	SIDE_PASS,
	SIDE_SALT,
	SIDE_TAG,
	SIDE_OK,
	SIDE_SECONDS,
	SIDE_EXECUTING,
	SIDE_ACTIONS,
	SIDE_EXECUTED,
	SIDE_HITS,
	SIDE_UNKNOWN,
	SIDE_FAILED,
	SIDE_KILLS,
	SIDE_WALL,
	SIDE_CPU,
	SIDE_CORES,
	SIDE_RSS,
	SIDE_LIMIT_MIN,
	SIDE_LIMIT_MAX,
	SIDE_COLUMNS
};

struct compare_side {
	struct value values[SIDE_COLUMNS]; /* texts stand in `texts` */
	char *texts[SIDE_COLUMNS];	   /* owned; NULL: none */
};

/* Reads what is known of the run; -1 (ERR_USAGE): no such run. Release it in any case. */
int compare_side_read(struct store *store, const char *run, struct compare_side *out_side,
		      struct err *err);
void compare_side_release(struct compare_side *side);
/* Adds both heads, beside each other. */
void compare_side_add(const struct compare *compare, const struct compare_side *a,
		      const struct compare_side *b, struct buf *buf);

#endif
