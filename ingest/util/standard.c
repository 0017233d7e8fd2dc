#include "util/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The lowest free number is given, and all below are taken. */
static int hold(int number)
{
	if (fcntl(number, F_GETFD) >= 0 || errno != EBADF)
		return 0;
	/* The wrong way round: what is read or written there fails. */
	return open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0 ? -1 : 0;
}

int standard_hold(void)
{
	if (hold(STDIN_FILENO) < 0 || hold(STDOUT_FILENO) < 0)
		return -1;
	return hold(STDERR_FILENO);
}
