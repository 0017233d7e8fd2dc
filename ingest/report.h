/*
 * Stage 6: what the selected runs used, from stored rows: a page for people, or
 * rows. Each distinct digest counts once; its result is the action cache's.
 * Knows the store alone; words are those of the views.
 */
#ifndef BR2_REPORT_H
#define BR2_REPORT_H

#include "output.h"
#include "report_scope.h"
#include "store.h"
#include "util/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report_options {
	int64_t top;	   /* length of the list of longest actions; 0: no list */
	double min_wall_s; /* executions that ran shorter are left out */
	bool no_tests;	   /* leave out what only tests and listings refer to */
	bool rows;	   /* rows in `format`, not the page */
	enum output_format format;
};

#define REPORT_OPTIONS_INIT \
	{                   \
		.top = 10   \
	}

int report_print(struct store *store, const struct report_scope *scope,
		 const struct report_options *options, FILE *out, struct err *err);

struct log_list;

/* The page on the runs whose logs are in `list`, for the end of an ingest. */
int report_after_ingest(const char *db, const struct log_list *list, FILE *out, struct err *err);

#endif
