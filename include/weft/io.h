/* weft/io.h - descriptors, files, signals, children, names, blocking calls:
 * every wait for the kernel ends as an event in a color.
 *
 * Two forms. A watch calls you whenever a descriptor is ready. An operation
 * does the reading or writing and calls you once when it is done; it is what
 * io_uring is best at. Both behave the same on io_uring and on epoll, and
 * regular files block a worker on neither.
 */
#ifndef WEFT_IO_H
#define WEFT_IO_H

#include <netdb.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <weft/event.h>
#include <weft/time.h>

WEFT_BEGIN_DECLS

/* Watches */

#define WEFT_READ 1  /* readable, or at end of file, or failed */
#define WEFT_WRITE 2 /* writable, or failed */

/* Calls `fn(arg)` in `color` whenever `fd` is ready for `what` (one of
 * WEFT_READ, WEFT_WRITE), until weft_off_fd. Level-triggered: while it stays
 * ready it is called again, but never before the last call returned.
 *
 * Context:  any thread.
 * Returns:  0
 *           -EBADF      not a descriptor
 *           -EPERM      the descriptor cannot be waited for (a regular file)
 *           -EEXIST     it is watched for that already
 *           -EINVAL     bad `what`, fn or color
 *           -ENOMEM, -EMFILE, -ESHUTDOWN
 */
WEFT_API int weft_on_fd(int fd, int what, weft_color color, weft_fn *fn, void *arg);
WEFT_API int weft_on_fd_at(int fd, int what, weft_color color, weft_fn *fn, void *arg,
			   const char *where);
#define weft_on_fd(...) weft_on_fd_at(__VA_ARGS__, WEFT_HERE)

/* Ends a watch.
 *
 * Context:  any thread.
 * Returns:  0             no call is running or will come (always so when called
 *                         in the watch's own color)
 *           -EINPROGRESS  called from another color while a call was queued or
 *                         running: that call is the last
 *           -ENOENT       it is not watched
 *           -ESHUTDOWN
 */
WEFT_API int weft_off_fd(int fd, int what);

/* Operations */

/* One operation of the kernel. Embed it, initialise it, start it by one of the
 * weft_op_... calls below. When it is done, `result` is set and `event` runs.
 */
typedef struct weft_op {
	weft_event event;
	/* What the system call would have returned, or -Exxx. */
	int64_t result;
	int fd;
	uint8_t kind_, state_;
	uint16_t flags_;
	uint16_t worker_, hint_;
	uint8_t how_;
	uint16_t same_;
	union {
		struct {
			void *buf;
			size_t len;
			int64_t offset;
			int flags;
		} rw_;
		struct {
			const struct iovec *iov;
			size_t count;
			int64_t offset;
		} iov_;
		struct {
			struct msghdr *msg;
			int flags;
		} msg_;
		struct {
			struct sockaddr *addr;
			socklen_t *len;
			socklen_t size;
		} addr_;
		struct {
			const char *path;
			int dir, flags;
			unsigned mode;
		} open_;
		struct {
			int in;
			uint16_t same;
			int64_t offset;
			size_t len, warm;
		} file_;
		bool data_only_;
		int events_;
	} u_;
	size_t done_;
	struct weft_op *next_, *prev_;
	void *record_, *extra_, *link_[2];
} weft_op;

/* Fills in an operation that calls `done(arg)` in `color`. */
static inline void weft_op_init(weft_op *op, weft_color color, weft_fn *done, void *arg)
{
	memset(op, 0, sizeof *op);
	weft_event_init(&op->event, color, done, arg);
}

/* Reads or writes: at the descriptor's own position, and streams, or at `offset`.
 * What follows holds for all operations.
 *
 * Borrows:  op and the memory it names, until its done function is called.
 * Context:  any thread, never a signal handler. Never blocks, never switches.
 *           Operations of one descriptor and direction are done in the order
 *           started; only those that name an offset may overtake each other.
 *           None raises SIGPIPE.
 * Misuse:   starting an operation that is under way.
 * Returns:  0           started: done will be called exactly once, with the
 *                       outcome (also an error such as -EBADF) in op->result
 *           -EINVAL     no done function, bad color or argument; not started
 *           -EALREADY   it is under way
 *           -ESHUTDOWN  no runtime is running, or it is stopping; not started
 */
