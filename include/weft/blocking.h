/* weft/blocking.h - calls that wait: all of weft/io.h as straight-line code, for
 * threads.
 *
 * Each call does what the system call of its name does. It stops only the thread
 * that makes it, and not even that if it can be answered at once. Calls return
 * -Exxx and never set errno.
 *
 * Each has a form with a deadline, a time on weft_now's clock. It is exact: with
 * -ETIMEDOUT nothing happened, else the result tells what did; no byte, connection
 * or descriptor is lost between the two. (So it comes late where the kernel cannot
 * stop what it has begun: a disk, say.) With a deadline in the past a call gives
 * what there is at once. Now and then a call that need not wait lets others of the
 * worker run (as weft_yield does), so that a busy thread keeps nobody waiting.
 */
#ifndef WEFT_BLOCKING_H
#define WEFT_BLOCKING_H

#include <poll.h>
#include <sys/select.h>

#include <weft/io.h>
#include <weft/thread.h>

WEFT_BEGIN_DECLS
#if defined(__clang__) || defined(WEFT_TAME_READING) /* WEFT_WAITS for all of it */
#pragma clang attribute push(WEFT_WAITS, apply_to = function)
#endif

/* Reading and writing */

/* Reads or writes bytes of a stream, or of a file: at its own position, or at
 * `offset`. Fewer bytes than asked for may be done, as with the system calls. Reading
 * 0 bytes is the end. What follows holds for all calls of this header.
 *
 * Borrows:  the memory it names, during the call.
 * Context:  a thread; waits. Of one descriptor and direction what was called
 *           first is done first; only calls that name an offset may overtake each
 *           other. None raises SIGPIPE. -EINTR is never seen.
 * Misuse:   called where there is no thread: reported
 * Returns:  what the system call would have returned, or its error; also
 *           -ETIMEDOUT  the deadline came first; nothing happened
 *           -ECANCELED  the wait was cancelled; nothing happened
 *           -EBADF      not a descriptor, or another thread closed it meanwhile
 *           -EPERM      not called by a thread
 *           -ESHUTDOWN  the runtime is stopping
 */
WEFT_API ssize_t weft_read_until(int fd, void *buf, size_t len, uint64_t deadline);
static inline ssize_t weft_read(int fd, void *buf, size_t len)
{
	return weft_read_until(fd, buf, len, WEFT_FOREVER);
}
WEFT_API ssize_t weft_write_until(int fd, const void *buf, size_t len, uint64_t deadline);
static inline ssize_t weft_write(int fd, const void *buf, size_t len)
{
	return weft_write_until(fd, buf, len, WEFT_FOREVER);
}
WEFT_API ssize_t weft_pread_until(int fd, void *buf, size_t len, int64_t offset, uint64_t deadline);
static inline ssize_t weft_pread(int fd, void *buf, size_t len, int64_t offset)
{
	return weft_pread_until(fd, buf, len, offset, WEFT_FOREVER);
}
WEFT_API ssize_t weft_pwrite_until(int fd, const void *buf, size_t len, int64_t offset,
				   uint64_t deadline);
static inline ssize_t weft_pwrite(int fd, const void *buf, size_t len, int64_t offset)
{
	return weft_pwrite_until(fd, buf, len, offset, WEFT_FOREVER);
}

/* Reads into or writes from several buffers.
 *
 * Borrows, Context, Misuse, Returns: as weft_read
 */
WEFT_API ssize_t weft_readv_until(int fd, const struct iovec *iov, size_t count, uint64_t deadline);
static inline ssize_t weft_readv(int fd, const struct iovec *iov, size_t count)
{
	return weft_readv_until(fd, iov, count, WEFT_FOREVER);
}
WEFT_API ssize_t weft_writev_until(int fd, const struct iovec *iov, size_t count,
				   uint64_t deadline);
static inline ssize_t weft_writev(int fd, const struct iovec *iov, size_t count)
{
	return weft_writev_until(fd, iov, count, WEFT_FOREVER);
}
WEFT_API ssize_t weft_preadv_until(int fd, const struct iovec *iov, size_t count, int64_t offset,
				   uint64_t deadline);
static inline ssize_t weft_preadv(int fd, const struct iovec *iov, size_t count, int64_t offset)
{
	return weft_preadv_until(fd, iov, count, offset, WEFT_FOREVER);
}
WEFT_API ssize_t weft_pwritev_until(int fd, const struct iovec *iov, size_t count, int64_t offset,
				    uint64_t deadline);
