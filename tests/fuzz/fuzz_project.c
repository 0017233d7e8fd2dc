/*
 * Any bytes as a project.json. Laws: there is always a name; a list holds each package once; a
 * fault names the file.
 */
#include "project.h"
#include "util/mem.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/fuzz-project-XXXXXX";
static char *path;

static void clean_up(void)
{
	unlink(path);
	rmdir(folder);
	free(path);
}

static void write_file(const uint8_t *data, size_t size)
{
	int fd;

	if (!path) {
		if (!mkdtemp(folder))
			abort();
		path = xasprintf("%s/project.json", folder);
		atexit(clean_up);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void check_list(const struct heavy_list *list)
{
	size_t i, j;

	assert(strcmp(list->path, path) == 0 && list->mtime_ns > 0);
	for (i = 0; i < list->count; i++) {
		assert(list->packages[i][0]);
		for (j = 0; j < i; j++)
			assert(strcmp(list->packages[i], list->packages[j]) != 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heavy_list list;
	struct err err = ERR_INIT;
	char *name;
	int rc;

	write_file(data, size);
	name = project_name(folder, &err);
	assert(name && *name);
	rc = project_heavy(folder, &list, &err);
	assert(rc != 0);
	if (rc > 0) {
		check_list(&list);
		assert(strcmp(list.project, name) == 0);
		heavy_list_release(&list);
	} else {
		assert(err.kind == ERR_FORMAT || err.kind == ERR_LIMIT);
		assert(strncmp(err.text, path, strlen(path)) == 0);
	}
	free(name);
	return 0;
}
