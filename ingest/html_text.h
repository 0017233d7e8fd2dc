/*
 * Text for an HTML page. Names from logs are a stranger's: what a browser would
 * obey becomes an entity, what a screen would obey (control characters, direction
 * overrides, stray bytes) an escape that can be read. Pure.
 */
#ifndef BR2_HTML_TEXT_H
#define BR2_HTML_TEXT_H

#include "util/buf.h"
#include "util/str.h"

#include <stddef.h>

/* Adds `text`, fit for an element's content and for a quoted attribute. */
void html_add_text(struct buf *html, struct str text);
/* The same as an element of its own, so that its direction stays its own. */
void html_add_name(struct buf *html, struct str text);
/* As html_add_text(), but not more than `max` characters; what was cut is "…". */
void html_add_short(struct buf *html, struct str text, size_t max);

/* A column of a view as people read it: "peak_p95_gib" is "peak p95, GiB". */
void html_add_heading(struct buf *html, const char *column);

/* Numbers with a unit: "250 ms", "1.5 s", "12 s"; "512 MiB", "1.5 GiB". */
void html_add_seconds(struct buf *html, double seconds);
void html_add_bytes(struct buf *html, double bytes);
/* "640,000" */
void html_add_count(struct buf *html, unsigned long long count);

#endif
