/* kernel.h - the system calls that every request pays for: a count or -Exxx. */
#ifndef WF_KERNEL_H
#define WF_KERNEL_H

#include <sys/epoll.h>
#include <sys/socket.h>
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
	return (int)WF_SYSCALL(epoll_wait(fd, events, count, ms), SYS_epoll_pwait, fd, events,
			       count, ms, NULL, 0);
}

#endif
