/* weft/tame_events.h - everything that one may wait for, as events for tamed functions.
 *
 *	twait { weft_read_ev(fd, buf, sizeof buf, mkevent(n)); }
 *
 * Each function is what its namesake of weft/io.h or weft/blocking.h is, but returns at once, and
 * triggers its event when it is over: exactly once, also if it could not begin. Errors come as
 * values, -Exxx; besides those of the namesake each may be -ENOMEM (no memory to remember the
 * operation by), -ESHUTDOWN (the runtime is stopping) and -EPERM (called in the wrong context).
 * What can be answered at once is: then the function that waits for it just goes on; now and
 * then it is made to wait all the same, so that others have a turn.
 *
 * Cancelling. When the rendezvous of an event is cancelled, or has ended, the operation is
 * cancelled too (X1): what has not happened yet does not happen, and what brings something that
 * nobody gets is undone, as each function says. The memory that such a function names may be
 * gone at once (it is not touched after the cancel), so it may be a variable of the function
 * that waits. What was triggered before the cancel has happened: its values are in their
 * variables, also if no twait has told so yet; one who cancels must look there. That holds for
 * calls in the color of the rendezvous. In another color an operation goes on until the word of
 * the cancel comes there; memory must live so long, and what was triggered and is on its way is
 * lost.
 *
 * A thread that is cancelled (weft/scope.h) while it waits, in a twait block or by twait(r), cancels
 * its operations too, but waits until each has ended: with its result, or with -ECANCELED if it has
 * not happened. So no value is lost, and memory is borrowed until the wait is over. A transfer of
 * all bytes gives the number of bytes that were transferred; a sleep ends early; an address is
 * 0.0.0.0; closing, and locks without a value (weft/tame_lock.h), continue to their end.
 *
 * What follows holds for all functions here:
 *
 * Takes:    the event.
 * Borrows:  the memory it names, until the event is triggered or cancelled; strings and addresses
 *           only during the call.
 * Context:  a handler or a thread, in exclusive use of its color, where the event is triggered.
 *           Never blocks, never switches, never runs what waits.
 */
#ifndef WEFT_TAME_EVENTS_H
#define WEFT_TAME_EVENTS_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <weft/channel.h>
#include <weft/scope.h>
#include <weft/sync.h>
#include <weft/thread.h>
#include <weft/trigger.h>

WEFT_BEGIN_DECLS

/* Time */

/* Triggers `e` after `ns` nanoseconds (0: when what is queued in the color has run), or at a time
 * on weft_now's clock. If there is no memory, or the runtime is stopping, at once.
 *
 * Takes, Context: as weft_read_ev
 */
WEFT_API void weft_sleep_ev(uint64_t ns, WEFT_EVENT() e);
WEFT_API void weft_until_ev(uint64_t when, WEFT_EVENT() e);

/* Descriptors */

/* Triggers `e` when fd is ready for one of `events` (POLLIN, say), has failed or was hung up, with
 * what poll(2) would have put into revents, or -Exxx. As weft_op_poll.
 *
 * Takes, Context: as weft_read_ev
 */
WEFT_API void weft_fd_ev(int fd, int events, WEFT_EVENT(int) e);

/* Read or write, as weft_read, weft_write, weft_pread, weft_pwrite, weft_recv and weft_send:
 * the value is how many bytes were done, or -Exxx. Of one descriptor and direction only one that
 * can be cancelled should be under way.
 *
 * Cancelled, a read from a stream has read nothing, but for kinds that the kernel cannot be asked
 * about without waiting (terminals) and MSG_WAITALL, where bytes may be lost. How much was
 * written nobody knows. Of files, and when writing has to wait, at most 64 KiB are done at
 * a time if it can be cancelled: they are copied.
 *
 * Takes:    e.
 * Borrows:  buf, until e is triggered or cancelled.
 * Context:  a handler or a thread, in exclusive use of its color, where e is triggered. Never
 *           blocks, never switches, never runs what waits.
 */
WEFT_API void weft_read_ev(int fd, void *buf, size_t len, WEFT_EVENT(ssize_t) e);
WEFT_API void weft_write_ev(int fd, const void *buf, size_t len, WEFT_EVENT(ssize_t) e);
WEFT_API void weft_pread_ev(int fd, void *buf, size_t len, int64_t offset, WEFT_EVENT(ssize_t) e);
WEFT_API void weft_pwrite_ev(int fd, const void *buf, size_t len, int64_t offset,
			     WEFT_EVENT(ssize_t) e);
