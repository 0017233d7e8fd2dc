/* A recording where the system fails, or the transport that it stands before. */
#include "lookup_recording.h"

#include "asking.h"
#include "lookup_reply.h"
#include "scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* ---- the system ---- */

/* The next call of it fails; 0: none. */
static int write_fault, fsync_fault, close_fault, pread_fault;
static size_t fwrite_fault_at; /* so many bytes at once, or more */

static bool fails(int *fault)
{
	if (!*fault)
		return false;
	errno = *fault;
	*fault = 0;
	return true;
}

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	return fails(&write_fault) ? -1 : __real_write(fd, data, len);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	return fails(&fsync_fault) ? -1 : __real_fsync(fd);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	int rc = __real_close(fd);

	return fails(&close_fault) ? -1 : rc; /* it is closed, whatever it says */
}

ssize_t __real_pread(int fd, void *data, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *data, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *data, size_t len, off_t at)
{
	return fails(&pread_fault) ? -1 : __real_pread(fd, data, len, at);
}

size_t __real_fwrite(const void *data, size_t size, size_t count, FILE *file);
size_t __wrap_fwrite(const void *data, size_t size, size_t count, FILE *file);
size_t __wrap_fwrite(const void *data, size_t size, size_t count, FILE *file)
{
	if (!fwrite_fault_at || size * count < fwrite_fault_at)
		return __real_fwrite(data, size, count, file);
	errno = ENOSPC;
	return 0;
}

/* ---- the engine before a recording before a server ---- */

struct fixture {
	char *dir, *path;
	struct transport_ops ops; /* the server's, to be changed */
	struct asking asking;
	struct err err;
};

static struct fate in_words(struct fake_server *self, const struct lookup_request *request)
{
	(void)self, (void)request;
	return (struct fate){1, 0, "found it", "result"};
}

static void ask_through(struct fixture *f, struct transport *transport)
{
	static const struct lookup_options options;

	f->asking.lookup = lookup_new(transport, &options);
}

static int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;
	struct transport *transport;

	memset(f, 0, sizeof(*f));
	f->dir = scratch_new();
	f->path = scratch_path(f->dir, "recording");
	asking_init(&f->asking, 8, 20);
	f->asking.server.fate = in_words;
	f->ops = *f->asking.server.base.ops;
	f->asking.server.base.ops = &f->ops;
	if (transport_record_new(&transport, &f->asking.server.base, NULL, f->path, &f->err) < 0)
		return -1;
	ask_through(f, transport);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	write_fault = fsync_fault = close_fault = pread_fault = 0;
	fwrite_fault_at = 0;
	asking_release(&f->asking);
	free(f->path);
	scratch_remove(f->dir);
	return 0;
}

/* From now on it is the recording that answers. */
static void replay(struct fixture *f)
{
	struct transport *transport;

	if (transport_replay_new(&transport, f->path, 8, &f->err) < 0)
		fail_msg("%s", f->err.text);
	lookup_free(f->asking.lookup);
	ask_through(f, transport);
	memset(f->asking.ids, 0, (size_t)f->asking.count * sizeof(*f->asking.ids));
	f->asking.next = 0;
}

static void finish(struct fixture *f)
{
	assert_int_equal(asking_run(&f->asking, NULL), 0);
	if (lookup_finish(f->asking.lookup, &f->err) < 0)
		fail_msg("%s", f->err.text);
}

/* ---- writing ---- */

static void check_whole(struct fixture *f)
{
	finish(f);
	replay(f);
	assert_int_equal(asking_run(&f->asking, NULL), 0);
	assert_all_found(&f->asking);
	assert_string_equal(f->asking.message, "found it");
}

static void test_write_goes_on_after_a_signal(void **state)
{
	write_fault = EINTR;
	check_whole(*state);
	assert_int_equal(write_fault, 0);
}

/* Where a file cannot be synced, it is no worse for that. */
static void test_file_that_knows_no_fsync(void **state)
{
	fsync_fault = EINVAL;
	check_whole(*state);
	assert_int_equal(fsync_fault, 0);
}

