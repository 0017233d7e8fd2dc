#include "html_svg.h"

#include "html_text.h"

void svg_begin(struct buf *html, const char *id, int height, const char *title,
	       const char *description)
{
	buf_addf(html,
		 "<figure>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		 "aria-labelledby=\"%s-t\">\n"
		 "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-t "
		 "%s-d\">\n"
		 "<title id=\"%s-t\">",
		 id, SVG_WIDTH, height, id, id, id);
	html_add_text(html, str_of(title));
	buf_addf(html, "</title>\n<desc id=\"%s-d\">", id);
	html_add_text(html, str_of(description));
	buf_addstr(html, "</desc>\n");
}

void svg_end(struct buf *html, const char *caption)
{
	buf_addf(html, "</svg>\n</div>\n<figcaption>%s</figcaption>\n</figure>\n", caption);
}

void svg_text(struct buf *html, const char *class, double x, double y, const char *text)
{
	buf_addf(html, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, x, y, text);
}

void svg_axis_x(struct buf *html, const struct axis *axis, double top, double bottom,
		svg_label_fn *label, const char *name)
{
	double value;
	int i;

	for (i = 0; axis_tick(axis, i, &value); i++) {
		double x = axis_place(axis, value);

		buf_addf(html,
			 "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"mid\" "
			 "x=\"%.1f\" "
			 "y=\"%.1f\">",
			 x, top, bottom, x, bottom + 18);
		label(html, value);
		buf_addstr(html, "</text>\n");
	}
	svg_text(html, "name mid", (SVG_LEFT + SVG_RIGHT) / 2.0, bottom + 38, name);
}

void svg_axis_y(struct buf *html, const struct axis *axis, svg_label_fn *label, const char *name)
{
	double value;
	int i;

	for (i = 0; axis_tick(axis, i, &value); i++) {
		double y = axis_place(axis, value);

		buf_addf(html,
			 "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"end\" x=\"%d\" "
			 "y=\"%.1f\">",
			 SVG_LEFT, y, SVG_RIGHT, SVG_LEFT - 8, y + 4);
		label(html, value);
		buf_addstr(html, "</text>\n");
	}
	/* Above the axis, not along it: upright text is read. */
	svg_text(html, "name", 4, axis->end - 12, name);
}

void svg_label_number(struct buf *html, double value)
{
	buf_addf(html, "%.6g", value);
}
