/* guard.c - guards by MADV_GUARD_INSTALL or by mprotect. */
#include "platform/guard.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fault.h"
#include "platform/valgrind.h"

/* Newer than the headers of many systems. */
#define GUARD_INSTALL 102
#define SELF (-10001) /* PIDFD_SELF_THREAD_GROUP */

enum { BATCH = 64 };

/* Whether the kernel cannot read at `at`: it would see a zero there, and not wait. */
static bool out_of_reach(const char *at)
{
	return syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) == -1 &&
	       errno == EFAULT;
}

/* Valgrind reads where it thinks that it may, and learns that only from mprotect.
 * qemu says yes to any advice and does nothing, hence the second question. */
enum wf_guard_kind wf_guard_kind(char *at)
{
	if (WF_ON_VALGRIND)
		return WF_GUARD_MPROTECT;
	if (madvise(at, WF_GUARD_SIZE, GUARD_INSTALL) == 0 && out_of_reach(at))
		return WF_GUARD_MADVISE;
	return WF_GUARD_MPROTECT;
}

/* Many by one call, which takes a quarter less time; Linux 6.14 and later. Returns
 * how many it made. */
static unsigned install_batch(char *first, size_t step, unsigned count)
{
	struct iovec at[BATCH];
	long done;

	if (count > BATCH)
		count = BATCH;
	for (unsigned i = 0; i < count; i++)
		at[i] = (struct iovec){ first + i * step, WF_GUARD_SIZE };
	done = syscall(SYS_process_madvise, (long)SELF, at, (long)count, (long)GUARD_INSTALL, 0L);
	return done > 0 ? (unsigned)((size_t)done / WF_GUARD_SIZE) : 0;
}

static int install_one(enum wf_guard_kind kind, char *at)
{
	if (WF_FAULT(ENOMEM))
		return -ENOMEM;
	if (kind == WF_GUARD_MADVISE)
		return madvise(at, WF_GUARD_SIZE, GUARD_INSTALL) == 0 ? 0 : -ENOMEM;
	return mprotect(at, WF_GUARD_SIZE, PROT_NONE) == 0 ? 0 : -ENOMEM;
}

int wf_guard_install(enum wf_guard_kind kind, char *first, size_t step, unsigned count)
{
	unsigned done = 0;

	if (kind == WF_GUARD_MADVISE && count > 1 && !WF_FAULT(ENOMEM))
		done = install_batch(first, step, count);
	while (done < count && install_one(kind, first + done * step) == 0)
		done++;
	if (done > 0)
		return (int)done;
	return kind == WF_GUARD_MPROTECT ? -EAGAIN : -ENOMEM;
}
