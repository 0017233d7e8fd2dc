#include "held.h"

#include "model.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_identity(const void *a, const void *b)
{
	const struct log_file *x = &((const struct held_log *)a)->file;
	const struct log_file *y = &((const struct held_log *)b)->file;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return strcmp(x->path, y->path);
}

static void file_release(struct log_file *file)
{
	free(file->path);
	free(file->held);
	free(file->root);
	free(file->project);
	free(file->isolation_dir);
}

static bool is_due(const struct held_log *log)
{
	return log->taken_bytes != log->file.bytes || log->taken_mtime_ns != log->file.mtime_ns;
}

/* ---- descriptors ---- */

static void let_go(struct held *held, struct held_log *log)
{
	close(log->fd);
	log->fd = -1;
	free(log->file.held);
	log->file.held = NULL;
	held->open--;
}

/* The one that is missed least. */
static struct held_log *find_idle(const struct held *held)
{
	struct held_log *idle = NULL;
	size_t i;

	for (i = 0; i < held->count; i++) {
		struct held_log *log = &held->logs[i];

		if (log->fd >= 0 && !is_due(log) &&
		    (!idle || log->file.mtime_ns < idle->file.mtime_ns))
			idle = log;
	}
	return idle;
}

static bool make_room(struct held *held)
{
	struct held_log *idle = held->open < held->open_max ? NULL : find_idle(held);

	if (idle)
		let_go(held, idle);
	return held->open < held->open_max;
}

static bool is_same(const struct log_file *file, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_dev == file->device && st->st_ino == file->inode;
}

static void hold(struct held *held, struct held_log *log)
{
	struct stat st;
	int fd;

	if (!make_room(held))
		return;
	fd = open(log->file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || !is_same(&log->file, &st)) {
		close(fd);
		return;
	}
	log->fd = fd;
	/* Opened anew by this name, it is read from its beginning, also where it has no other. */
	log->file.held = xasprintf("/proc/self/fd/%d", fd);
	held->open++;
}

static void note_size(struct log_file *file, const struct stat *st)
{
	file->bytes = st->st_size;
	file->mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* ---- a look ---- */

void held_look(struct held *held)
{
	size_t i;

	for (i = 0; i < held->count; i++)
		held->logs[i].seen = false;
}

static struct held_log *find(const struct held *held, size_t count, const struct log_file *file)
{
	const struct held_log key = {.file = *file};

	if (!count)
		return NULL;
	return bsearch(&key, held->logs, count, sizeof(key), by_identity);
}

/* The table is in order but for what was added. */
static void add(struct held *held, const struct log_file *file)
{
	struct log_list one = LOG_LIST_INIT;
	struct held_log *log;

	held->logs = xreallocarray(held->logs, held->count + 1, sizeof(*held->logs));
	log = &held->logs[held->count++];
	*log = (struct held_log){.fd = -1, .seen = true};
	log->taken_bytes = log->taken_mtime_ns = UNKNOWN;
	/* A copy with all that is its own, taken out of its list. */
	log_list_add(&one, file);
	log->file = one.files[0];
	one.count = 0;
	log_list_release(&one);
	hold(held, log);
}

static void see_again(struct held *held, struct held_log *log, const struct log_file *file)
{
	log->seen = true;
	log->file.bytes = file->bytes;
	log->file.mtime_ns = file->mtime_ns;
	if (log->fd < 0 && is_due(log))
		hold(held, log);
}

void held_see(struct held *held, const struct log_list *list)
{
	size_t known = held->count, i;

	for (i = list->count; i > 0; i--) {
		const struct log_file *file = &list->files[i - 1];
		struct held_log *log = find(held, known, file);

		if (log)
			see_again(held, log, file);
		else
			add(held, file);
	}
	if (held->count > known)
		qsort(held->logs, held->count, sizeof(*held->logs), by_identity);
}

/* Was closed, or may be: false: it is of no more use at all. */
static bool judge(struct held *held, struct held_log *log, int64_t now_ns)
{
	struct stat st;

	if (log->fd >= 0 && fstat(log->fd, &st) == 0)
		note_size(&log->file, &st);
	if (log->fd >= 0 && !is_due(log) && now_ns - log->file.mtime_ns > HELD_SILENCE_NS)
		let_go(held, log);
	return log->seen || log->fd >= 0;
}

void held_looked(struct held *held, int64_t now_ns)
{
	size_t i, kept = 0;

	for (i = 0; i < held->count; i++)
		if (judge(held, &held->logs[i], now_ns))
			held->logs[kept++] = held->logs[i];
		else
			file_release(&held->logs[i].file);
	held->count = kept;
}

void held_release(struct held *held)
{
	size_t i;

	for (i = 0; i < held->count; i++) {
		if (held->logs[i].fd >= 0)
			let_go(held, &held->logs[i]);
		file_release(&held->logs[i].file);
	}
	free(held->logs);
	*held = (struct held)HELD_INIT(held->open_max);
}

/* ---- a pass ---- */

size_t held_due(const struct held *held, const struct held_log **out_newest)
{
	size_t i, due = 0;

	*out_newest = NULL;
	for (i = 0; i < held->count; i++) {
		const struct held_log *log = &held->logs[i];

		if (!is_due(log))
			continue;
		due++;
		if (!*out_newest || log->file.mtime_ns > (*out_newest)->file.mtime_ns)
			*out_newest = log;
	}
	return due;
}

bool held_has_gone(const struct held *held)
{
	size_t i;

	for (i = 0; i < held->count; i++)
		if (held->logs[i].fd >= 0 && !held->logs[i].seen)
			return true;
	return false;
}

void held_list(struct held *held, struct log_list *out_list)
{
	size_t i;

	*out_list = (struct log_list)LOG_LIST_INIT;
	for (i = 0; i < held->count; i++) {
		struct held_log *log = &held->logs[i];

		log->handed = true;
		log->handed_bytes = log->file.bytes;
		log->handed_mtime_ns = log->file.mtime_ns;
		log_list_add(out_list, &log->file);
	}
	log_list_sort(out_list);
}

void held_taken(struct held *held)
{
	size_t i;

	for (i = 0; i < held->count; i++) {
		struct held_log *log = &held->logs[i];

		if (!log->handed)
			continue;
		log->taken_bytes = log->handed_bytes;
		log->taken_mtime_ns = log->handed_mtime_ns;
	}
}
