#include "pipeline_pass.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_signal(int number)
{
	(void)number;
	/* Sets flags and no more. NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) */
	pipeline_interrupt();
}

/*
 * A Ctrl-C is for the one who watches: he lets the pass come to its end. If he is
 * killed, the pass ends in good order, for nobody else would end it.
 */
static void set_signals(pid_t parent)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, on_signal);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		pipeline_interrupt();
}

static _Noreturn void run(int fd, const char *db, const struct ingest_options *options,
			  struct log_list *list, struct msg_memory *said)
{
	struct pass_result result;
	ssize_t written;

	memset(&result, 0, sizeof(result));
	msg_set_quiet(true);
	msg_set_memory(said);
	result.failed = pipeline_take(db, options, list, &result.tally, &result.err);
	written = write(fd, &result, sizeof(result));
	/* Nothing of the parent's is to be written or undone twice. */
	_exit(written == (ssize_t)sizeof(result) ? 0 : 1);
}

int pass_begin(struct pass *pass, const char *db, const struct ingest_options *options,
	       struct log_list *list, struct msg_memory *said, struct err *err)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe(ends) < 0)
		return err_errno(err, ERR_IO, errno, "cannot begin a pass");
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	fflush(NULL);
	pass->process = fork();
	if (pass->process == 0) {
		close(ends[0]);
		set_signals(parent);
		run(ends[1], db, options, list, said);
	}
	close(ends[1]);
	if (pass->process > 0) {
		pass->fd = ends[0];
		return 0;
	}
	pass->process = 0;
	err_errno(err, ERR_IO, errno, "cannot begin a pass");
	close(ends[0]);
	return -1;
}

/* A result is less than PIPE_BUF, so that it comes whole or not at all. */
static bool take_result(int fd, struct pass_result *out_result)
{
	ssize_t len;

	do
		len = read(fd, out_result, sizeof(*out_result));
	while (len < 0 && errno == EINTR);
	return len == (ssize_t)sizeof(*out_result);
}

void pass_end(struct pass *pass, struct pass_result *out_result)
{
	bool whole = take_result(pass->fd, out_result);
	int status = 0;

	while (waitpid(pass->process, &status, 0) < 0 && errno == EINTR)
		;
	close(pass->fd);
	*pass = (struct pass)PASS_INIT;
	if (whole)
		return;
	memset(out_result, 0, sizeof(*out_result));
	out_result->failed = err_set(&out_result->err, ERR_IO, "a pass was ended by signal %d",
				     WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

int pass_memory_new(struct msg_memory **out_memory, struct err *err)
{
	void *memory = mmap(NULL, sizeof(**out_memory), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return err_errno(err, ERR_IO, errno, "shared memory");
	*out_memory = memory;
	return 0;
}

void pass_memory_free(struct msg_memory *memory)
{
	if (memory)
		munmap(memory, sizeof(*memory));
}
