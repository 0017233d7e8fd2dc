#include "util/watch.h"

#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#include <cmocka.h>

/* Stands before the C library's: a limit that is reached, and folders without end. */
int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	static int many = 1 << 20;

	if (strcmp(path, "one too many") == 0) {
		errno = ENOSPC;
		return -1;
	}
	if (strcmp(path, "another") == 0)
		return many++;
	return (int)syscall(SYS_inotify_add_watch, fd, path, mask);
}

struct place {
	char *dir, *file;
	struct watch *watch;
};

static struct place place_new(bool contents)
{
	struct place place = {.dir = scratch_new()};
	struct err err = ERR_INIT;

	place.file = scratch_path(place.dir, "in/file");
	assert_int_equal(watch_new(&place.watch, &err), 0);
	watch_begin(place.watch);
	*strrchr(place.file, '/') = '\0';
	assert_int_equal(watch_folder(place.watch, place.file, contents, &err), 1);
	place.file[strlen(place.file)] = '/';
	watch_end(place.watch);
	return place;
}

static void place_release(struct place *place)
{
	watch_free(place->watch);
	scratch_remove(place->dir);
	free(place->file);
}

static void append(const char *path)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	fputs("x", file);
	assert_int_equal(fclose(file), 0);
}

/* All news until something came; the kernel tells at once, so that there is no wait in vain. */
static unsigned int news(struct watch *watch)
{
	struct pollfd fd = {.fd = watch_fd(watch), .events = POLLIN};

	return poll(&fd, 1, 0) > 0 ? watch_read(watch) : 0;
}

static void test_names_and_contents(void **state)
{
	struct place place = place_new(true);

	(void)state;
	assert_int_equal(news(place.watch), 0);
	append(place.file);
	assert_int_equal(news(place.watch), WATCH_NAMES | WATCH_CONTENTS);
	append(place.file);
	assert_int_equal(news(place.watch), WATCH_CONTENTS);
	unlink(place.file);
	assert_int_equal(news(place.watch), WATCH_NAMES);
	assert_int_equal(news(place.watch), 0);
	place_release(&place);
}

static void test_names_alone(void **state)
{
	struct place place = place_new(false);

	(void)state;
	append(place.file);
	assert_int_equal(news(place.watch), WATCH_NAMES);
	append(place.file);
	assert_int_equal(news(place.watch), 0);
	place_release(&place);
}

/* The folder whose name is cut from the file's. */
static int name_folder(struct place *place, struct err *err)
{
	char *slash = strrchr(place->file, '/');
	int rc;

	*slash = '\0';
	rc = watch_folder(place->watch, place->file, true, err);
	*slash = '/';
	return rc;
}

static void test_a_folder_is_new_once(void **state)
{
	struct place place = place_new(true);
	struct err err = ERR_INIT;

	(void)state;
	watch_begin(place.watch);
	assert_int_equal(name_folder(&place, &err), 0);
	assert_int_equal(name_folder(&place, &err), 0);
	watch_end(place.watch);
	append(place.file);
	assert_true(news(place.watch) & WATCH_NAMES);
	place_release(&place);
}

static void test_a_folder_removed_and_made_again(void **state)
{
	struct place place = place_new(true);
	struct err err = ERR_INIT;
	char *folder = scratch_path(place.dir, "in");

	(void)state;
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(news(place.watch), WATCH_NAMES);
	watch_begin(place.watch);
	assert_int_equal(name_folder(&place, &err), 0); /* gone: no fault */
	watch_end(place.watch);
	assert_int_equal(mkdir(folder, 0755), 0);
	watch_begin(place.watch);
	assert_int_equal(name_folder(&place, &err), 1);
	watch_end(place.watch);
	append(place.file);
	assert_true(news(place.watch) & WATCH_CONTENTS);
	free(folder);
	place_release(&place);
}

static void test_what_is_not_named_is_let_go(void **state)
{
	struct place place = place_new(true);

	(void)state;
	watch_begin(place.watch);
	watch_end(place.watch);
	append(place.file);
	assert_int_equal(news(place.watch), 0);
	place_release(&place);
}

static void test_limits_are_named(void **state)
{
	struct place place = place_new(true);
	struct err err = ERR_INIT;
	int i;

	(void)state;
	assert_int_equal(watch_folder(place.watch, "one too many", true, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_non_null(strstr(err.text, "fs.inotify.max_user_watches"));
	for (i = 1; i < WATCH_MAX; i++)
		assert_int_equal(watch_folder(place.watch, "another", true, &err), 1);
	assert_int_equal(watch_folder(place.watch, "another", true, &err), -1);
	assert_non_null(strstr(err.text, "more than 8192 folders"));
	assert_int_equal(name_folder(&place, &err), 0); /* it is watched: nothing more */
	place_release(&place);
}

static unsigned int news_of_mask(uint32_t mask, uint32_t name_len)
{
	char bytes[sizeof(struct inotify_event) + 16] = {0};
	struct inotify_event event = {.wd = 1, .mask = mask, .len = name_len};

	memcpy(bytes, &event, sizeof(event));
	return watch_news_of(bytes, sizeof(event) + name_len);
}

/* The kernel lost count: everything is looked at. */
static void test_overflow(void **state)
{
	(void)state;
	assert_int_equal(news_of_mask(IN_Q_OVERFLOW, 0), WATCH_NAMES);
	assert_int_equal(news_of_mask(IN_UNMOUNT, 0), WATCH_NAMES);
	assert_int_equal(news_of_mask(IN_IGNORED, 0), 0);
	assert_int_equal(news_of_mask(IN_CREATE, 16), WATCH_NAMES);
	assert_int_equal(watch_news_of("", 0), 0);
}

/* Two events, the second of which says that more follows than there is. */
static void test_many_events_and_a_cut_one(void **state)
{
	const struct inotify_event first = {.mask = IN_MODIFY},
				   second = {.mask = IN_DELETE, .len = 999};
	char bytes[2 * sizeof(first)];

	(void)state;
	memcpy(bytes, &first, sizeof(first));
	memcpy(bytes + sizeof(first), &second, sizeof(second));
	assert_int_equal(watch_news_of(bytes, sizeof(first)), WATCH_CONTENTS);
	assert_int_equal(watch_news_of(bytes, sizeof(bytes) - 1), WATCH_CONTENTS);
	assert_int_equal(watch_news_of(bytes, sizeof(bytes)), WATCH_CONTENTS | WATCH_NAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_contents),
		cmocka_unit_test(test_names_alone),
		cmocka_unit_test(test_a_folder_is_new_once),
		cmocka_unit_test(test_a_folder_removed_and_made_again),
		cmocka_unit_test(test_what_is_not_named_is_let_go),
		cmocka_unit_test(test_limits_are_named),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_many_events_and_a_cut_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
