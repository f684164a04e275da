/* now.c - calls that can be answered at once, for threads, without an operation.
 *
 * The system call is made by the caller if nothing of its direction waits on the
 * descriptor and it may be ready. That keeps the order of operations: what was
 * started before has been done, and what is started meanwhile, by others, has no
 * order with this call. It also keeps the promise of epoll.c that no edge is lost:
 * `ready` is cleared before a try of reading, so an edge that comes meanwhile is
 * seen; and if the try leaves something, `ready` comes back and whoever began to
 * wait meanwhile is tried. Writing leaves `ready` alone: a full socket is rare, and
 * only costs another try. So writing needs no lock either: what it looks at it sees as
 * it was before the call or while it was made.
 *
 * A try is counted in the record (wf_fd_hold), so that a close of the descriptor waits for
 * it. Otherwise the number could be given to another file before the system call is made, and
 * the call would read, accept or write there.
 *
 * Reads of files at an offset have no order. They take no lock and are not counted, as that
 * would add much to the cost of a read from the page cache. Reading leaves a file as it is, so
 * it is enough to check afterwards whether the number was closed meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "io/backend.h"
#include "io/io.h"
#include "platform/syscall.h"

/* A try of one direction. */
struct turn {
	enum wf_kind kind;
	bool cleared; /* `ready` was */
	bool behind;  /* others wait */
	bool doubtful, level;
};

static bool learnt(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	if (WF_UNLIKELY(wf_fd_closing(f)))
		return false; /* a close of it began during the try */
	return WF_LIKELY(f->kind != WF_KIND_UNKNOWN) || wf_fd_learn(f) == 0;
}

/* Whether a call may be tried now; `urge`: even if nothing says that it is ready. */
static bool turn_begin(struct wf_fd *f, int d, bool urge, struct turn *t)
{
	struct wf_dir *dir = &f->dir[d];
	bool may;

	wf_lock_take(&f->lock);
	may = learnt(f);
	t->behind = may && dir->head != NULL;
	may = may && !t->behind && (f->ready[d] || urge);
	t->kind = f->kind;
	t->doubtful = f->doubtful;
	t->level = f->level;
	t->cleared = may && d == WF_IN && f->kind != WF_KIND_FILE;
	if (t->cleared) {
		wf_fd_set_ready(f, d, false);
		wf_fd_missed(f);
	}
	wf_lock_give(&f->lock);
	return may;
}

/* There may be something: so it is for those who wait. `hit`: the last try was not in vain.
 * `resume`: wf_after's. */
static void go_on(struct wf_fd *f, int d, bool hit, weft_fn *resume)
{
	struct wf_after after = { .resume = resume };
	weft_op *next;

	wf_lock_take(&f->lock);
	wf_fd_set_ready(f, d, true);
	if (hit)
		f->misses = 0;
	next = f->dir[d].head;
	if (next != NULL && !(next->flags_ & WF_OP_BUSY)) {
		wf_op_fetch(next);
		wf_io->begin(f, next, &after);
	}
	wf_lock_give(&f->lock);
	wf_after(&after);
}

/* What the caller may be told, of the outcome of a try. What was read from a file in
 * part is read again by an operation; what was written, or received, in part is told. An error
 * that may come from a wrong idea of the descriptor is left to an operation, too. */
static int64_t answer(const weft_op *op, int64_t n)
{
	if (WF_LIKELY(n >= 0))
		return n;
	if (op->done_ > 0 && (wf_op_dir(op) == WF_OUT || n != WF_TRY_OFFLOAD))
		return (int64_t)op->done_;
	if (n == -EAGAIN)
		return wf_op_impatient(op) ? n : WF_NOW_WAIT;
	if (n == WF_TRY_OFFLOAD || n == WF_TRY_PAUSE || n == -EBADF || n == -ENOTSOCK)
		return WF_NOW_WAIT;
	return n;
}

