/* Records of the largest size in several logs at once: one of them is held at a time. */
#include "decode_testing.h"
#include "log_bytes.h"
#include "readers.h"
#include "scratch.h"
#include "util/buf.h"
#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LOGS 8
#define RECORDS 2
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

/* A failed action whose stderr or message makes the record as large as one may be. */
static void add_record(struct buf *log, const char *text, bool is_message)
{
	struct parts parts;
	Buck2__CommandExecutionDetails details = BUCK2__COMMAND_EXECUTION_DETAILS__INIT;
	Buck2__CommandExecution execution = BUCK2__COMMAND_EXECUTION__INIT;
	Buck2__CommandExecution *executions[] = {&execution};
	Buck2__Empty failure = BUCK2__EMPTY__INIT;
	struct buf record = BUF_INIT;

	init_parts(&parts);
	details.has_cmd_stderr = !is_message;
	details.has_additional_message = is_message;
	details.cmd_stderr = details.additional_message = bin(text);
	execution.details = &details;
	parts.end.commands = executions;
	parts.end.n_commands = 1;
	parts.wrapped.event.span_end = &parts.wrapped.end;
	execution.failure = &failure;
	bytes_message(&record, &parts.wrapped.progress.base);
	bytes_frame(log, record.data, record.len);
	buf_release(&record);
}

static void write_log(void)
{
	static const char invocation[] = "\x12\x02/w\x1a\x24" TRACE;
	char *text = make_text();
	struct buf log = BUF_INIT, packed = BUF_INIT;
	FILE *file = fopen(path, "w");
	unsigned int i;

	bytes_frame(&log, invocation, sizeof(invocation) - 1);
	for (i = 0; i < RECORDS; i++)
		add_record(&log, text, i % 2);
	bytes_zstd(&packed, log.data, log.len, 0);
	scratch_check(file && fwrite(packed.data, 1, packed.len, file) == packed.len &&
			      fclose(file) == 0,
		      path);
	buf_release(&packed);
	buf_release(&log);
	free(text);
}

/* In a process of its own, whose memory is not ours. */
static void make_log(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		write_log();
		_exit(0);
	}
	scratch_check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "fork");
}

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

static size_t take_all(struct readers *readers)
{
	const struct reading_outcome *outcome;
	struct reading_progress progress;
	size_t logs = 0, actions = 0;

	while (logs < LOGS) {
		struct rows rows;

		if (!readers_next(readers, &rows, &progress, &outcome)) {
			assert_int_equal(outcome->records.too_large, 0);
			actions += outcome->rows.actions;
			logs++;
		}
		rows_release(&rows);
	}
	return actions;
}

static void test_one_at_a_time(void **state)
{
	struct readers_options options = {LOGS, true, place, NULL};
	struct readers *readers;
	long before = peak_kib();

	(void)state;
	readers = readers_new(&options);
	assert_int_equal(take_all(readers), LOGS * RECORDS);
	readers_free(readers);
	assert_true(peak_kib() - before < 50 << 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_at_a_time)};
	char *folder = scratch_new();
	int failed;

	path = scratch_path(folder, "a_events.pb.zst");
	make_log();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(path);
	scratch_remove(folder);
	return failed;
}
