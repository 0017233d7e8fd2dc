#include "util/standard.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { HELD = 40, GIVEN_AWAY, USABLE };

/* What becomes of descriptor `number` once it was closed: in a process of its own. */
static int after_closing(int number)
{
	char byte = 'x';
	ssize_t done;
	FILE *file;

	close(number);
	if (standard_hold() < 0)
		return 1;
	file = tmpfile();
	if (!file || fileno(file) <= STDERR_FILENO)
		return GIVEN_AWAY;
	done = number == STDIN_FILENO ? read(number, &byte, 1) : write(number, &byte, 1);
	return done < 0 && errno == EBADF ? HELD : USABLE;
}

static int in_child(int (*what)(int), int number)
{
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(what(number));
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_no_file_takes_the_number(void **state)
{
	int number;

	(void)state;
	for (number = STDIN_FILENO; number <= STDERR_FILENO; number++)
		assert_int_equal(in_child(after_closing, number), HELD);
}

static int after_closing_all(int unused)
{
	(void)unused;
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	return after_closing(STDERR_FILENO);
}

static void test_all_closed(void **state)
{
	(void)state;
	assert_int_equal(in_child(after_closing_all, 0), HELD);
}

static int opens_nothing(int unused)
{
	int before = dup(STDERR_FILENO);

	(void)unused;
	close(before);
	if (standard_hold() < 0)
		return 1;
	return dup(STDERR_FILENO) == before ? HELD : USABLE;
}

static void test_what_is_open_stays(void **state)
{
	(void)state;
	assert_int_equal(in_child(opens_nothing, 0), HELD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_file_takes_the_number),
		cmocka_unit_test(test_all_closed),
		cmocka_unit_test(test_what_is_open_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
