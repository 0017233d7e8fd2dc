#include "pipeline_follow.h"

#include "held.h"
#include "pipeline_pass.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/msg.h"
#include "util/path.h"
#include "util/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A pass waits until all have been silent so long, but not for ever: a build writes each second. */
#define QUIET_MS 2000
#define QUIET_MAX_MS 10000
/* It waits, too, so many times as long as the last one took: a tenth of one core at most. */
#define REST_FACTOR 9
#define REST_MAX_MS 300000
/* After trouble, first and last; each time twice as long. */
#define RETRY_MS 5000
#define RETRY_MAX_MS 600000
/* Writes are looked at no more often; what nobody tells of (other machines write) no less often. */
#define LOOK_MS 1000
#define LOOK_MAX_MS 60000
/* A log must be found before it can go; but a folder in which names come and go is no reason to do
 * nothing else. */
#define LOOK_REST_MS 10
/* Logs held open at once, at most; a fourth of what the process may open if that is less. */
#define OPEN_MAX 256

struct follow {
	const char *db;
	struct ingest_options options;
	follow_stored_fn *stored;
	void *context;
	char **paths; /* absolute, as links lead now or later; NULL: from here */
	size_t path_count;
	struct watch *watch;
	struct held held;
	struct msg_memory *said;
	struct pass pass;
	struct pass_result last;
	size_t due; /* of the pass that runs */
	char *newest;
	bool found_unreadable;			     /* by the look that goes on */
	bool unwatched, unreadable;		     /* said, and still so */
	bool begun;				     /* the first pass is over */
	int64_t begun_ms, rest_until_ms;	     /* passes */
	int64_t retry_at_ms, retry_ms;		     /* INT64_MAX: nothing to try again */
	int64_t looked_ms, look_at_ms, look_rest_ms; /* looks */
	int64_t first_ms, stirred_ms; /* since when logs are due; INT64_MAX: none is */
};

/* Written to by the signal's handler, so that it cannot come between a look and a wait. */
static int wake[2] = {-1, -1};
static volatile sig_atomic_t ending;