static inline ssize_t weft_pwritev(int fd, const struct iovec *iov, size_t count, int64_t offset)
{
	return weft_pwritev_until(fd, iov, count, offset, WEFT_FOREVER);
}

/* Reads or writes all of `len` bytes, by as many calls as it takes. Two threads that
 * write to one stream must take turns themselves.
 *
 * Borrows, Context, Misuse: as weft_read
 * Returns:  len, all of it was done
 *           0           the stream was at its end: nothing was read
 *           -ENODATA    the stream ended in the midst (weft_read_exactly)
 *           or as weft_read. *done (if not NULL) tells in any case how many bytes
 *           were done; after -ETIMEDOUT one may go on from there.
 */
WEFT_API ssize_t weft_read_exactly_until(int fd, void *buf, size_t len, size_t *done,
					 uint64_t deadline);
static inline ssize_t weft_read_exactly(int fd, void *buf, size_t len)
{
	return weft_read_exactly_until(fd, buf, len, WEFT_NULL_, WEFT_FOREVER);
}
WEFT_API ssize_t weft_write_all_until(int fd, const void *buf, size_t len, size_t *done,
				      uint64_t deadline);
static inline ssize_t weft_write_all(int fd, const void *buf, size_t len)
{
	return weft_write_all_until(fd, buf, len, WEFT_NULL_, WEFT_FOREVER);
}

/* Sockets */

/* Receives from or sends to a socket. MSG_WAITALL goes on until all of len is done,
 * the stream ends or it fails; a deadline that comes in the midst gives what was
 * done. With MSG_DONTWAIT the result may be -EAGAIN.
 *
 * Borrows, Context, Misuse, Returns: as weft_read
 */
WEFT_API ssize_t weft_recv_until(int fd, void *buf, size_t len, int flags, uint64_t deadline);
static inline ssize_t weft_recv(int fd, void *buf, size_t len, int flags)
{
	return weft_recv_until(fd, buf, len, flags, WEFT_FOREVER);
}
WEFT_API ssize_t weft_send_until(int fd, const void *buf, size_t len, int flags, uint64_t deadline);
static inline ssize_t weft_send(int fd, const void *buf, size_t len, int flags)
{
	return weft_send_until(fd, buf, len, flags, WEFT_FOREVER);
}
WEFT_API ssize_t weft_recvmsg_until(int fd, struct msghdr *msg, int flags, uint64_t deadline);
static inline ssize_t weft_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return weft_recvmsg_until(fd, msg, flags, WEFT_FOREVER);
}
WEFT_API ssize_t weft_sendmsg_until(int fd, struct msghdr *msg, int flags, uint64_t deadline);
static inline ssize_t weft_sendmsg(int fd, struct msghdr *msg, int flags)
{
	return weft_sendmsg_until(fd, msg, flags, WEFT_FOREVER);
}

/* Accepts a connection: a new descriptor, close-on-exec and blocking. `peer`, if
 * not NULL, gets its address. Several threads may accept from one socket. With epoll the
 * listening socket becomes non-blocking, for good. A connection that cannot be accepted for want of
 * descriptors (-EMFILE, -ENFILE) or memory stays in the queue.
 *
 * Borrows, Context, Misuse, Returns: as weft_read
 */
WEFT_API int weft_accept_until(int fd, struct sockaddr_storage *peer, uint64_t deadline);
static inline int weft_accept(int fd, struct sockaddr_storage *peer)
{
	return weft_accept_until(fd, peer, WEFT_FOREVER);
}

/* Connects a socket. After -ETIMEDOUT or -ECANCELED the socket is of no use any more.
 *
 * Borrows, Context, Misuse, Returns: as weft_read
 */
WEFT_API int weft_connect_until(int fd, const struct sockaddr *addr, socklen_t len,
				uint64_t deadline);
static inline int weft_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	return weft_connect_until(fd, addr, len, WEFT_FOREVER);
}

/* Makes a TCP connection to "host:port" or "[::1]:port": looks up the host's
 * addresses and tries each until one answers. Each gets its share of the time left.
 *
 * Borrows, Context, Misuse: as weft_read
 * Returns:  the descriptor, close-on-exec and blocking
 *           -EINVAL     the address cannot be read
 *           or as weft_resolve, or the error of the address that was tried last
 */
