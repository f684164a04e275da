/* membarrier.c - asks the kernel, by membarrier(2), to interrupt whoever runs. */
#include "platform/membarrier.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/clock.h"

#define OUTWAIT_NS ((uint64_t)1000000)

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

/* Used if a newer sandbox denies the call: waits. Long before the time is over, what others have
 * written is in memory, and they see what we have written. */
static void outwait(void)
{
	uint64_t until = wf_now() + OUTWAIT_NS;

	atomic_thread_fence(memory_order_seq_cst);
	while (wf_now() < until)
		sched_yield();
	atomic_thread_fence(memory_order_seq_cst);
}

void wf_membarrier(void)
{
	/* The kernel may be short of memory for a moment. */
	while (WF_UNLIKELY(!ask(MEMBARRIER_CMD_PRIVATE_EXPEDITED))) {
		if (errno != ENOMEM) {
			outwait();
			return;
		}
		sched_yield();
	}
}
