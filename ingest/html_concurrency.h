/* The part of the page on how many actions of an invocation ran and waited over time. */
#ifndef BR2_HTML_CONCURRENCY_H
#define BR2_HTML_CONCURRENCY_H

#include "html_page.h"

int concurrency_section(struct html_page *page, struct err *err);

#endif
