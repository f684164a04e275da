/* kernel.h - the system calls that every request pays for: a count or -Exxx. */
#ifndef WF_KERNEL_H
#define WF_KERNEL_H

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "platform/syscall.h"

static inline int64_t wf_read(int fd, void *buf, size_t len)
{
	return WF_SYSCALL(read(fd, buf, len), SYS_read, fd, buf, len, 0, 0, 0);
}

static inline int64_t wf_write(int fd, const void *buf, size_t len)
{
	return WF_SYSCALL(write(fd, buf, len), SYS_write, fd, buf, len, 0, 0, 0);
}

/* The result of a call with RWF_NOWAIT. -EOPNOTSUPP: another call must do, for the descriptor has no
 * RWF_NOWAIT, or a sandbox denies the call. If it was the descriptor that was refused, the other call
 * says so. */
static inline int64_t wf_nowait_result(int64_t n)
{
	return WF_UNLIKELY(n == -ENOSYS || n == -EPERM || n == -EACCES) ? -EOPNOTSUPP : n;
}

/* Read or write a stream without a position, and without waiting: by RWF_NOWAIT, which costs some
 * 60 ns. Results as of wf_nowait_result. Not inline, as each needs an iovec. */
int64_t wf_read_asking(int fd, void *buf, size_t len);
int64_t wf_write_asking(int fd, const void *buf, size_t len);

/* The same; cheaper if `nonblocking`: the descriptor has O_NONBLOCK, and keeps it. */
static inline int64_t wf_read_nowait(int fd, void *buf, size_t len, bool nonblocking)
{
	return nonblocking ? wf_read(fd, buf, len) : wf_read_asking(fd, buf, len);
}

static inline int64_t wf_write_nowait(int fd, const void *buf, size_t len, bool nonblocking)
{
	return nonblocking ? wf_write(fd, buf, len) : wf_write_asking(fd, buf, len);
}

static inline int64_t wf_recv(int fd, void *buf, size_t len, int flags)
{
	return WF_SYSCALL(recv(fd, buf, len, flags), SYS_recvfrom, fd, buf, len, flags, 0, 0);
}

static inline int64_t wf_send(int fd, const void *buf, size_t len, int flags)
{
	return WF_SYSCALL(send(fd, buf, len, flags), SYS_sendto, fd, buf, len, flags, 0, 0);
}

static inline int wf_epoll_wait(int fd, struct epoll_event *events, int count, int ms)
{
	return (int)WF_SYSCALL(epoll_pwait(fd, events, count, ms, NULL), SYS_epoll_pwait, fd,
			       events, count, ms, NULL, 0);
}

/* poll(2) without a wait: a count, or -Exxx. If a sandbox denies poll, ppoll may be allowed. */
static inline int wf_poll_now(struct pollfd *fds, nfds_t count)
{
	static const struct timespec at_once;
	int n;

	do
		n = poll(fds, count, 0);
	while (n < 0 && errno == EINTR);
	if (WF_UNLIKELY(n < 0))
		n = ppoll(fds, count, &at_once, NULL);
	return n < 0 ? -errno : n;
}

/* Adds to an eventfd by write(2), or by writev(2) if write(2) is denied: 0, or the error of
 * write(2). A full counter is a success. Safe in signal handlers; not seen by ThreadSanitizer. */
int wf_eventfd_add(int fd, uint64_t value);

#endif
