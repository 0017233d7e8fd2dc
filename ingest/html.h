/*
 * Stage 6: the report as one HTML page, for those who decide how large workers
 * are: tables, plots, and what each number cannot say. Needs no network and no
 * script. The same database and scope give the same bytes.
 */
#ifndef BR2_HTML_H
#define BR2_HTML_H

#include "report_scope.h"
#include "store.h"
#include "util/buf.h"
#include "util/err.h"

#include <stdint.h>

/* Adds the page; `top` is the length of the list of longest actions. */
int html_add_page(struct store *store, const struct report_scope *scope, int64_t top,
		  struct buf *page, struct err *err);

#endif
