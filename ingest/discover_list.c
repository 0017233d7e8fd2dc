#include "discover_list.h"

#include "discover_name.h"
#include "model.h"
#include "util/mem.h"
#include "util/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int64_t order_ns(const struct log_file *file)
{
	return file->start_ns == UNKNOWN ? file->mtime_ns : file->start_ns;
}

static bool is_wanted(const struct discover_options *options, const struct log_file *file)
{
	if (options->isolation_dir &&
	    (!file->isolation_dir || strcmp(options->isolation_dir, file->isolation_dir) != 0))
		return false;
	if (options->trace_id && (!*file->trace_id || strncasecmp(options->trace_id, file->trace_id,
								  strlen(options->trace_id)) != 0))
		return false;
	return options->since_ns == UNKNOWN || order_ns(file) >= options->since_ns;
}

static void file_release(struct log_file *file)
{
	free(file->path);
	free(file->held);
	free(file->root);
	free(file->project);
	free(file->isolation_dir);
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void list_add_file(struct log_list *list, const struct discover_options *options, const char *path,
		   const struct stat *st, const struct where *where)
{
	struct log_name name;
	struct log_file file;

	log_name_parse(path_base(path), &name);
	file = (struct log_file){
		.path = xstrdup(path),
		.root = copy(where->root),
		.project = copy(where->project),
		.isolation_dir = copy(where->isolation_dir),
		.rank = where->rank,
		.bytes = st->st_size,
		.mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
		.device = st->st_dev,
		.inode = st->st_ino,
		.start_ns = name.start_ns,
	};
	memcpy(file.trace_id, name.trace_id, sizeof(file.trace_id));
	if (!is_wanted(options, &file)) {
		list->unwanted++;
		file_release(&file);
		return;
	}
	list->files = xreallocarray(list->files, list->count + 1, sizeof(file));
	list->files[list->count++] = file;
}

void list_add_root(struct log_list *list, const char *root)
{
	size_t i;

	for (i = 0; i < list->root_count; i++)
		if (strcmp(list->roots[i], root) == 0)
			return;
	list->roots = xreallocarray(list->roots, list->root_count + 1, sizeof(*list->roots));
	list->roots[list->root_count++] = xstrdup(root);
}

void list_add_folder(struct log_list *list, const char *path, bool of_logs)
{
	list->folders =
		xreallocarray(list->folders, list->folder_count + 1, sizeof(*list->folders));
	list->folders[list->folder_count++] = (struct log_folder){xstrdup(path), of_logs};
}

void list_note_failure(struct log_list *list, const char *path, int number)
{
	char reason[128];

	if (number == ENOENT) {
		list->vanished++;
		return;
	}
	if (list->unreadable++)
		return;
	if (strerror_r(number, reason, sizeof(reason)) != 0)
		snprintf(reason, sizeof(reason), "error %d", number);
	snprintf(list->note, sizeof(list->note), "%s: %s", path, reason);
}

void log_list_add(struct log_list *list, const struct log_file *file)
{
	struct log_file *copied;

	list->files = xreallocarray(list->files, list->count + 1, sizeof(*file));
	copied = &list->files[list->count++];
	*copied = *file;
	copied->path = xstrdup(file->path);
	copied->held = copy(file->held);
	copied->root = copy(file->root);
	copied->project = copy(file->project);
	copied->isolation_dir = copy(file->isolation_dir);
	if (file->root)
		list_add_root(list, file->root);
}

/* ---- in order ---- */

static int by_start(const void *a, const void *b)
{
	const struct log_file *x = a, *y = b;
	int64_t x_ns = order_ns(x), y_ns = order_ns(y);

	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void drop_doubles(struct log_list *list)
{
	size_t i, kept = 0;

	for (i = 0; i < list->count; i++)
		if (kept && strcmp(list->files[kept - 1].path, list->files[i].path) == 0)
			file_release(&list->files[i]);
		else
			list->files[kept++] = list->files[i];
	list->count = kept;
}

static void keep_last(struct log_list *list, int64_t last)
{
	size_t i, drop;

	if (last == UNKNOWN || (uint64_t)last >= list->count)
		return;
	drop = list->count - (size_t)last;
	for (i = 0; i < drop; i++)
		file_release(&list->files[i]);
	memmove(list->files, list->files + drop, (size_t)last * sizeof(*list->files));
	list->count = (size_t)last;
}

void log_list_sort(struct log_list *list)
{
	if (list->count)
		qsort(list->files, list->count, sizeof(*list->files), by_start);
	if (list->root_count)
		qsort(list->roots, list->root_count, sizeof(*list->roots), by_text);
}

void list_put_in_order(struct log_list *list, int64_t last)
{
	log_list_sort(list);
	drop_doubles(list);
	keep_last(list, last);
}

void log_list_release(struct log_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		file_release(&list->files[i]);
	for (i = 0; i < list->root_count; i++)
		free(list->roots[i]);
	for (i = 0; i < list->folder_count; i++)
		free(list->folders[i].path);
	free(list->folders);
	free(list->files);
	free(list->roots);
	*list = (struct log_list)LOG_LIST_INIT;
}