WEFT_API int weft_op_read(weft_op *op, int fd, void *buf, size_t len);
WEFT_API int weft_op_read_at(weft_op *op, int fd, void *buf, size_t len, const char *where);
WEFT_API int weft_op_write(weft_op *op, int fd, const void *buf, size_t len);
WEFT_API int weft_op_write_at(weft_op *op, int fd, const void *buf, size_t len, const char *where);
WEFT_API int weft_op_pread(weft_op *op, int fd, void *buf, size_t len, int64_t offset);
WEFT_API int weft_op_pread_at(weft_op *op, int fd, void *buf, size_t len, int64_t offset,
			      const char *where);
WEFT_API int weft_op_pwrite(weft_op *op, int fd, const void *buf, size_t len, int64_t offset);
WEFT_API int weft_op_pwrite_at(weft_op *op, int fd, const void *buf, size_t len, int64_t offset,
			       const char *where);
#define weft_op_read(...) weft_op_read_at(__VA_ARGS__, WEFT_HERE)
#define weft_op_write(...) weft_op_write_at(__VA_ARGS__, WEFT_HERE)
#define weft_op_pread(...) weft_op_pread_at(__VA_ARGS__, WEFT_HERE)
#define weft_op_pwrite(...) weft_op_pwrite_at(__VA_ARGS__, WEFT_HERE)

/* Reads into or writes from several buffers. Offset -1 means the descriptor's own
 * position, and is the one for streams.
 *
 * Borrows, Context, Misuse, Returns: as weft_op_read
 */
WEFT_API int weft_op_readv(weft_op *op, int fd, const struct iovec *iov, size_t count,
			   int64_t offset);
WEFT_API int weft_op_readv_at(weft_op *op, int fd, const struct iovec *iov, size_t count,
			      int64_t offset, const char *where);
WEFT_API int weft_op_writev(weft_op *op, int fd, const struct iovec *iov, size_t count,
			    int64_t offset);
WEFT_API int weft_op_writev_at(weft_op *op, int fd, const struct iovec *iov, size_t count,
			       int64_t offset, const char *where);
#define weft_op_readv(...) weft_op_readv_at(__VA_ARGS__, WEFT_HERE)
#define weft_op_writev(...) weft_op_writev_at(__VA_ARGS__, WEFT_HERE)

/* Receives from or sends to a socket.
 * With MSG_WAITALL in flags, recv and send go on until all of len is done, the
 * stream ends or it fails. With MSG_DONTWAIT the result may be -EAGAIN.
 *
 * Borrows, Context, Misuse, Returns: as weft_op_read
 */
WEFT_API int weft_op_recv(weft_op *op, int fd, void *buf, size_t len, int flags);
WEFT_API int weft_op_recv_at(weft_op *op, int fd, void *buf, size_t len, int flags,
			     const char *where);
WEFT_API int weft_op_send(weft_op *op, int fd, const void *buf, size_t len, int flags);
WEFT_API int weft_op_send_at(weft_op *op, int fd, const void *buf, size_t len, int flags,
			     const char *where);
WEFT_API int weft_op_recvmsg(weft_op *op, int fd, struct msghdr *msg, int flags);
WEFT_API int weft_op_recvmsg_at(weft_op *op, int fd, struct msghdr *msg, int flags,
				const char *where);
WEFT_API int weft_op_sendmsg(weft_op *op, int fd, struct msghdr *msg, int flags);
WEFT_API int weft_op_sendmsg_at(weft_op *op, int fd, struct msghdr *msg, int flags,
				const char *where);
#define weft_op_recv(...) weft_op_recv_at(__VA_ARGS__, WEFT_HERE)
#define weft_op_send(...) weft_op_send_at(__VA_ARGS__, WEFT_HERE)
#define weft_op_recvmsg(...) weft_op_recvmsg_at(__VA_ARGS__, WEFT_HERE)
#define weft_op_sendmsg(...) weft_op_sendmsg_at(__VA_ARGS__, WEFT_HERE)

/* Accepts a connection, or makes one.
 * The result of accept is the new descriptor, close-on-exec and blocking. addr and
 * len may be NULL. A cancelled accept loses no connection: it is either given
 * or still in the listen queue. A connection that was accepted and not yet given
 * when the runtime stopped is closed.
 *
 * With epoll a blocking listening socket becomes non-blocking at its first accept, for
 * good. A blocking socket that connects is non-blocking only while connect(2) begins.
 *
 * Borrows, Context, Misuse, Returns: as weft_op_read
 */