WEFT_API int weft_dial_until(const char *address, uint64_t deadline);
static inline int weft_dial(const char *address)
{
	return weft_dial_until(address, WEFT_FOREVER);
}

/* Sends up to len bytes of file `in`, from offset, to the socket fd; goes on until
 * all is sent, the file ends or sending fails. For O_NONBLOCK see weft_op_sendfile.
 *
 * Borrows, Context, Misuse: as weft_read
 * Returns:  how many bytes were sent, if any were; else as weft_read
 */
WEFT_API ssize_t weft_sendfile_until(int fd, int in, int64_t offset, size_t len, uint64_t deadline);
static inline ssize_t weft_sendfile(int fd, int in, int64_t offset, size_t len)
{
	return weft_sendfile_until(fd, in, offset, len, WEFT_FOREVER);
}

/* Waits until one of several descriptors is ready, as poll(2): fds[i].events says for
 * what, fds[i].revents tells; descriptors below 0 are left out. POLLNVAL tells of one
 * that was closed meanwhile.
 *
 * Borrows, Context, Misuse: as weft_read
 * Returns:  how many have revents that are not 0, 1 or more
 *           -ETIMEDOUT  the deadline came, and none is ready
 *           -ENOMEM, or as weft_read
 */
WEFT_API int weft_poll_until(struct pollfd *fds, size_t count, uint64_t deadline);
static inline int weft_poll(struct pollfd *fds, size_t count)
{
	return weft_poll_until(fds, count, WEFT_FOREVER);
}

/* Files */

/* Opens a file; always close-on-exec. Opening does not wait for others, as with
 * O_NONBLOCK: see weft_op_open.
 *
 * Borrows, Context, Misuse, Returns: as weft_read
 */
WEFT_API int weft_open_until(const char *path, int flags, unsigned mode, uint64_t deadline);
static inline int weft_open(const char *path, int flags, unsigned mode)
{
	return weft_open_until(path, flags, mode, WEFT_FOREVER);
}
WEFT_API int weft_openat_until(int dir, const char *path, int flags, unsigned mode,
			       uint64_t deadline);
static inline int weft_openat(int dir, const char *path, int flags, unsigned mode)
{
	return weft_openat_until(dir, path, flags, mode, WEFT_FOREVER);
}

/* Writes what has changed in a file to its disk; weft_fdatasync leaves out what is
 * not needed to read the data again.
 *
 * Context, Misuse, Returns: as weft_read
 */
WEFT_API int weft_fsync_until(int fd, uint64_t deadline);
static inline int weft_fsync(int fd)
{
	return weft_fsync_until(fd, WEFT_FOREVER);
}
WEFT_API int weft_fdatasync_until(int fd, uint64_t deadline);
static inline int weft_fdatasync(int fd)
{
	return weft_fdatasync_until(fd, WEFT_FOREVER);
}

/* Closes a descriptor. Calls of other threads that wait on it end first, with -EBADF. When
 * weft_close returns, no call uses the number any more, and a new descriptor may get it.
 * There is no deadline, as a close cannot be undone. Where close(2) blocks (a file, a
 * TCP socket with SO_LINGER) it blocks no worker.
 *
 * Context:  a thread; waits. (weft_fd_close can be called anywhere.)
 * Misuse:   called where there is no thread: reported
 * Returns:  0, or the error of close(2), -EBADF, -EPERM or -ESHUTDOWN
 */
WEFT_API int weft_close(int fd);

/* Names, blocking calls, signals, children */

/* Looks up the addresses of `host` (a name or a numeric address) for family
 * AF_UNSPEC, AF_INET or AF_INET6; `port` is put into each.
 *
 * Borrows:  host, during the call.
 * Gives:    *addrs, to be freed by free(3)
 * Context:  a thread; waits.
 * Misuse:   called where there is no thread: reported
 * Returns:  how many addresses, 1 or more
 *           -ENOENT     no such name
 *           -EAGAIN     the server failed
 *           -ETIMEDOUT  the deadline came first, or no server answered
 *           -ECANCELED, -EPERM, -EINVAL, -ENOSYS, -ENOMEM, -EMFILE, -ESHUTDOWN
 */
WEFT_API int weft_resolve_until(const char *host, uint16_t port, int family,
				struct sockaddr_storage **addrs, uint64_t deadline);
