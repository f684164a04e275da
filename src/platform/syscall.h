/* syscall.h - system calls without the C library, where a few nanoseconds count.
 *
 * The library's functions are cancellation points of POSIX threads, which costs. And
 * some CPUs expect, behind a system call, to return to where the kernel was: it
 * left its own addresses on the CPU's stack of them. The first time that the CPU
 * finds that it was wrong about an address of the kernel takes it 40 to 150 ns; about
 * one of ours, 5. So where that is so (it is measured), some of ours are put on top:
 * as many as there are returns, as a rule, before the next system call. Sanitizers and
 * analysers must see who writes to memory, so for them it is the library's function.
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

/* Behind a system call of ours. Returns r. */
static inline int64_t wf_syscall_returned(int64_t r)
{
	if (wf_slow_returns)
		wf_return_stack_push();
	return r;
}

/* What the library returned, as an outcome. */
static inline int64_t wf_syscall_result(int64_t r)
{
	return r < 0 ? -errno : r;
}

/* A system call, by its number and arguments: a count or -Exxx. `call` is the same by
 * the library. */
#if defined(WF_ASAN) || defined(WF_TSAN) || defined(__clang_analyzer__)
#define WF_SYSCALL(call, number, a, b, c, d, e, f) wf_syscall_result(call)
#else
#define WF_SYSCALL(call, number, a, b, c, d, e, f) \
	wf_syscall_returned(wf_syscall6(number, (long)(a), (long)(b), (long)(c), (long)(d), \
					(long)(e), (long)(f)))
#endif

static inline int64_t wf_preadv2(int fd, const struct iovec *iov, int count, int64_t offset,
				 int flags)
{
	return WF_SYSCALL(preadv2(fd, iov, count, offset, flags), SYS_preadv2, fd, iov, count,
			  offset, 0, flags);
}

#endif