void pipeline_follow_end(void)
{
	int number = errno;
	ssize_t written;

	ending = 1;
	written = write(wake[1], "", 1);
	(void)written;
	errno = number;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- looking ---- */

/* 1: folders that were not watched before; 0; -1: some cannot be. */
static int watch_list(struct follow *follow, const struct log_list *list, struct err *err)
{
	size_t i;
	int news = 0;

	for (i = 0; i < list->folder_count && news >= 0; i++) {
		int one = watch_folder(follow->watch, list->folders[i].path,
				       list->folders[i].of_logs, err);

		news = one < 0 ? -1 : news | one;
	}
	return news;
}

static void note_unreadable(struct follow *follow, const struct log_list *list)
{
	if (!list->unreadable)
		return;
	if (!follow->unreadable)
		msg_warn("%" PRIu64 " places could not be looked at; first: %s", list->unreadable,
			 list->note);
	follow->found_unreadable = true;
}

/* A path that is not there (yet, or again): what is above it tells when it comes. */
static int watch_above(struct follow *follow, const char *path, struct err *err)
{
	char *above = path_dir(path);
	int news;

	while (!path_is_dir(above) && above[1]) {
		char *next = path_dir(above);

		free(above);
		above = next;
	}
	news = watch_folder(follow->watch, above, false, err);
	free(above);
	return news;
}

/* One of the paths, NULL: from here. As watch_list(); what is there is seen in any case. */
static int look_at(struct follow *follow, const char *path, bool first, struct err *err)
{
	struct log_list list;
	struct err fault = ERR_INIT;
	int news;

	if (discover(&follow->options.discover, &path, path ? 1 : 0, &list, &fault) < 0) {
		if (first) {
			*err = fault;
			return -1;
		}
		return path ? watch_above(follow, path, err) : 0;
	}
	news = watch_list(follow, &list, err);
	held_see(&follow->held, &list);
	note_unreadable(follow, &list);
	log_list_release(&list);
	return news;
}

/* At all paths; *err is the first one's fault. As look_at(). */
static int look_at_all(struct follow *follow, bool first, struct err *err)
{
	size_t count = follow->path_count ? follow->path_count : 1, i;
	bool news = false;

	follow->found_unreadable = false;
	watch_begin(follow->watch);
	held_look(&follow->held);
	for (i = 0; i < count; i++) {
		struct err fault = ERR_INIT;
		int one = look_at(follow, follow->path_count ? follow->paths[i] : NULL, first,
				  &fault);

		news |= one > 0;
		if (one < 0 && !err->kind)
			*err = fault;
	}
	follow->unreadable = follow->found_unreadable;
	watch_end(follow->watch);
	held_looked(&follow->held, clock_now_ns());
	return err->kind ? -1 : news;
}

/*
 * What came into a folder before it was watched is seen by looking once more. Folders
 * that come faster than that are told by the next events.
 */
static int look(struct follow *follow, bool first, struct err *err)
{
	int64_t begun_ms = clock_monotonic_ms();
	int news = 1, tries;

	for (tries = 0; news > 0 && tries < 4; tries++)
		news = look_at_all(follow, first, err);
	follow->looked_ms = clock_monotonic_ms();
	follow->look_rest_ms = LOOK_REST_MS + REST_FACTOR * (follow->looked_ms - begun_ms);
	follow->look_at_ms =
		follow->looked_ms + (held_has_gone(&follow->held) ? LOOK_MS : LOOK_MAX_MS);
	return news < 0 ? -1 : 0;
}

/* A look, and what it means for the next pass. */
static void look_again(struct follow *follow)
{
	const struct held_log *newest;
	struct err err = ERR_INIT;
	bool unwatched = look(follow, false, &err) < 0;

	if (unwatched && !follow->unwatched)
		msg_warn("%s; what is not watched is looked at each minute", err.text);
	follow->unwatched = unwatched;
	if (!held_due(&follow->held, &newest))
		follow->first_ms = INT64_MAX;
	else if (follow->first_ms == INT64_MAX)
		follow->first_ms = follow->stirred_ms = follow->looked_ms;
}

static void hear(struct follow *follow)
{
	unsigned int news = watch_read(follow->watch);
	int64_t now_ms = clock_monotonic_ms();

	if (news)
		follow->stirred_ms = now_ms;
	if (news & WATCH_NAMES)
		follow->look_at_ms =
			smaller(follow->look_at_ms, follow->looked_ms + follow->look_rest_ms);
	else if (news & WATCH_CONTENTS)
		follow->look_at_ms = smaller(follow->look_at_ms, follow->looked_ms + LOOK_MS);
}

/* ---- passes ---- */

/* When the next pass is to begin; INT64_MAX: none is wanted. */
static int64_t next_pass_ms(const struct follow *follow)
{
	int64_t due_ms = INT64_MAX, at_ms;

	if (follow->pass.process)
		return INT64_MAX;
	if (follow->first_ms != INT64_MAX)
		due_ms = smaller(follow->first_ms + QUIET_MAX_MS, follow->stirred_ms + QUIET_MS);
	at_ms = smaller(due_ms, follow->retry_at_ms);
	return at_ms > follow->rest_until_ms ? at_ms : follow->rest_until_ms;
}

static int begin_pass(struct follow *follow, struct err *err)
{
	const struct held_log *newest;
	struct log_list list;
	int failed;

	follow->due = held_due(&follow->held, &newest);
	free(follow->newest);
	follow->newest = newest ? xstrdup(newest->file.path) : NULL;
	follow->first_ms = INT64_MAX;
	follow->retry_at_ms = INT64_MAX;
	follow->begun_ms = clock_monotonic_ms();
	follow->options.now_ns = clock_now_ns();
	held_list(&follow->held, &list);
	failed = pass_begin(&follow->pass, follow->db, &follow->options, &list, follow->said, err);
	log_list_release(&list);
	return failed;
}

static void try_later(struct follow *follow, int64_t now_ms)
{
	follow->retry_ms =
		follow->retry_ms ? smaller(2 * follow->retry_ms, RETRY_MAX_MS) : RETRY_MS;
	follow->retry_at_ms = now_ms + follow->retry_ms;
}

static void judge_pass(struct follow *follow)
{
	const struct pass_result *result = &follow->last;
	int64_t now_ms = clock_monotonic_ms();

	follow->rest_until_ms =
		now_ms + smaller(REST_FACTOR * (now_ms - follow->begun_ms), REST_MAX_MS);
	if (result->failed || result->tally.trouble) {
		try_later(follow, now_ms);
	} else {
		follow->retry_ms = 0;
		memset(follow->said, 0, sizeof(*follow->said));
	}
	if (result->failed) /* no log is due by itself until then */
		follow->rest_until_ms = follow->retry_at_ms;
	else
		held_taken(&follow->held);
	if (!result->failed && (result->tally.read || result->tally.results))
		follow->stored(follow->context, follow->due, follow->newest, &result->tally);
}

/* Of the first pass, the one who began it tells. */
static void tell_failure(const struct follow *follow)
{
	if (follow->begun && follow->last.failed)
		msg_error("%s; it is tried again", follow->last.err.text);
}

static void end_pass(struct follow *follow)
{
	pass_end(&follow->pass, &follow->last);
	judge_pass(follow);
	tell_failure(follow);
	/* What changed while it ran is due. */
	look_again(follow);
}

/* Whole: begun, waited for, judged. */
static void run_pass(struct follow *follow)
{
	struct err err = ERR_INIT;

	if (begin_pass(follow, &err) == 0) {
		end_pass(follow);
		return;
	}
	follow->last = (struct pass_result){.failed = -1, .err = err};
	tell_failure(follow);
}

static void try_pass(struct follow *follow)
{
	struct err err = ERR_INIT;

	if (begin_pass(follow, &err) == 0)
		return;
	msg_warn("%s; tried again later", err.text);
	try_later(follow, clock_monotonic_ms());
	follow->rest_until_ms = follow->retry_at_ms;
}

/* ---- the whole ---- */

static void wait_for_news(const struct follow *follow)
{
	int64_t wait_ms = smaller(follow->look_at_ms, next_pass_ms(follow)) - clock_monotonic_ms();
	struct pollfd fds[] = {
		{.fd = watch_fd(follow->watch), .events = POLLIN},
		{.fd = wake[0], .events = POLLIN},
		{.fd = follow->pass.fd, .events = POLLIN}, /* -1 is passed over */
	};

	if (wait_ms > 0)
		poll(fds, sizeof(fds) / sizeof(fds[0]), (int)smaller(wait_ms, LOOK_MAX_MS));
}

static bool has_ended(const struct pass *pass)
{
	struct pollfd fd = {.fd = pass->fd, .events = POLLIN};

	return pass->process && poll(&fd, 1, 0) > 0;
}

static void drain(int fd)
{
	char bytes[16];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

static void go_round(struct follow *follow)
{
	wait_for_news(follow);
	drain(wake[0]);
	hear(follow);
	if (clock_monotonic_ms() >= follow->look_at_ms)
		look_again(follow);
	if (has_ended(&follow->pass))
		end_pass(follow);
	if (!ending && clock_monotonic_ms() >= next_pass_ms(follow))
		try_pass(follow);
}

/* 1: something is left for the next ingest. */
static int finish(struct follow *follow)
{
	const struct held_log *newest;

	while (follow->pass.process)
		go_round(follow);
	look_again(follow);
	if (held_due(&follow->held, &newest) || follow->last.failed)
		run_pass(follow);
	return follow->last.failed || follow->last.tally.trouble;
}

static size_t open_max(void)
{
	long limit = sysconf(_SC_OPEN_MAX); /* this process's own, as ulimit -n sets it */

	return limit < 0 || limit / 4 > OPEN_MAX ? OPEN_MAX : (size_t)limit / 4;
}

static int name_paths(struct follow *follow, struct err *err)
{
	const struct ingest_options *options = &follow->options;
	size_t i;

	follow->paths = xcalloc(options->path_count, sizeof(*follow->paths));
	for (i = 0; i < options->path_count; i++) {
		char *path = path_absolute(options->paths[i]);

		if (!path)
			return err_errno(err, ERR_USAGE, errno, "%s", options->paths[i]);
		follow->paths[follow->path_count++] = path;
	}
	return 0;
}

static int open_all(struct follow *follow, struct err *err)
{
	if (pipe(wake) < 0)
		return err_errno(err, ERR_IO, errno, "cannot watch");
	fcntl(wake[0], F_SETFD, FD_CLOEXEC);
	fcntl(wake[1], F_SETFD, FD_CLOEXEC);
	fcntl(wake[0], F_SETFL, O_NONBLOCK);
	fcntl(wake[1], F_SETFL, O_NONBLOCK);
	if (name_paths(follow, err) < 0 || pass_memory_new(&follow->said, err) < 0 ||
	    watch_new(&follow->watch, err) < 0 || look(follow, true, err) < 0)
		return -1;
	return 0;
}

static void close_all(struct follow *follow)
{
	size_t i;

	msg_set_memory(NULL);
	watch_free(follow->watch);
	held_release(&follow->held);
	pass_memory_free(follow->said);
	for (i = 0; i < follow->path_count; i++)
		free(follow->paths[i]);
	free(follow->paths);
	free(follow->newest);
	close(wake[0]);
	close(wake[1]);
}

/* The first pass shows what is wrong with the options: then there is nothing to wait for. */
static int begin(struct follow *follow, struct err *err)
{
	if (open_all(follow, err) < 0 || begin_pass(follow, err) < 0)
		return -1;
	while (follow->pass.process)
		go_round(follow);
	follow->begun = true;
	if (follow->last.failed && follow->last.err.kind == ERR_USAGE) {
		*err = follow->last.err;
		return -1;
	}
	msg_set_memory(follow->said);
	tell_failure(follow);
	return 0;
}

int pipeline_follow(const char *db, const struct ingest_options *options, follow_stored_fn *stored,
		    void *context, struct err *err)
{
	struct follow follow = {
		.db = db,
		.options = *options,
		.stored = stored,
		.context = context,
		.held = HELD_INIT(open_max()),
		.pass = PASS_INIT,
		.retry_at_ms = INT64_MAX,
		.first_ms = INT64_MAX,
	};
	int rc = begin(&follow, err);

	if (rc == 0) {
		msg_note("database %s; watching", db);
		while (!ending)
			go_round(&follow);
		rc = finish(&follow);
	}
	close_all(&follow);
	return rc;
}
