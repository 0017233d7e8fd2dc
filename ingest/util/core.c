#include "util/core.h"

#include <sys/resource.h>

/*
 * The limit, and not PR_SET_DUMPABLE: that would also close /proc/PID to its owner. What takes
 * cores by a pipe (systemd-coredump, apport) is told the limit and keeps to it.
 */
void core_disable(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) != 0)
		return;
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_CORE, &limit);
}