static int64_t in_turn(weft_op *op, struct wf_fd *f, bool urge)
{
	int d = wf_op_dir(op);
	struct wf_tried tried;
	struct turn t;

	/* io_uring never says when there is room to write. */
	urge |= wf_op_impatient(op) || (d == WF_OUT && wf_io != &wf_epoll);
	if (!turn_begin(f, d, urge, &t))
		return t.behind && wf_op_impatient(op) ? -EAGAIN : WF_NOW_WAIT;
	tried = wf_try(op, t.kind);
	if (tried.n >= 0 && op->kind_ == WF_OP_ACCEPT)
		wf_give_at_once(op, (int)tried.n, t.kind);
	if (t.cleared && tried.n != -EAGAIN && (tried.more || t.doubtful) &&
	    !(t.level && tried.n > 0))
		go_on(f, d, true, NULL);
	return answer(op, tried.n);
}

/* The fields that a try looks at. */
static struct wf_fd *prepare(weft_op *op, enum wf_op_kind kind, int fd)
{
	int err;

	op->kind_ = (uint8_t)kind;
	op->fd = fd;
	op->flags_ = 0;
	op->done_ = 0;
	op->record_ = wf_fd_get(fd, &err);
	return op->record_;
}

static bool find_out(struct wf_fd *f)
{
	bool cached;

	wf_lock_take(&f->lock);
	cached = learnt(f) && f->cached == WF_CACHED;
	wf_lock_give(&f->lock);
	return cached;
}

static inline bool is_cached(struct wf_fd *f)
{
	uint8_t cached = __atomic_load_n(&f->cached, __ATOMIC_RELAXED);

	return cached == WF_CACHED_UNKNOWN ? find_out(f) : cached == WF_CACHED;
}

static int64_t at_offset(weft_op *op, struct wf_fd *f)
{
	return is_cached(f) ? answer(op, wf_try(op, WF_KIND_FILE).n) : WF_NOW_WAIT;
}

WF_HOT bool wf_now_cached(int fd)
{
	struct wf_fd *f = wf_fd_peek(fd);
	int err;

	if (WF_UNLIKELY(f == NULL))
		f = wf_fd_get(fd, &err);
	return WF_LIKELY(f != NULL) && is_cached(f);
}

/* Where the file ends the page cache has no more either. */
int64_t wf_now_short(int fd, int64_t n, int64_t offset)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	if (n > 0 && wf_preadv2(fd, &iov, 1, offset + n, RWF_NOWAIT) != 0)
		return WF_NOW_WAIT;
	if (n >= 0)
		return n;
	return n == -EFAULT || n == -EIO || n == -ENOBUFS ? n : WF_NOW_WAIT;
}

static inline struct wf_now waits(struct wf_target t)
{
	return (struct wf_now){ WF_NOW_WAIT, t.mark };
}

static inline struct wf_now error(int64_t n)
{
	return (struct wf_now){ .n = n };
}

static struct wf_now transfer(weft_op *op, enum wf_op_kind kind, struct wf_target t, int64_t offset,
			      bool urge)
{
	struct wf_fd *f = prepare(op, kind, t.fd);
	struct wf_now now;

	if (WF_UNLIKELY(f == NULL))
		return waits(t);
	now.mark = wf_fd_hold(f, t.mark);
	if (WF_UNLIKELY(now.mark == 0))
		return error(-EBADF);
	now.n = offset >= 0 ? at_offset(op, f) : in_turn(op, f, urge);
	wf_fd_drop(f);
	return now;
}

/* At a glance: whether reading has to wait. */
static inline bool hopeless(int fd, bool urge)
{
	const struct wf_fd *f = wf_fd_peek(fd);

	return f != NULL && !urge && wf_fd_kind(f) != WF_KIND_UNKNOWN && !wf_fd_ready(f, WF_IN);
}

/* The same: whether nothing waits to write, and there may be room. io_uring never says
 * when there is. A call needs no more than that. */
static inline bool hopeful(const struct wf_fd *f, bool urge)
{
	return wf_dir_head(&f->dir[WF_OUT]) == NULL &&
	       (wf_fd_ready(f, WF_OUT) || urge || wf_io != &wf_epoll);
}

