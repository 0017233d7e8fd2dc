/*
 * Records of the largest size in several logs at once: one of them is held at a time,
 * with what becomes of it, be it one long text or as many parts as are read.
 */
#include "decode_testing.h"
#include "log_bytes.h"
#include "readers.h"
#include "scratch.h"
#include "util/buf.h"
#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LOGS 8
#define TEXT_LEN (((size_t)16 << 20) - 1024)
/* A token, and what it becomes is longer: nothing of it can stay borrowed. */
#define LINE "Bearer x1 y\n"

/* The linker puts this in front of sysconf(): as many readers as there ever are. */
long __real_sysconf(int name);
long __wrap_sysconf(int name);

long __wrap_sysconf(int name)
{
	return name == _SC_NPROCESSORS_ONLN ? 4 : __real_sysconf(name);
}

static char *path;

static void place(void *context, size_t index, struct runlog_place *out)
{
	(void)context;
	(void)index;
	memset(out, 0, sizeof(*out));
	out->path = path;
	out->cache = "";
}

static char *make_text(void)
{
	char *text = xmalloc(TEXT_LEN + 1);
	size_t len;

	memset(text, '.', TEXT_LEN);
	for (len = 0; len + strlen(LINE) <= TEXT_LEN; len += 4096)
		memcpy(text + len, LINE, strlen(LINE));
	text[TEXT_LEN] = '\0';
	return text;
}

/* An action with `count` times this attempt. */
static void add_action(struct buf *log, Buck2__CommandExecution *execution, size_t count)
{
	struct parts parts;
	Buck2__CommandExecution **executions = xcalloc(count, sizeof(Buck2__CommandExecution *));
	struct buf record = BUF_INIT;
	size_t i;

	for (i = 0; i < count; i++)
		executions[i] = execution;
	init_parts(&parts);
	parts.end.commands = executions;
	parts.end.n_commands = count;
	parts.wrapped.event.span_end = &parts.wrapped.end;
	bytes_message(&record, &parts.wrapped.progress.base);
	bytes_frame(log, record.data, record.len);
	buf_release(&record);
	free(executions);
}

/* ---- the logs ---- */

static void add_invocation(struct buf *log)
{
	static const char invocation[] = "\x12\x02/w\x1a\x24" TRACE;

	bytes_frame(log, invocation, sizeof(invocation) - 1);
}

/* A failed action whose stderr or message makes the record as large as one may be. */
static void add_text(struct buf *log, bool is_message)
{
	Buck2__CommandExecutionDetails details = BUCK2__COMMAND_EXECUTION_DETAILS__INIT;
	Buck2__CommandExecution execution = BUCK2__COMMAND_EXECUTION__INIT;
	Buck2__Empty failure = BUCK2__EMPTY__INIT;
	char *text = make_text();

	details.has_cmd_stderr = !is_message;
	details.has_additional_message = is_message;
	details.cmd_stderr = details.additional_message = bin(text);
	execution.details = &details;
	execution.failure = &failure;
	add_action(log, &execution, 1);
	free(text);
}

static void add_texts(struct buf *log)
{
	add_invocation(log);
	add_text(log, false);
	add_text(log, true);
}

/* As many as the decoder reads. */
#define ARGUMENTS ((size_t)1 << 16)
#define ATTEMPTS ((size_t)1 << 11)
#define PROPERTIES ((size_t)1 << 14)

static void add_arguments(struct buf *log)
{
	static const char argument[] = "\x0a\xf6\x01-c=section.key=";
	static const char rest[] = "\x1a\x24" TRACE;
	struct buf record = BUF_INIT;
	size_t i;

	for (i = 0; i < ARGUMENTS; i++)
		buf_addf(&record, "%s%0*zu", argument, 3 + 0xf6 - (int)strlen(argument), i);
	buf_add(&record, rest, sizeof(rest) - 1);
	bytes_frame(log, record.data, record.len);
	buf_release(&record);
}

static void add_attempts(struct buf *log)
{
	Buck2__CommandExecutionDetails details = BUCK2__COMMAND_EXECUTION_DETAILS__INIT;
	Buck2__CommandExecution execution = BUCK2__COMMAND_EXECUTION__INIT;
	char *text = make_text();

	add_invocation(log);
	text[8000] = '\0';
	details.has_additional_message = true;
	details.additional_message = bin(text);
	execution.details = &details;
	add_action(log, &execution, ATTEMPTS);
	free(text);
}