WEFT_API int weft_op_accept(weft_op *op, int fd, struct sockaddr *addr, socklen_t *len);
WEFT_API int weft_op_accept_at(weft_op *op, int fd, struct sockaddr *addr, socklen_t *len,
			       const char *where);
WEFT_API int weft_op_connect(weft_op *op, int fd, const struct sockaddr *addr, socklen_t len);
WEFT_API int weft_op_connect_at(weft_op *op, int fd, const struct sockaddr *addr, socklen_t len,
				const char *where);
#define weft_op_accept(...) weft_op_accept_at(__VA_ARGS__, WEFT_HERE)
#define weft_op_connect(...) weft_op_connect_at(__VA_ARGS__, WEFT_HERE)

/* Opens a file, or writes what has changed in one to its disk.
 * As openat(2); dir is AT_FDCWD or a directory. Always close-on-exec. Opening does
 * not wait for others, as with O_NONBLOCK: a FIFO is opened for reading at once,
 * for writing -ENXIO tells that nobody reads it, and a file under another's lease
 * gives -EAGAIN. The descriptor has O_NONBLOCK only if it was asked for.
 * fsync is as fsync(2), or as fdatasync(2) if data_only.
 *
 * Borrows, Context, Misuse, Returns: as weft_op_read
 */
WEFT_API int weft_op_open(weft_op *op, int dir, const char *path, int flags, unsigned mode);
WEFT_API int weft_op_open_at(weft_op *op, int dir, const char *path, int flags, unsigned mode,
			     const char *where);
WEFT_API int weft_op_fsync(weft_op *op, int fd, bool data_only);
WEFT_API int weft_op_fsync_at(weft_op *op, int fd, bool data_only, const char *where);
#define weft_op_open(...) weft_op_open_at(__VA_ARGS__, WEFT_HERE)
#define weft_op_fsync(...) weft_op_fsync_at(__VA_ARGS__, WEFT_HERE)

/* Closes a descriptor.
 * Operations still under way on fd end with -ECANCELED and watches end, then
 * it is closed. This is the way to close a descriptor that Weft has seen. Where
 * close(2) blocks (a file, a TCP socket with SO_LINGER) it blocks no worker.
 *
 * Borrows, Context, Misuse, Returns: as weft_op_read
 */
WEFT_API int weft_op_close(weft_op *op, int fd);
WEFT_API int weft_op_close_at(weft_op *op, int fd, const char *where);
#define weft_op_close(...) weft_op_close_at(__VA_ARGS__, WEFT_HERE)

/* Sends up to len bytes of file `in`, from offset, to the socket `fd`; goes on
 * until all is sent, the file ends or it fails. The result is how many were
 * sent. If the socket has O_NONBLOCK, sendfile(2) sends the bytes. Otherwise sendfile(2)
 * could block, so the bytes are copied through memory.
 *
 * Borrows, Context, Misuse, Returns: as weft_op_read
 */
WEFT_API int weft_op_sendfile(weft_op *op, int fd, int in, int64_t offset, size_t len);
WEFT_API int weft_op_sendfile_at(weft_op *op, int fd, int in, int64_t offset, size_t len,
				 const char *where);
#define weft_op_sendfile(...) weft_op_sendfile_at(__VA_ARGS__, WEFT_HERE)

/* Waits until fd is ready for one of `events` (as of poll(2): POLLIN, say), has failed or
 * was hung up. The result is what poll(2) would have put into revents. It stands
 * in nobody's way: any number of these, and others, may be under way on fd.
 *
 * Borrows, Context, Misuse, Returns: as weft_op_read
 */
WEFT_API int weft_op_poll(weft_op *op, int fd, int events);
WEFT_API int weft_op_poll_at(weft_op *op, int fd, int events, const char *where);
#define weft_op_poll(...) weft_op_poll_at(__VA_ARGS__, WEFT_HERE)

/* Asks for an end of an operation. Exact: done is called in any case, once; its
 * result tells what happened, or is -ECANCELED if nothing did. No byte, no
 * connection and no file is lost between the two.
 *
 * Context:  any thread.
 * Returns:  0           asked; done follows
 *           -EALREADY   it was done already (done runs now, or soon)
 *           -ENOENT     it was never started
 *           -ESHUTDOWN
 */
WEFT_API int weft_op_cancel(weft_op *op);

