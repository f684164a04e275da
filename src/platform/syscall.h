/* syscall.h - system calls without the C library, where a few nanoseconds count.
 *
 * The library's functions are cancellation points of POSIX threads, which costs. And
 * some CPUs expect, behind a system call, to return to where the kernel was: it
 * left its own on top of the CPU's stack of return addresses. To find out that it
 * is wrong about an address of the kernel takes the CPU 150 ns; about one of ours,
 * 10. So where that is so (it is measured), one of ours is put on top. Sanitizers
 * must see who writes to memory, so for them it is the library's function.
 */
#ifndef WF_SYSCALL_H
#define WF_SYSCALL_H

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/compiler.h"

#if defined(__x86_64__)
#include "platform/syscall_x86_64.h"
#elif defined(__aarch64__)
#include "platform/syscall_aarch64.h"
#endif

/* Whether returning behind a system call is slow here. Constant after the probe, which
 * takes a fraction of a millisecond, the first time. */
extern bool wf_slow_returns;
void wf_syscall_probe(void);

static inline void wf_syscall_returned(void)
{
	if (wf_slow_returns)
		wf_return_stack_push();
}

/* preadv2(2): a count or -Exxx. */
static inline int64_t wf_preadv2(int fd, const struct iovec *iov, int count, int64_t offset,
				 int flags)
{
#if defined(WF_ASAN) || defined(WF_TSAN)
	int64_t n = preadv2(fd, iov, count, offset, flags);

	return n < 0 ? -errno : n;
#else
	return wf_syscall6(SYS_preadv2, fd, (long)iov, count, (long)offset, 0, flags);
#endif
}

#endif