static enum wf_now_how way_of(const struct wf_fd *f)
{
	switch (wf_fd_kind(f)) {
	case WF_KIND_TCP:
	case WF_KIND_SOCKET:
		return WF_NOW_SEND;
	case WF_KIND_OTHER:
		if (!wf_fd_nowait(f) && !wf_fd_pipe(f))
			return WF_NOW_ASK;
		if (wf_fd_pipe(f) != WF_PIPE_PAIR || wf_io != &wf_epoll)
			return WF_NOW_WRITE;
		__builtin_prefetch(wf_fd_peek(f->fd - 1), 1);
		return WF_NOW_PAIR;
	default:
		return WF_NOW_ASK;
	}
}

uintptr_t wf_now_how(struct wf_target t, bool urge)
{
	struct wf_fd *f = wf_fd_peek(t.fd);
	enum wf_now_how how = WF_NOW_ASK;

	if (WF_LIKELY(f != NULL && hopeful(f, urge)))
		how = way_of(f);
	if (WF_UNLIKELY(how == WF_NOW_ASK))
		return WF_NOW_ASK;
	return WF_LIKELY(wf_fd_hold(f, t.mark) != 0) ? (uintptr_t)f | how : WF_NOW_CLOSED;
}

/* Who waits at the other end need not wait until the kernel is asked: it is tried at once,
 * while the pipe is warm. The kernel still tells of the pipe, and finds it empty. */
void wf_now_written(int fd, weft_fn *resume)
{
	struct wf_fd *f = wf_fd_peek(fd - 1);

	if (f == NULL || wf_fd_pipe(f) != WF_PIPE_PAIR)
		return;
	wf_op_warm(wf_dir_head(&f->dir[WF_IN]));
	go_on(f, WF_IN, false, resume);
}

static WF_NOINLINE struct wf_now rw(enum wf_op_kind kind, struct wf_target t, void *buf, size_t len,
				    int64_t offset, int flags, bool urge)
{
	weft_op op;

	op.u_.rw_.buf = buf;
	op.u_.rw_.len = len < WF_LEN_MAX ? len : WF_LEN_MAX;
	op.u_.rw_.offset = offset;
	op.u_.rw_.flags = flags;
	return transfer(&op, kind, t, offset, urge);
}

struct wf_now wf_now_read(struct wf_target t, void *buf, size_t len, bool urge)
{
	return hopeless(t.fd, urge) ? waits(t) : rw(WF_OP_READ, t, buf, len, -1, 0, urge);
}

struct wf_now wf_now_ask_write(struct wf_target t, const void *buf, size_t len, int64_t offset,
			       bool urge)
{
	return rw(WF_OP_WRITE, t, (void *)(uintptr_t)buf, len, offset, 0, urge);
}

/* All of it may have to wait in the midst, which is for an operation. */
static bool waits_for_all(int flags)
{
	return (flags & (MSG_WAITALL | MSG_DONTWAIT)) == MSG_WAITALL;
}

struct wf_now wf_now_recv(struct wf_target t, void *buf, size_t len, int flags, bool urge)
{
	if (waits_for_all(flags) || hopeless(t.fd, urge || flags & MSG_DONTWAIT))
		return waits(t);
	return rw(WF_OP_RECV, t, buf, len, -1, flags, urge);
}

struct wf_now wf_now_ask_send(struct wf_target t, const void *buf, size_t len, int flags, bool urge)
{
	if (waits_for_all(flags))
		return waits(t);
	return rw(WF_OP_SEND, t, (void *)(uintptr_t)buf, len, -1, flags, urge);
}

static struct wf_now vector(enum wf_op_kind kind, struct wf_target t, const struct iovec *iov,
			    size_t count, int64_t offset, bool urge)
{
	weft_op op;

	if (offset < -1 || count > IOV_MAX || (iov == NULL && count > 0))
		return error(-EINVAL);
	op.u_.iov_.iov = iov;
	op.u_.iov_.count = count;
	op.u_.iov_.offset = offset;
	return transfer(&op, kind, t, offset, urge);
}

