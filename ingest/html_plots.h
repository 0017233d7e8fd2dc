/* The two scatter plots of the page: wall against cores, wall against memory. */
#ifndef BR2_HTML_PLOTS_H
#define BR2_HTML_PLOTS_H

#include "html_page.h"
#include "html_points.h"

#include <stdint.h>

/* A heavy execution, as it is marked. */
struct heavy {
	double wall_s, cores;
	double peak_bytes; /* below 0: unknown */
	char *package, *about;
};

struct heavies {
	struct heavy *items; /* longest first */
	size_t count;
	int64_t total; /* of the scope, of which `count` are marked */
};

/* `heavies` is released by the caller, also after -1. */
int heavies_read(struct html_page *page, struct heavies *heavies, struct err *err);
void heavies_release(struct heavies *heavies);

/* Each is a section. */
void plot_cores(struct html_page *page, const struct points *points, const struct heavies *heavies);
int plot_memory(struct html_page *page, const struct points *points, const struct heavies *heavies,
		struct err *err);

#endif
