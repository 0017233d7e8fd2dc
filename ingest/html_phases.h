/* The part of the page on where the time of executions went. */
#ifndef BR2_HTML_PHASES_H
#define BR2_HTML_PHASES_H

#include "html_page.h"
#include "html_points.h"

void phases_section(struct html_page *page, const struct points *points);

#endif
