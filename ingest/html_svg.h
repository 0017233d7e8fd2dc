/*
 * Pieces of plots as SVG inside of a page: colours and fonts are the page's, by
 * class. Coordinates are those of the picture's own box, which is as wide as
 * SVG_WIDTH and scales with the page.
 */
#ifndef BR2_HTML_SVG_H
#define BR2_HTML_SVG_H

#include "html_axis.h"
#include "util/buf.h"

#define SVG_WIDTH 760
#define SVG_LEFT 66 /* of the plot's area */
#define SVG_RIGHT 732

/* Opens figure and picture; `description` is plain text, for those who cannot see it. `id` is the
 * page's own. */
void svg_begin(struct buf *html, const char *id, int height, const char *title,
	       const char *description);
/* Closes the picture; `caption` is HTML. */
void svg_end(struct buf *html, const char *caption);

typedef void svg_label_fn(struct buf *html, double value);

/* Ticks with grid lines through the whole area (`from` to `to` on the other axis). */
void svg_axis_x(struct buf *html, const struct axis *axis, double top, double bottom,
		svg_label_fn *label, const char *name);
void svg_axis_y(struct buf *html, const struct axis *axis, svg_label_fn *label, const char *name);
/* A plain number. */
void svg_label_number(struct buf *html, double value);

/* "…" of class `class` at x, y; the text is HTML already. */
void svg_text(struct buf *html, const char *class, double x, double y, const char *text);

#endif
