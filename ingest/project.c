#include "project.h"

#include "util/buf.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/path.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PROJECT_JSON_MAX ((size_t)1 << 20)
/* More names than anybody lists; they are compared with each other. */
#define HEAVY_MAX 10000

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

/* NULL `json`: it does not say one. */
static char *name_in(const json_t *json, const char *root)
{
	const char *name = json_string_value(json_object_get(json, "name"));

	return name && *name ? xstrdup(name) : base_name(root);
}

/* A file that is not there, or larger than any, is as one that says nothing. */
static int read_text(const char *path, struct buf *out, struct err *err)
{
	struct stat stat_of;

	if (stat(path, &stat_of) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (file_read(path, PROJECT_JSON_MAX, out, err) == 0 || err->kind == ERR_LIMIT)
		return 0;
	err->kind = ERR_USAGE; /* for the user to put right, before any log is read */
	return -1;
}

char *project_name(const char *root, struct err *err)
{
	char *path = path_join(root, "project.json"), *name = NULL;
	struct err fault = ERR_INIT;
	struct buf text = BUF_INIT;
	json_t *json;

	if (read_text(path, &text, &fault) == 0) {
		json = json_loadb(text.data, text.len, 0, NULL);
		name = name_in(json, root);
		json_decref(json);
	} else {
		*err = fault;
	}
	buf_release(&text);
	free(path);
	return name;
}

/* ---- heavy ---- */

static bool is_listed(const struct heavy_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (strcmp(list->packages[i], name) == 0)
			return true;
	return false;
}

static int take_names(const json_t *names, struct heavy_list *out, struct err *err)
{
	size_t count = json_array_size(names), i;
	const char *name;

	if (!json_is_array(names) || count > HEAVY_MAX)
		return err_set(err, ERR_FORMAT, "%s: `heavy` is no list of up to %d packages",
			       out->path, HEAVY_MAX);
	out->packages = xcalloc(count + 1, sizeof(*out->packages));
	for (i = 0; i < count; i++) {
		name = json_string_value(json_array_get(names, i));
		if (!name || !*name)
			return err_set(err, ERR_FORMAT,
				       "%s: entry %zu of `heavy` is no name of a package",
				       out->path, i + 1);
		if (!is_listed(out, name))
			out->packages[out->count++] = xstrdup(name);
	}
	return 0;
}

static int take_heavy(const struct buf *text, const char *root, struct heavy_list *out,
		      struct err *err)
{
	json_error_t fault;
	json_t *json = json_loadb(text->data, text->len, 0, &fault);
	json_t *names = json_object_get(json, "heavy");
	int rc = 0;

	if (!json)
		rc = err_set(err, ERR_FORMAT, "%s:%d:%d: %s", out->path, fault.line, fault.column,
			     fault.text);
	else if (!json_is_object(json))
		rc = err_set(err, ERR_FORMAT, "%s: no JSON object", out->path);
	else if (names)
		rc = take_names(names, out, err);
	out->project = name_in(json, root);
	json_decref(json);
	return rc;
}

int project_heavy(const char *root, struct heavy_list *out, struct err *err)
{
	struct buf text = BUF_INIT;
	struct stat stat_of;
	int rc;

	*out = (struct heavy_list){.path = path_join(root, "project.json")};
	if (stat(out->path, &stat_of) < 0) {
		rc = errno == ENOENT ? 0 : err_errno(err, ERR_IO, errno, "%s", out->path);
		goto out;
	}
	out->mtime_ns = (int64_t)stat_of.st_mtim.tv_sec * 1000000000 + stat_of.st_mtim.tv_nsec;
	rc = file_read(out->path, PROJECT_JSON_MAX, &text, err);
	if (rc == 0)
		rc = take_heavy(&text, root, out, err) < 0 ? -1 : 1;
out:
	buf_release(&text);
	if (rc <= 0)
		heavy_list_release(out);
	return rc;
}

void heavy_list_release(struct heavy_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->packages[i]);
	free(list->packages);
	free(list->path);
	free(list->project);
	*list = (struct heavy_list){.path = NULL};
}