/* Closes fd as weft_op_close does, without a completion. If the kernel still works on
 * an operation of fd, or another thread is in a system call on it, fd is closed when
 * that has ended, which is soon: only then is the number free. May block where close(2)
 * does. Called from another color than that of a watch of fd, a call of the watch that
 * is queued or running still comes to its end, as with weft_off_fd.
 *
 * Context:  any thread. Without a running runtime it is close(2).
 * Returns:  0, or the error of close(2)
 */
WEFT_API int weft_fd_close(int fd);

/* Promises Weft that fd, from now on, is closed only by Weft (weft_fd_close, weft_op_close,
 * weft_close), and that nobody changes its O_NONBLOCK, here or in another process. Waits
 * are then cheaper: for any other descriptor Weft asks the kernel, at each wait, whether
 * the number still means the same. If fd is a pipe that has O_NONBLOCK when it is adopted,
 * reads and writes are cheaper, too. Weft already knows that it alone closes what it made
 * by accepting, connecting, opening or weft_pipe.
 *
 * Context:  any thread.
 * Returns:  0
 *           -EBADF      not a descriptor, or one that is being closed
 *           -ENOMEM, -ESHUTDOWN
 */
WEFT_API int weft_fd_adopt(int fd);

/* Makes a pipe: what is written to fd[1] can be read from fd[0]. Both ends are close-on-exec, and
 * blocking, so that any program can use them. Close them only by Weft, as after weft_fd_adopt. If
 * both ends stay in this process, set O_NONBLOCK on them and call weft_fd_adopt: that saves some 60
 * ns a call.
 *
 * Context:  any thread.
 * Returns:  0
 *           -EMFILE, -ENFILE, -ENOMEM, -ESHUTDOWN
 */
WEFT_API int weft_pipe(int fd[2]);

/* How a listening socket shall be. All zeros is a good choice. */
typedef struct weft_listen_options {
	int backlog;     /* connections that may wait to be accepted; 0: as many as may be */
	bool reuse_port; /* several sockets may listen at this address (SO_REUSEPORT) */
	bool only_ipv6;  /* "[::]:80" does not take IPv4 connections too */
	uint64_t reserved[4];
} weft_listen_options;

/* Makes a listening TCP socket for "host:port", "[::1]:port" or ":port"; the
 * address is numeric, and none means every IPv4 address of the machine. Options of
 * the socket: close-on-exec, blocking, SO_REUSEADDR, a full backlog; and what
 * `opt` says, if it is not NULL. weft_listen_on is weft_listen without options.
 *
 * Borrows:  address and opt, only during the call.
 * Context:  any thread.
 * Returns:  the descriptor, -EINVAL if the address cannot be read, or the error
 *           of socket(2), setsockopt(2), bind(2) or listen(2)
 */
WEFT_API int weft_listen(const char *address, const weft_listen_options *opt);
WEFT_API int weft_listen_on(const char *address);

/* Signals */

/* Calls `fn(arg)` in `color` after signal `signo` arrived. Arrivals while a
 * call is queued count as one. The action that was in force comes back at
 * weft_off_signal, and when the runtime ends. A signal watch does not keep
 * weft_run from ending.
 *
 * Context:  any thread.
 * Returns:  0
 *           -EINVAL     not a signal that can be caught, or one that tells of a
 *                       fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL), from which no
 *                       event can help; bad fn or color
 *           -EEXIST     it is watched already
 *           -ENOMEM, -EMFILE, -ESHUTDOWN
 */
WEFT_API int weft_on_signal(int signo, weft_color color, weft_fn *fn, void *arg);

/* Ends a signal watch.
 *
 * Context, Returns: as weft_off_fd
 */
WEFT_API int weft_off_signal(int signo);

/* Child processes */

/* A child that somebody waits for. When it has ended, `status` is set (as of
 * waitpid(2)) and `event` runs; the child has been reaped.
 */
typedef struct weft_child {
	weft_event event;
	pid_t pid;
	int status; /* as of waitpid(2) */
	/* 0; -ECANCELED: the child lives on, not reaped; -ECHILD: the program reaped the child
	 * itself, and its status is lost: reported; or another -Exxx. */
	int result;
	int pidfd_;
	weft_event inner_;
	uint32_t state_;
} weft_child;

/* Fills in a child whose end calls `done(arg)` in `color`. */
static inline void weft_child_init(weft_child *c, weft_color color, weft_fn *done, void *arg)
{
	memset(c, 0, sizeof *c);
	c->pidfd_ = -1;
	weft_event_init(&c->event, color, done, arg);
}