static inline int weft_resolve(const char *host, uint16_t port, int family,
			       struct sockaddr_storage **addrs)
{
	return weft_resolve_until(host, port, family, addrs, WEFT_FOREVER);
}

/* Calls `call(arg)` on a kernel thread of the offload pool, where it may block. A
 * deadline ends the wait only while the call has not begun.
 *
 * Borrows:  arg, during the call.
 * Context:  a thread; waits. In `call` there is no thread: weft_self is NULL.
 * Misuse:   called where there is no thread: reported
 * Returns:  0           *result (if not NULL) is what it returned
 *           -ETIMEDOUT, -ECANCELED  it was not called, and never will be
 *           -EAGAIN     the pool has no thread and cannot start one
 *           -EINVAL, -EPERM, -ESHUTDOWN
 *           weft_offload: what it returned, or one of these
 */
WEFT_API int weft_offload_until(int (*call)(void *arg), void *arg, int *result, uint64_t deadline);
static inline int weft_offload(int (*call)(void *arg), void *arg)
{
	int result = 0, rc = weft_offload_until(call, arg, &result, WEFT_FOREVER);

	return rc < 0 ? rc : result;
}

/* Waits for a signal of a set. A signal is caught from the first wait for it on,
 * until weft_off_signal or the end of the run: one that comes while nobody waits is
 * kept for the next wait (several count as one). Of several threads that wait for
 * one signal the first gets it. While a thread waits weft_run does not end.
 *
 * Borrows:  set, during the call.
 * Context:  a thread; waits.
 * Misuse:   called where there is no thread: reported
 * Returns:  the signal's number
 *           -EINVAL     the set is empty, or has one that weft_on_signal refuses
 *           -EEXIST     weft_on_signal watches one of them
 *           -ETIMEDOUT, -ECANCELED, -EPERM, -ENOMEM, -EMFILE, -ESHUTDOWN
 */
WEFT_API int weft_signal_wait_until(const sigset_t *set, uint64_t deadline);
static inline int weft_signal_wait(const sigset_t *set)
{
	return weft_signal_wait_until(set, WEFT_FOREVER);
}

/* Waits for the child process `pid` to end, and reaps it.
 *
 * Context:  a thread; waits.
 * Misuse:   called where there is no thread: reported
 * Returns:  0           *status (if not NULL) is as of waitpid(2)
 *           -ETIMEDOUT, -ECANCELED  the child lives on, or is not reaped
 *           -ECHILD     not a child of this process; or the program reaped it (by a
 *                       handler of SIGCHLD that waits for any child, or by ignoring
 *                       SIGCHLD) and its status is lost (Linux before 6.15, or a
 *                       child that ended before the call found it): reported
 *           -EINVAL, -EPERM, -EMFILE, -ENOMEM, -ESHUTDOWN
 */
WEFT_API int weft_child_join_until(pid_t pid, int *status, uint64_t deadline);
static inline int weft_child_join(pid_t pid, int *status)
{
	return weft_child_join_until(pid, status, WEFT_FOREVER);
}

/* Runs the program `path` (searched in PATH if it has no slash) to its end.
 * Descriptors 0 to 2 come from fds[3], where -1 means /dev/null, or are this
 * process's own when fds is NULL. `envp` may be NULL: this process's own.
 *
 * Borrows:  all of it, during the call.
 * Context:  a thread; waits.
 * Misuse:   called where there is no thread: reported
 * Returns:  0           *status (if not NULL) is as of waitpid(2)
 *           -ETIMEDOUT, -ECANCELED  it goes on; *pid (if not NULL) is its number,
 *                       for weft_child_join. *pid is -1 if it was never started.
 *           or as weft_child_join, or the error of posix_spawn(3)
 */
WEFT_API int weft_child_run_until(const char *path, char *const argv[], char *const envp[],
				  const int *fds, pid_t *pid, int *status, uint64_t deadline);
static inline int weft_child_run(const char *path, char *const argv[], char *const envp[],
				 const int *fds, int *status)
{
	return weft_child_run_until(path, argv, envp, fds, WEFT_NULL_, status, WEFT_FOREVER);
}

#if defined(__clang__) || defined(WEFT_TAME_READING)
#pragma clang attribute pop
#endif
WEFT_END_DECLS
#endif