static void add_properties(struct buf *log)
{
	static Buck2__RePlatform__Property *properties[PROPERTIES];
	Buck2__RePlatform__Property property = BUCK2__RE_PLATFORM__PROPERTY__INIT;
	Buck2__RePlatform platform = BUCK2__RE_PLATFORM__INIT;
	Buck2__RemoteCommandDetails remote = BUCK2__REMOTE_COMMAND_DETAILS__INIT;
	Buck2__RemoteCommand command = BUCK2__REMOTE_COMMAND__INIT;
	Buck2__CommandExecutionKind kind = BUCK2__COMMAND_EXECUTION_KIND__INIT;
	Buck2__CommandExecutionDetails details = BUCK2__COMMAND_EXECUTION_DETAILS__INIT;
	Buck2__CommandExecution execution = BUCK2__COMMAND_EXECUTION__INIT;
	char *text = make_text();
	size_t i;

	add_invocation(log);
	property.has_name = property.has_value = true;
	text[500] = '\0';
	property.name = property.value = bin(text);
	for (i = 0; i < PROPERTIES; i++)
		properties[i] = &property;
	platform.n_properties = PROPERTIES;
	platform.properties = properties;
	remote.platform = &platform;
	command.details = &remote;
	kind.remote_command = &command;
	details.command_kind = &kind;
	execution.details = &details;
	add_action(log, &execution, 1);
	free(text);
}

typedef void add_records(struct buf *log);

static void write_log(add_records *add)
{
	struct buf log = BUF_INIT, packed = BUF_INIT;
	FILE *file = fopen(path, "w");

	add(&log);
	bytes_zstd(&packed, log.data, log.len, 0);
	scratch_check(file && fwrite(packed.data, 1, packed.len, file) == packed.len &&
			      fclose(file) == 0,
		      path);
	buf_release(&packed);
	buf_release(&log);
}

/* ---- reading ---- */

static long peak_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long kib = 0;

	assert_non_null(file);
	while (!kib && fgets(line, sizeof(line), file))
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	fclose(file);
	assert_true(kib > 0);
	return kib;
}

struct seen {
	size_t runs, actions, attempts, too_large;
	long kib; /* more memory than before, at its peak */
};

static void take_all(struct readers *readers, struct seen *seen)
{
	const struct reading_outcome *outcome;
	struct reading_progress progress;
	size_t logs = 0;

	while (logs < LOGS) {
		struct rows rows;

		if (!readers_next(readers, &rows, &progress, &outcome)) {
			seen->too_large += outcome->records.too_large;
			seen->runs += outcome->rows.runs;
			seen->actions += outcome->rows.actions;
			seen->attempts += outcome->rows.attempts;
			logs++;
		}
		rows_release(&rows);
	}
}

static void read_logs(struct seen *seen)
{
	struct readers_options options = {LOGS, true, place, NULL};
	long before = peak_kib();
	struct readers *readers = readers_new(&options);

	take_all(readers, seen);
	readers_free(readers);
	seen->kib = peak_kib() - before;
}

/* Each in a process of its own, whose peak is no other's. */
static struct seen in_child(add_records *add)
{
	struct seen seen = {0};
	int ends[2], status = -1;
	pid_t child;

	scratch_check(pipe(ends) == 0, "pipe");
	child = fork();
	if (!child) {
		if (add)
			write_log(add);
		else
			read_logs(&seen);
		_exit(write(ends[1], &seen, sizeof(seen)) != sizeof(seen));
	}
	scratch_check(child > 0 && read(ends[0], &seen, sizeof(seen)) == sizeof(seen) &&
			      waitpid(child, &status, 0) == child && status == 0,
		      "fork");
	close(ends[0]);
	close(ends[1]);
	return seen;
}

static struct seen read_all(add_records *add)
{
	in_child(add);
	return in_child(NULL);
}

/* 64 MiB less what else the program takes. */
#define BOUND_KIB (54 << 10)

static void test_texts(void **state)
{
	struct seen seen = read_all(add_texts);

	(void)state;
	assert_int_equal(seen.too_large, 0);
	assert_int_equal(seen.actions, LOGS * 2);
	assert_in_range(seen.kib, 1, BOUND_KIB);
}

static void test_arguments(void **state)
{
	struct seen seen = read_all(add_arguments);

	(void)state;
	assert_int_equal(seen.too_large, 0);
	assert_int_equal(seen.runs, LOGS);
	assert_in_range(seen.kib, 1, BOUND_KIB);
}

static void test_attempts(void **state)
{
	struct seen seen = read_all(add_attempts);

	(void)state;
	assert_int_equal(seen.too_large, 0);
	assert_int_equal(seen.attempts, LOGS * ATTEMPTS);
	assert_in_range(seen.kib, 1, BOUND_KIB);
}

static void test_properties(void **state)
{
	struct seen seen = read_all(add_properties);

	(void)state;
	assert_int_equal(seen.too_large, 0);
	assert_int_equal(seen.actions, LOGS);
	assert_in_range(seen.kib, 1, BOUND_KIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_attempts),
		cmocka_unit_test(test_properties),
	};
	char *folder = scratch_new();
	int failed;

	path = scratch_path(folder, "a_events.pb.zst");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(path);
	scratch_remove(folder);
	return failed;
}