WEFT_API void weft_recv_ev(int fd, void *buf, size_t len, int flags, WEFT_EVENT(ssize_t) e);
WEFT_API void weft_send_ev(int fd, const void *buf, size_t len, int flags, WEFT_EVENT(ssize_t) e);

/* Read or write all of `len` bytes, by as many calls as it takes. The value is len; 0 if the
 * stream was at its end; -ENODATA if it ended in the midst; or an error. As weft_read_exactly and
 * weft_write_all. Cancelled, what was read is lost.
 *
 * Takes, Borrows, Context: as weft_read_ev
 */
WEFT_API void weft_read_exactly_ev(int fd, void *buf, size_t len, WEFT_EVENT(ssize_t) e);
WEFT_API void weft_write_all_ev(int fd, const void *buf, size_t len, WEFT_EVENT(ssize_t) e);

/* Accepts a connection, as weft_accept: the value is the new descriptor, or -Exxx; `peer`, if
 * not NULL, gets its address. Cancelled, the connection stays in the queue; one that the kernel
 * had accepted in that moment is closed.
 *
 * Takes, Context: as weft_read_ev
 * Borrows:  peer, until e is triggered or cancelled.
 */
WEFT_API void weft_accept_ev(int fd, struct sockaddr_storage *peer, WEFT_EVENT(int) e);

/* Connects a socket: 0 or -Exxx. Cancelled, the socket is of no use any more.
 *
 * Takes, Context: as weft_read_ev
 * Borrows:  addr, during the call.
 */
WEFT_API void weft_connect_ev(int fd, const struct sockaddr *addr, socklen_t len,
			      WEFT_EVENT(int) e);

/* Open a file, as weft_open and weft_openat: the value is the descriptor, or -Exxx. Cancelled, one
 * that was opened all the same is closed; a file that was made stays.
 *
 * Takes, Context: as weft_read_ev
 * Borrows:  path, during the call.
 */
WEFT_API void weft_open_ev(const char *path, int flags, unsigned mode, WEFT_EVENT(int) e);
WEFT_API void weft_openat_ev(int dir, const char *path, int flags, unsigned mode,
			     WEFT_EVENT(int) e);

/* Closes a descriptor, as weft_close: 0 or -Exxx. What is under way on it ends first, with -EBADF.
 * It is closed in any case: cancelled or not. If there is no memory it may block, where close(2)
 * does.
 *
 * Takes, Context: as weft_read_ev
 */
WEFT_API void weft_close_ev(int fd, WEFT_EVENT(int) e);

/* Write what has changed in a file to its disk: 0 or -Exxx.
 *
 * Takes, Context: as weft_read_ev
 */
WEFT_API void weft_fsync_ev(int fd, WEFT_EVENT(int) e);
WEFT_API void weft_fdatasync_ev(int fd, WEFT_EVENT(int) e);

/* Sends up to len bytes of file `in`, from offset, to the socket fd, as weft_sendfile: the value is
 * how many were sent, or -Exxx. Cancelled, nobody knows how many; and `in` may be in use for
 * a moment longer: it is closed by weft_close_ev.
 *
 * Takes, Context: as weft_read_ev
 */
WEFT_API void weft_sendfile_ev(int fd, int in, int64_t offset, size_t len, WEFT_EVENT(ssize_t) e);

/* Signals, processes, blocking calls */

/* Waits for signal `signo`, as weft_signal_wait: the value is its number, or -Exxx. It is caught
 * from now on; one that comes while nobody waits is kept for the next who does. Of several who
 * wait for one signal, threads or events, the first gets it. While one waits weft_run does not
 * end. Cancelled, a signal that had come goes to the next.
 *
 * Takes, Context: as weft_read_ev
 */
WEFT_API void weft_signal_ev(int signo, WEFT_EVENT(int) e);

/* Waits for the child process `pid` to end, and reaps it: 0 and its status (as of waitpid(2)), or
 * -Exxx. Cancelled, it lives on, or is not reaped; if it was reaped in that moment, nobody is told.
 *
 * Takes, Context: as weft_read_ev
 */
WEFT_API void weft_child_ev(pid_t pid, WEFT_EVENT(int, int) e);

