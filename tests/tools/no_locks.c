/*
 * Preloaded into br2-ingest, it lets no file be locked, as a file system without locks does:
 * NFS without a lock daemon (ENOLCK), Lustre without flock (ENOSYS).
 *
 *   BR2_LOCK_ERRNO  what is said to who wants one
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>

static int (*real_fcntl64)(int, int, ...);
static int refusal;

__attribute__((constructor)) static void begin(void)
{
	const char *said = getenv("BR2_LOCK_ERRNO");

	*(void **)&real_fcntl64 = dlsym(RTLD_NEXT, "fcntl64");
	refusal = said ? atoi(said) : 0;
}

/* What SQLite calls, which is built for large files. */
int fcntl64(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (refusal && (command == F_SETLK64 || command == F_SETLK)) {
		errno = refusal;
		return -1;
	}
	return real_fcntl64(fd, command, argument);
}
