#include "project.h"

#include "util/buf.h"
#include "util/err.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/path.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PROJECT_JSON_MAX ((size_t)1 << 20)

/* Cuts the last component off; false at "/". */
static bool go_up(char *dir)
{
	char *slash = strrchr(dir, '/');

	if (!slash || !dir[1])
		return false;
	slash[slash == dir] = '\0';
	return true;
}

char *project_find_root(const char *dir, const char *home)
{
	char *at = xstrdup(dir), *root = NULL;

	do {
		if (path_has(at, ".buckconfig")) {
			if (home && strcmp(at, home) == 0)
				break;
			free(root);
			root = xstrdup(at);
		}
	} while (!path_has(at, ".buckroot") && go_up(at));
	free(at);
	return root;
}

static char *base_name(const char *root)
{
	size_t len = strlen(root), start;

	while (len > 1 && root[len - 1] == '/')
		len--;
	for (start = len; start && root[start - 1] != '/'; start--)
		;
	return len == start ? xstrdup(root) : xmemdup0(root + start, len - start);
}

/* NULL where the file does not say one. */
static char *read_name(const char *path)
{
	struct err ignored = ERR_INIT;
	struct buf text = BUF_INIT;
	json_t *json = NULL;
	const char *name;
	char *copy = NULL;

	if (file_read(path, PROJECT_JSON_MAX, &text, &ignored) == 0)
		json = json_loadb(text.data, text.len, 0, NULL);
	name = json_string_value(json_object_get(json, "name"));
	if (name && *name)
		copy = xstrdup(name);
	json_decref(json);
	buf_release(&text);
	return copy;
}

char *project_name(const char *root)
{
	char *path = path_join(root, "project.json");
	char *name = read_name(path);

	free(path);
	return name ? name : base_name(root);
}