/* Runs a program to its end, as weft_child_run: 0 and its status, or -Exxx. *pid (if not NULL) is
 * its number when the call returns, or -1 if it was not started. Cancelled, it goes on; it is for
 * who has its number to kill it, and to wait for it by weft_child_ev.
 *
 * Takes, Context: as weft_read_ev
 * Borrows:  the rest, during the call.
 */
WEFT_API void weft_spawn_ev(const char *path, char *const argv[], char *const envp[],
			    const int *fds, pid_t *pid, WEFT_EVENT(int, int) e);

/* Calls `call(arg)` on a kernel thread of the offload pool, where it may block: what it returned,
 * or -Exxx. Cancelled, it is not called if it has not begun; else it comes to its end, and arg must
 * last so long.
 *
 * Takes, Context: as weft_read_ev
 */
WEFT_API void weft_offload_ev(int (*call)(void *arg), void *arg, WEFT_EVENT(int) e);

/* Names */

/* Looks up an IPv4 address of `name`, which may be numeric: 0.0.0.0 if there is none, or for any
 * error.
 *
 * Takes, Context: as weft_read_ev
 * Borrows:  name, during the call.
 */
WEFT_API void weft_resolve_ev(const char *name, WEFT_EVENT(struct in_addr) e);

/* Look up `host` (a name or a numeric address) as weft_lookup_start: 0, or -Exxx, and the first
 * address; or how many there are, or -Exxx, and all of them, to be freed by free(3).
 * Cancelled, addresses that had come are freed.
 *
 * Takes, Context: as weft_read_ev
 * Borrows:  host, during the call.
 * Gives:    weft_lookup_all_ev: the addresses
 */
WEFT_API void weft_lookup_ev(const char *host, uint16_t port, int family, int timeout_ms,
			     WEFT_EVENT(int, struct sockaddr_storage) e);
WEFT_API void weft_lookup_all_ev(const char *host, uint16_t port, int family, int timeout_ms,
				 WEFT_EVENT(int, struct sockaddr_storage *) e);

/* Channels, mutexes, threads, scopes */

/* Send the message at `from`, or receive one into `to`: 0, or -EPIPE and others as
 * weft_channel_send and weft_channel_receive. To wait takes no stack. Who waits longest is
 * served first, threads and events alike.
 *
 * Cancelled, a message is not sent; or it is, if a receiver has it. One that was received in that
 * moment goes back, to be the next that is received (behind what is kept, if the channel is full or
 * keeps nothing).
 *
 * Takes, Context: as weft_read_ev
 * Borrows:  from, during the call; to, until e is triggered or cancelled.
 */
WEFT_API void weft_channel_send_ev(weft_channel *ch, const void *from, WEFT_EVENT(int) e);
WEFT_API void weft_channel_receive_ev(weft_channel *ch, void *to, WEFT_EVENT(int) e);

/* Locks a mutex that threads use too: 0 or -Exxx. It then belongs to no thread: whoever comes to
 * the end of the work calls weft_mutex_unlock, in whatever color. A second lock waits, and is
 * not found to be a deadlock. Cancelled, it is not locked, or unlocked at once. (Locks for tamed
 * functions alone are those of weft/tame_lock.h.)
 *
 * Takes, Context: as weft_read_ev
 * Borrows:  m, until it was unlocked, or e was cancelled.
 */
WEFT_API void weft_mutex_lock_ev(weft_mutex *m, WEFT_EVENT(int) e);

/* Waits for a thread to end, and frees it, as weft_join: 0 and what its function returned, or
 * -Exxx. To wait takes no stack. Cancelled, it is still to be joined.
 *
 * Takes, Context: as weft_read_ev
 */
WEFT_API void weft_join_ev(weft_thread *thread, WEFT_EVENT(int, int) e);

/* Calls `fn(scope, arg)` in a scope of its own (weft/scope.h), and triggers e when everything that
 * was started in the scope has ended: with its first error, or else what fn returned. It runs on
 * a thread, in the color of the caller: a scope needs a stack. Cancelled, the scope is
 * cancelled; if fn was not called yet it never is.
 *
 * Takes, Context: as weft_read_ev
 * Borrows:  arg, until the scope has ended, also if e is cancelled.
 */
WEFT_API void weft_scope_ev(int (*fn)(weft_scope *scope, void *arg), void *arg, WEFT_EVENT(int) e);

WEFT_END_DECLS
#endif
