#include "util/path.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *path_join(const char *dir, const char *name)
{
	return xasprintf("%s%s%s", dir, strcmp(dir, "/") == 0 ? "" : "/", name);
}

char *path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? xstrdup("/") : xmemdup0(path, (size_t)(slash - path));
}

const char *path_base(const char *path)
{
	return strrchr(path, '/') + 1;
}

bool path_has(const char *dir, const char *name)
{
	char *path = path_join(dir, name);
	bool found = access(path, F_OK) == 0;

	free(path);
	return found;
}

bool path_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Drops empty and "." components in place; `path` begins with a slash. */
static void tidy(char *path)
{
	char *from = path, *to = path;

	while (*from) {
		size_t len;

		from += strspn(from, "/");
		len = strcspn(from, "/");
		if (len && !(len == 1 && *from == '.')) {
			*to++ = '/';
			memmove(to, from, len);
			to += len;
		}
		from += len;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

char *path_absolute(const char *path)
{
	char *here, *whole;

	if (strstr(path, ".."))
		return realpath(path, NULL);
	if (*path == '/') {
		whole = xstrdup(path);
	} else {
		here = getcwd(NULL, 0);
		if (!here)
			return NULL;
		whole = xasprintf("%s/%s", here, path);
		free(here);
	}
	tidy(whole);
	return whole;
}
