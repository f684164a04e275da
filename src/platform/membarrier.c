/* membarrier.c - asks the kernel, by membarrier(2), to interrupt whoever runs. */
#include "platform/membarrier.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/report.h"

bool wf_membarrier_works;

static bool ask(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) == 0;
}

/* When the program is loaded: with one kernel thread it costs a system call, with
 * several it takes milliseconds. */
__attribute__((constructor)) static void enlist(void)
{
	int was = errno;

	wf_membarrier_works = ask(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
			      ask(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	errno = was;
}

void wf_membarrier(void)
{
	/* The kernel may be short of memory for a moment; there is no other way. */
	while (WF_UNLIKELY(!ask(MEMBARRIER_CMD_PRIVATE_EXPEDITED))) {
		if (errno != ENOMEM)
			wf_bug("membarrier(2) fails with %d, although it worked before", errno);
		sched_yield();
	}
}