/* Waits for the child `pid` to end.
 *
 * Borrows:  c, until done is called.
 * Context:  any thread.
 * Returns:  0           done will be called exactly once
 *           -ECHILD     not a child of this process
 *           -EINVAL, -EALREADY, -EMFILE, -ENOMEM, -ESHUTDOWN
 */
WEFT_API int weft_child_wait(weft_child *c, pid_t pid);

/* Starts the program `path` (searched in PATH if it has no slash) and waits
 * for it. Descriptors 0 to 2 come from fds[3], where -1 means /dev/null, or
 * are this process's own when fds is NULL. Signal dispositions are reset.
 *
 * Borrows:  c, until done is called; the others only during the call.
 * Context:  any thread.
 * Returns:  0, c->pid is set; or as weft_child_wait, or the error of
 *           posix_spawn(3) (-ENOENT, -EACCES ...)
 */
WEFT_API int weft_child_spawn(weft_child *c, const char *path, char *const argv[],
			      char *const envp[], const int *fds);

/* Stops waiting for a child; does not kill it. Exact, as weft_op_cancel.
 *
 * Context, Returns: as weft_op_cancel
 */
WEFT_API int weft_child_cancel(weft_child *c);

/* Names */

/* A name to be looked up: hosts file and DNS, by c-ares, on no thread pool. */
typedef struct weft_lookup {
	weft_event event;
	/* 0, or -ENOENT (no such name), -ETIMEDOUT, -ECANCELED, -EAGAIN (server
	 * failure), -ENOSYS (built without c-ares), -ENOMEM */
	int result;
	int count;
	struct sockaddr_storage *addrs; /* freed by weft_lookup_fini */
	void *private_;
	uint32_t state_;
	weft_event inner_;
} weft_lookup;

/* Fills in a lookup that calls `done(arg)` in `color`. */
static inline void weft_lookup_init(weft_lookup *l, weft_color color, weft_fn *done, void *arg)
{
	memset(l, 0, sizeof *l);
	weft_event_init(&l->event, color, done, arg);
}

/* Looks up `host` (a name or a numeric address) for family AF_UNSPEC, AF_INET
 * or AF_INET6; `port` is put into each address. Gives up after timeout_ms
 * (0: the resolver's own limit).
 *
 * Borrows:  l, until done is called; host only during the call.
 * Context:  any thread.
 * Returns:  0, -EINVAL, -EALREADY, -ENOSYS, -ENOMEM, -EMFILE, -ESHUTDOWN
 */
WEFT_API int weft_lookup_start(weft_lookup *l, const char *host, uint16_t port, int family,
			       int timeout_ms);
WEFT_API int weft_lookup_cancel(weft_lookup *l);

/* Frees the addresses of a lookup. Call it once done has been called. */
WEFT_API void weft_lookup_fini(weft_lookup *l);

/* Tells where the resolver asks: "127.0.0.1:5353,[::1]:53", or NULL for the system's
 * configuration; and the hosts file, or NULL for /etc/hosts. Takes effect at
 * the next weft_run.
 *
 * Context:  any thread.
 * Returns:  0, -EINVAL, -ENOMEM
 */
WEFT_API int weft_lookup_servers(const char *servers, const char *hosts_file);

/* Blocking calls */

/* A blocking call for the offload pool. */
typedef struct weft_work {
	weft_event event; /* runs when the call has returned */
	int (*call)(void *arg);
	int result; /* what call returned, or -ECANCELED: it was never called */
	uint32_t state_;
	struct weft_work *next_, *prev_;
} weft_work;

/* Fills in a blocking call whose return calls `done(arg)` in `color`. */
static inline void weft_work_init(weft_work *w, weft_color color, weft_fn *done, void *arg)
{
	memset(w, 0, sizeof *w);
	weft_event_init(&w->event, color, done, arg);
}

/* Runs `call(arg)`, with the event's arg, on a thread of the offload pool, then
 * the event in its color.
 *
 * Borrows:  w, until done is called.
 * Context:  any thread.
 * Returns:  0           done will be called exactly once
 *           -EAGAIN     the pool has no thread and cannot start one
 *           -EINVAL, -EALREADY, -ESHUTDOWN
 */
WEFT_API int weft_work_start(weft_work *w, int (*call)(void *arg));

/* Cancels a blocking call that has not begun. Exact, as weft_op_cancel.
 *
 * Context, Returns: as weft_op_cancel
 */
WEFT_API int weft_work_cancel(weft_work *w);

WEFT_END_DECLS
#endif
