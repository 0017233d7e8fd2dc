#include "util/watch.h"

#include "util/mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define NAMES                                                                                  \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | \
	 IN_ONLYDIR)
#define CONTENTS (IN_MODIFY | IN_CLOSE_WRITE)

struct item {
	int number; /* inotify's, one for each folder, however it is called */
	bool named; /* since watch_begin() */
};

struct watch {
	int fd;
	struct item *items; /* by number */
	size_t count;
};

int watch_new(struct watch **out_watch, struct err *err)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd < 0 && errno == EMFILE)
		return err_errno(err, ERR_IO, errno,
				 "cannot watch folders (fs.inotify.max_user_instances, or open "
				 "files)");
	if (fd < 0)
		return err_errno(err, ERR_IO, errno, "cannot watch folders");
	*out_watch = xcalloc(1, sizeof(**out_watch));
	(*out_watch)->fd = fd;
	return 0;
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	close(watch->fd);
	free(watch->items);
	free(watch);
}

int watch_fd(const struct watch *watch)
{
	return watch->fd;
}

/* Where the number stands, or would stand. */
static size_t find(const struct watch *watch, int number)
{
	size_t low = 0, high = watch->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (watch->items[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* false: it is new. */
static bool name_again(struct watch *watch, int number)
{
	size_t at = find(watch, number);

	if (at == watch->count || watch->items[at].number != number)
		return false;
	watch->items[at].named = true;
	return true;
}

static void name_first(struct watch *watch, int number)
{
	size_t at = find(watch, number);

	watch->items = xreallocarray(watch->items, watch->count + 1, sizeof(*watch->items));
	memmove(watch->items + at + 1, watch->items + at,
		(watch->count - at) * sizeof(*watch->items));
	watch->items[at] = (struct item){number, true};
	watch->count++;
}

void watch_begin(struct watch *watch)
{
	size_t i;

	for (i = 0; i < watch->count; i++)
		watch->items[i].named = false;
}

int watch_folder(struct watch *watch, const char *path, bool contents, struct err *err)
{
	/* To a folder that is watched already, IN_MASK_ADD only adds what it is asked for. */
	uint32_t mask = NAMES | IN_MASK_ADD | (contents ? CONTENTS : 0);
	int number;

	number = inotify_add_watch(watch->fd, path, mask);
	if (number < 0 && errno == ENOSPC)
		return err_set(err, ERR_LIMIT,
			       "%s: no more folders can be watched: raise "
			       "fs.inotify.max_user_watches (sysctl), or name fewer projects",
			       path);
	if (number < 0 || name_again(watch, number))
		return 0;
	if (watch->count < WATCH_MAX) {
		name_first(watch, number);
		return 1;
	}
	inotify_rm_watch(watch->fd, number);
	return err_set(err, ERR_LIMIT,
		       "%s: more than %d folders to watch: name the projects themselves", path,
		       WATCH_MAX);
}

void watch_end(struct watch *watch)
{
	size_t i, kept = 0;

	for (i = 0; i < watch->count; i++)
		if (watch->items[i].named)
			watch->items[kept++] = watch->items[i];
		else /* fails where the folder is gone, and its watch with it */
			inotify_rm_watch(watch->fd, watch->items[i].number);
	watch->count = kept;
}

unsigned int watch_news_of(const char *bytes, size_t len)
{
	unsigned int news = 0;
	struct inotify_event event;

	while (len >= sizeof(event)) {
		size_t size;

		memcpy(&event, bytes, sizeof(event));
		size = sizeof(event) + event.len;
		if (event.mask & CONTENTS)
			news |= WATCH_CONTENTS;
		/* IN_IGNORED follows our own letting go, too: no news. */
		if (event.mask & (NAMES | IN_Q_OVERFLOW | IN_UNMOUNT))
			news |= WATCH_NAMES;
		if (size > len)
			break;
		bytes += size;
		len -= size;
	}
	return news;
}

unsigned int watch_read(struct watch *watch)
{
	unsigned int news = 0;
	char bytes[16384];
	ssize_t len;

	while ((len = read(watch->fd, bytes, sizeof(bytes))) > 0)
		news |= watch_news_of(bytes, (size_t)len);
	return news;
}
