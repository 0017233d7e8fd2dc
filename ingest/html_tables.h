/* The parts of the page that are rows: what to give workers, and the actions behind it. */
#ifndef BR2_HTML_TABLES_H
#define BR2_HTML_TABLES_H

#include "html_page.h"

/* Worker sizes, shapes, heavy packages, package sizes, waste. */
int sizing_sections(struct html_page *page, struct err *err);
/* Longest actions, kills, missing results, critical path, samples. */
int actions_sections(struct html_page *page, struct err *err);

#endif