/* The error names the file that was written, and nothing stays: neither it nor the recording. */
static void check_not_kept(struct fixture *f, const char *what)
{
	struct buf beginning = BUF_INIT;
	const char *end;

	assert_int_equal(asking_run(&f->asking, NULL), 0);
	assert_int_equal(lookup_finish(f->asking.lookup, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_IO);
	buf_addf(&beginning, "cannot write %s.", f->path);
	assert_memory_equal(f->err.text, beginning.data, beginning.len);
	end = strchr(f->err.text + beginning.len, ':');
	assert_non_null(end);
	assert_string_equal(end, what);
	buf_release(&beginning);
	lookup_free(f->asking.lookup);
	f->asking.lookup = NULL;
	assert_int_equal(rmdir(f->dir), 0);
	scratch_check(mkdir(f->dir, 0700) == 0, f->dir);
}

static void test_full_while_writing(void **state)
{
	write_fault = ENOSPC;
	check_not_kept(*state, ": No space left on device");
}

static void test_fails_at_fsync(void **state)
{
	fsync_fault = EIO;
	check_not_kept(*state, ": Input/output error");
}

/* A server of files says what it has no room for as late as this. */
static void test_fails_at_close(void **state)
{
	close_fault = EDQUOT;
	check_not_kept(*state, ": Disk quota exceeded");
}

/* ---- the transport behind it ---- */

static int fail_to_finish(struct transport *self, struct err *err)
{
	(void)self;
	return err_set(err, ERR_NET, "cannot finish");
}

static void test_inner_cannot_finish(void **state)
{
	struct fixture *f = *state;

	f->ops.finish = fail_to_finish;
	assert_int_equal(asking_run(&f->asking, NULL), 0);
	assert_int_equal(lookup_finish(f->asking.lookup, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_NET);
	assert_string_equal(f->err.text, "cannot finish");
	assert_int_equal(access(f->path, F_OK), -1);
}

/* Only who has token 1 is answered. */
static struct fate by_token(struct fake_server *self, const struct lookup_request *request)
{
	(void)request;
	if (self->token != 1)
		return (struct fate){1, CODE_UNAUTHENTICATED, "who are you?", NULL};
	return (struct fate){1, 0, "", "result"};
}

static int preflight(struct fixture *f)
{
	struct lookup_request first;

	f->asking.server.fate = by_token;
	assert_int_equal(asking_next(&f->asking, &first, &f->err), 1);
	return lookup_preflight(f->asking.lookup, &first, asking_take, &f->asking, &f->err);
}

static void test_refreshes_the_token(void **state)
{
	struct fixture *f = *state;

	f->asking.server.fresh_token = 1;
	assert_int_equal(preflight(f), 0);
	assert_int_equal(f->asking.ids[0].outcome, LOOKUP_FOUND);
	assert_int_equal(f->asking.server.refreshes, 1);
}

static void test_explains_as_the_inner_one(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(preflight(f), -1);
	assert_string_equal(f->err.text, "server: who are you? (16)");
	assert_int_equal(f->asking.server.refreshes, 1);
}

static void test_inner_neither_refreshes_nor_explains(void **state)
{
	struct fixture *f = *state;

	f->ops.refresh = NULL;
	f->ops.explain = NULL;
	f->asking.server.fresh_token = 1;
	assert_int_equal(preflight(f), -1);
	assert_string_equal(f->err.text, "who are you? (code 16)");
	assert_int_equal(f->asking.server.starts, 1);
}

/* ---- the temporary file of one that answers ---- */

static void test_read_goes_on_after_a_signal(void **state)
{
	struct fixture *f = *state;

	finish(f);
	replay(f);
	pread_fault = EINTR;
	assert_int_equal(asking_run(&f->asking, NULL), 0);
	assert_int_equal(pread_fault, 0);
	assert_all_found(&f->asking);
}

static void test_temporary_file_cannot_be_read(void **state)
{
	struct fixture *f = *state;

	finish(f);
	replay(f);
	pread_fault = EIO;
	assert_int_equal(asking_run(&f->asking, NULL), -1);
	assert_int_equal(f->asking.err.kind, ERR_IO);
	assert_string_equal(f->asking.err.text, "cannot read a temporary file: Input/output error");
}

/* Of the message, which is longer here than the reply, and of both. */
static void test_temporary_file_cannot_be_written(void **state)
{
	struct fixture *f = *state;
	struct transport *transport;
	struct buf wanted = BUF_INIT;
	size_t at[] = {strlen("found it"), 1}, i;

	finish(f);
	buf_addf(&wanted, "%s:2: cannot write a temporary file: No space left on device", f->path);
	for (i = 0; i < 2; i++) {
		fwrite_fault_at = at[i];
		assert_int_equal(transport_replay_new(&transport, f->path, 8, &f->err), -1);
		assert_int_equal(f->err.kind, ERR_IO);
		assert_string_equal(f->err.text, wanted.data);
	}
	buf_release(&wanted);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_write_goes_on_after_a_signal),
		TEST(test_file_that_knows_no_fsync),
		TEST(test_full_while_writing),
		TEST(test_fails_at_fsync),
		TEST(test_fails_at_close),
		TEST(test_inner_cannot_finish),
		TEST(test_refreshes_the_token),
		TEST(test_explains_as_the_inner_one),
		TEST(test_inner_neither_refreshes_nor_explains),
		TEST(test_read_goes_on_after_a_signal),
		TEST(test_temporary_file_cannot_be_read),
		TEST(test_temporary_file_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
