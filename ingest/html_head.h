/* The top of the page: what it is about, the figures that one asks for first, the table by wall
 * time. */
#ifndef BR2_HTML_HEAD_H
#define BR2_HTML_HEAD_H

#include "html_page.h"
#include "html_plots.h"
#include "html_points.h"

int head_add(struct html_page *page, const struct points *points, const struct heavies *heavies,
	     struct err *err);
/* Of a scope without a run. */
void head_add_nothing(struct html_page *page);
void buckets_section(struct html_page *page, const struct points *points);

#endif
