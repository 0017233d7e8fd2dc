/*
 * The project around a folder: its root as Buck2 finds it, and its name.
 * Source: buck2 app/buck2_common/src/invocation_roots.rs at e26331d4a2.
 */
#ifndef BR2_PROJECT_H
#define BR2_PROJECT_H

#include "util/err.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The project root above `dir` (absolute) as Buck2 finds it: the furthest
 * ancestor with a .buckconfig, ending at one with a .buckroot, and before
 * `home` (may be NULL) if that has a .buckconfig. NULL: none. Caller frees.
 */
char *project_find_root(const char *dir, const char *home);
/*
 * `name` of <root>/project.json, else (no such file, too large, not JSON, no name in it)
 * the base name of root. Caller frees. NULL: the file is there and cannot be read
 * (ERR_USAGE): rows under another name would stay.
 */
char *project_name(const char *root, struct err *err);

/* `heavy` of a project.json: the packages that the user has listed. */
struct heavy_list {
	char *path;	  /* of the file */
	char *project;	  /* project_name() of the same bytes */
	int64_t mtime_ns; /* of the file, before it was read */
	char **packages;  /* each once, in its order */
	size_t count;	  /* 0: an empty list, or none */
};

/*
 * Reads <root>/project.json. 1, and the caller releases the list; 0: no such file;
 * -1: ERR_IO, ERR_LIMIT; ERR_FORMAT: no JSON object, or a `heavy` that is no list
 * of names. The text names the file.
 */
int project_heavy(const char *root, struct heavy_list *out, struct err *err);
void heavy_list_release(struct heavy_list *list);

#endif