struct wf_now wf_now_readv(struct wf_target t, const struct iovec *iov, size_t count,
			   int64_t offset, bool urge)
{
	return vector(WF_OP_READV, t, iov, count, offset, urge);
}

struct wf_now wf_now_writev(struct wf_target t, const struct iovec *iov, size_t count,
			    int64_t offset, bool urge)
{
	return vector(WF_OP_WRITEV, t, iov, count, offset, urge);
}

static struct wf_now message(enum wf_op_kind kind, struct wf_target t, struct msghdr *msg,
			     int flags, bool urge)
{
	weft_op op;

	if (msg == NULL)
		return error(-EINVAL);
	op.u_.msg_.msg = msg;
	op.u_.msg_.flags = flags & ~MSG_WAITALL;
	return transfer(&op, kind, t, -1, urge);
}

struct wf_now wf_now_recvmsg(struct wf_target t, struct msghdr *msg, int flags, bool urge)
{
	return message(WF_OP_RECVMSG, t, msg, flags, urge);
}

struct wf_now wf_now_sendmsg(struct wf_target t, struct msghdr *msg, int flags, bool urge)
{
	return message(WF_OP_SENDMSG, t, msg, flags, urge);
}

struct wf_now wf_now_accept(struct wf_target t, struct sockaddr *addr, socklen_t *len, bool urge)
{
	weft_op op;

	op.u_.addr_.addr = addr;
	op.u_.addr_.len = len;
	return transfer(&op, WF_OP_ACCEPT, t, -1, urge);
}

struct wf_now wf_now_sendfile(struct wf_target t, struct wf_target in, int64_t offset, size_t len,
			      bool urge)
{
	weft_op op;

	if (offset < 0)
		return error(-EINVAL);
	op.u_.file_.in = in.fd;
	op.u_.file_.same = in.mark;
	op.u_.file_.offset = offset;
	op.u_.file_.len = len;
	op.u_.file_.warm = 0;
	return transfer(&op, WF_OP_SENDFILE, t, -1, urge);
}

/* Opens what the kernel can find in memory. Anything else it says is left to an
 * operation to find out. */
int64_t wf_now_open(int dir, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NONBLOCK),
		.resolve = RESOLVE_CACHED,
	};
	weft_op op;
	long fd;

	if (path == NULL)
		return -EINVAL;
	if (flags & (O_CREAT | O_TRUNC | O_TMPFILE) || WF_FAULT(EAGAIN) < 0)
		return WF_NOW_WAIT;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
	if (fd < 0)
		return WF_NOW_WAIT;
	op.kind_ = WF_OP_OPEN;
	op.u_.open_.flags = flags;
	wf_give_at_once(&op, (int)fd, WF_KIND_UNKNOWN);
	return fd;
}

/* Whether closing f has nothing to wait for, as far as we know. */
static bool quiet(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	return !wf_fd_closing(f) && f->busy == 0 && wf_op_closes_quickly(f);
}

int64_t wf_now_close(int fd)
{
	struct wf_fd *f = wf_fd_peek(fd);
	struct wf_after after = { 0 };
	int64_t n = WF_NOW_WAIT;

	if (f == NULL)
		return n;
	wf_lock_take(&f->lock);
	if (quiet(f) && !wf_fd_tried(f)) {
		wf_op_end_all(f, -ECANCELED, &after);
		if (wf_fd_shut(f))
			n = wf_fd_close(f);
	}
	wf_lock_give(&f->lock);
	wf_after(&after);
	return n;
}

/* On epoll whoever did the operation knows, and said so. Elsewhere it is a guess; the
 * more often that was wrong, the fewer are made. */
void wf_now_more(int fd)
{
	struct wf_fd *f = wf_io != &wf_epoll ? wf_fd_peek(fd) : NULL;

	if (f == NULL)
		return;
	wf_lock_take(&f->lock);
	if (f->hints++ >= f->misses) {
		wf_fd_set_ready(f, WF_IN, true);
		f->hints = 0;
	}
	wf_lock_give(&f->lock);
}
