/* epoll.c - the backend that works everywhere: try first, wait for an edge.
 *
 * A descriptor is registered once, edge-triggered for everything, in the epoll
 * instance of its home worker, and only when something first has to wait. The
 * thread that starts an operation tries it at once, if its direction may be
 * ready; else the home worker does when the edge comes.
 *
 * No edge is lost: `ready` is cleared before each try and set by edges, so one
 * that comes while some thread is trying makes it try again. epoll_wait asks the
 * file again before it reports an edge, so what it says is true at that time.
 *
 * Rejected: level-triggered with EPOLLONESHOT, as it costs one more system call
 * for each wait.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/capacity.h"
#include "base/memory.h"
#include "base/report.h"
#include "io/backend.h"
#include "io/kernel.h"
#include "io/try.h"
#include "platform/clock.h"
#include "scheduler/scheduler.h"

enum { EVENTS = WF_POLL_BATCH, CHECKS = WF_POLL_BATCH, AWAY_MAX = 4, PART = WF_POLL_PART };

/* The longest sleep that every kernel takes: an hour. */
#define LONGEST_NS ((int64_t)3600 * 1000000000)

#define WAKE UINT64_MAX

struct epoll_poller {
	struct wf_poller base;
	int fd;
	/* What the kernel told and nobody has seen to yet: `left` from told[taken] on.
	 * The owner puts in, others take from it if the owner is stuck. */
	struct wf_lock lock;
	_Atomic int left;
	int taken;
	uint64_t asked; /* when the kernel was asked, in ticks */
	struct epoll_event told[EVENTS];
};

static struct epoll_poller *of(struct wf_poller *p)
{
	return WF_CONTAINER(p, struct epoll_poller, base);
}

/* Registering */

/* epoll_ctl says -EPERM also of what cannot be waited for: then it says something else of what is
 * in the instance already. */
static bool is_denied(const struct epoll_poller *p, int err)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.u64 = WAKE };

	return (err == -EPERM || err == -EACCES || err == -ENOSYS) &&
	       epoll_ctl(p->fd, EPOLL_CTL_ADD, p->base.wake_fd, &ev) < 0 && errno != EEXIST;
}

static int control(int home, int what, struct wf_fd *f) WF_REQUIRES(f->lock)
{
	struct epoll_event ev = {
		.events = f->level ? EPOLLIN : EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET,
		.data.u64 = (uint64_t)f->life << 32 | (uint32_t)f->fd,
	};
	struct wf_poller *p = wf_poller_of(home);
	int err = p != NULL ? WF_FAULT(ENOMEM) : -ESHUTDOWN;

	if (err == 0 && epoll_ctl(of(p)->fd, what, f->fd, &ev) < 0)
		err = -errno;
	if (WF_UNLIKELY(err < 0 && p != NULL && is_denied(of(p), err)))
		wf_run_fails("epoll_ctl", err);
	return err;
}

/* Adding tells at once, by an edge, if it is ready. */
static int add(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	int err = control(f->home, EPOLL_CTL_ADD, f);

	if (err == -EEXIST)
		err = control(f->home, EPOLL_CTL_MOD, f); /* of an earlier life: a dup lives */
	f->registered = err == 0;
	return err;
}

static void forget(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	if (f->registered)
		(void)control(f->home, EPOLL_CTL_DEL, f);
	f->registered = false;
}

/* Its color has been stolen, it seems: the descriptor follows. For a moment it is
 * in both instances, and no edge is lost. */
static void used_from(struct wf_fd *f, int id) WF_REQUIRES(f->lock)
{
	int old = f->home;

	if (f->registered && ++f->away < AWAY_MAX)
		return;
	f->away = 0;
	if (!f->registered || control(id, EPOLL_CTL_ADD, f) == 0)
		f->home = (uint16_t)id;
	if (f->registered && f->home == id)
		(void)control(old, EPOLL_CTL_DEL, f);
}

/* By level. Who reads exactly what somebody writes, as messages of a fixed size are
 * read, finds nothing at every second try: a full read does not tell whether there
 * is more. So after some useless tries in a row epoll is asked to tell by level, and
 * no try is made before it does. As soon as it tells of what nobody waits for, or
 * something else is waited for, edges are back. A pipe that is written to by our threads
 * begins like that: they tell (now.c). */

enum { LEVEL_MISSES = 7, FICKLE_MAX = 8 };

static void by_level(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	f->level = true;
	f->misses = 0;
	if (control(f->home, EPOLL_CTL_MOD, f) != 0)
		f->level = false;
}

static bool suits_level(const struct wf_fd *f) WF_REQUIRES(f->lock)
{
	return f->sure && !f->level && f->fickle < FICKLE_MAX && f->dir[WF_OUT].head == NULL &&
	       f->watch[WF_IN] == NULL && f->watch[WF_OUT] == NULL && f->loose.head == NULL;
}

/* It is told of again, by an edge, if it is ready. If it fails all is as before. */
static WF_COLD int by_edge(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	int err;

	f->level = false;
	err = control(f->home, EPOLL_CTL_MOD, f);
	f->level = err < 0;
	f->fickle += err == 0;
	wf_fd_set_ready(f, WF_IN, true);
	return err;
}

/* Operations */

/* Makes edges come. What cannot be waited for is always ready, like a file. */
static WF_COLD void register_for(struct wf_fd *f, weft_op *op, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	int err;

	f->level = wf_fd_pipe(f) == WF_PIPE_PAIR && wf_op_dir(op) == WF_IN && suits_level(f);
	err = add(f);
	f->level &= err == 0;
	if (err == 0) {
		wf_op_live(op);
	} else if (err == -EPERM && f->kind == WF_KIND_OTHER) {
		__atomic_store_n(&f->kind, WF_KIND_FILE, __ATOMIC_RELAXED);
		wf_fd_set_ready(f, wf_op_dir(op), true);
	} else {
		wf_op_finish(f, op, err, after);
	}
}

/* Hands a busy op to the pool; the lock is given back meanwhile. */
static WF_COLD void offload(struct wf_fd *f, weft_op *op, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	bool started;
	int err;

	wf_op_live(op);
	wf_lock_give(&f->lock);
	err = wf_job_start(f, op);
	started = err == 0;
	if (!started && op->kind_ == WF_OP_CLOSE)
		err = (int)wf_do_blocking(op); /* better here than never */
	wf_lock_take(&f->lock);
	if (!started)
		wf_op_finish(f, op, err, after);
}

/* One try of a busy op, without the lock. */
static WF_INLINE struct wf_tried attempt(struct wf_fd *f, int d, weft_op *op) WF_REQUIRES(f->lock)
{
	enum wf_kind kind = f->kind;
	struct wf_tried t;

	wf_op_busy(f, op);
	wf_lock_give(&f->lock);
	t = WF_LIKELY(wf_try_simple(op, f, kind)) ? wf_try_plain(op, f, kind, d) : wf_try(op, kind);
	if (WF_UNLIKELY(wf_op_gives(op)) && t.n >= 0)
		wf_give_received(op, (int)t.n, kind);
	wf_lock_take(&f->lock);
	return t;
}

/* It goes on when its worker next looks at the kernel: registering again tells
 * once more that it is ready. Where that cannot be, it goes on at once. */
static WF_COLD void pause_head(struct wf_fd *f, int d, weft_op *op) WF_REQUIRES(f->lock)
{
	bool told = f->kind != WF_KIND_FILE;

	wf_op_not_busy(f, op);
	if (told && f->registered)
		told = control(f->home, EPOLL_CTL_MOD, f) == 0;
	wf_fd_set_ready(f, d, !told);
}

/* One try of the head, and what follows from it. */
static WF_INLINE void advance_head(struct wf_fd *f, int d, weft_op *op, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	struct wf_tried t;
	int64_t n;
	bool stale;

	wf_fd_set_ready(f, d, false);
	t = attempt(f, d, op);
	n = t.n;
	stale = op->flags_ & WF_OP_STALE; /* then the direction is another life's */
	if (d == WF_IN && !(op->flags_ & WF_OP_LIVE)) {
		if (n == -EAGAIN)
			wf_fd_missed(f);
		else
			f->misses = 0;
	}
	if (n != -EAGAIN && !stale && (t.more || f->doubtful) && !(f->level && n > 0))
		wf_fd_set_ready(f, d, true);
	if (op->flags_ & WF_OP_CANCEL && (n == -EAGAIN || n == WF_TRY_OFFLOAD || n == WF_TRY_PAUSE))
		n = -ECANCELED;
	if (n == WF_TRY_OFFLOAD)
		offload(f, op, after);
	else if (n == WF_TRY_PAUSE)
		pause_head(f, d, op);
	else if ((n == -EAGAIN && !wf_op_impatient(op)) ||
		 (n < 0 && !stale && wf_op_misjudged(f, op, n)))
		wf_op_not_busy(f, op);
	else
		wf_op_finish(f, op, n, after);
}

/* The head is about to wait for an edge. If somebody closed the descriptor behind
 * our back and the number came back, none would come. Adding it again tells, and
 * helps; what waits in the other direction is of the earlier life. */
static WF_COLD void make_sure(struct wf_fd *f, int d, struct wf_after *after) WF_REQUIRES(f->lock)
{
	weft_op *other;

	if (control(f->home, EPOLL_CTL_ADD, f) != 0)
		return;
	f->doubtful = false;
	while ((other = f->dir[!d].head) != NULL && !(other->flags_ & WF_OP_BUSY))
		wf_op_finish(f, other, -EBADF, after);
}

/* Does what can be done of one direction, until its head has to wait. */
static void advance(struct wf_fd *f, int d, struct wf_after *after) WF_REQUIRES(f->lock)
{
	struct wf_dir *dir = &f->dir[d];
	weft_op *op;
	int err;

	while ((op = dir->head) != NULL && !(op->flags_ & WF_OP_BUSY)) {
		if (f->ready[d] || wf_op_impatient(op)) {
			advance_head(f, d, op, after);
		} else if (!f->registered) {
			register_for(f, op, after);
		} else if (WF_UNLIKELY(f->level && d == WF_OUT)) {
			err = by_edge(f);
			if (err < 0)
				wf_op_finish(f, op, err, after);
		} else {
			if (WF_UNLIKELY(!f->sure) && !(op->flags_ & WF_OP_LIVE))
				make_sure(f, d, after);
			if (WF_UNLIKELY(f->misses >= LEVEL_MISSES) && suits_level(f))
				by_level(f);
			wf_op_live(op);
			return;
		}
	}
}

static WF_NOINLINE void begin_loose(struct wf_fd *f, weft_op *op, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	int64_t n = attempt(f, wf_op_dir(op), op).n;

	if (n == WF_TRY_OFFLOAD && op->flags_ & WF_OP_CANCEL && op->kind_ != WF_OP_CLOSE)
		n = -ECANCELED;
	if (n == WF_TRY_OFFLOAD || n == -EAGAIN)
		offload(f, op, after);
	else
		wf_op_finish(f, op, n, after);
}

/* Waiting for readiness. Looked at with the lock held, so that no edge comes
 * between a look and the end of it. */

static int64_t ready_for(const weft_op *op)
{
	struct pollfd ask = { .fd = op->fd, .events = (short)op->u_.events_ };
	int n = WF_FAULT(ENOMEM);

	if (n == 0)
		n = wf_poll_now(&ask, 1);
	if (n <= 0)
		return n == 0 ? -EAGAIN : n;
	return ask.revents & POLLNVAL ? -EBADF : ask.revents;
}

static void look_for(struct wf_fd *f, weft_op *op, struct wf_after *after) WF_REQUIRES(f->lock)
{
	int64_t n = ready_for(op);

	if (n != -EAGAIN)
		wf_op_finish(f, op, n, after);
}

static void begin_await(struct wf_fd *f, weft_op *op, struct wf_after *after) WF_REQUIRES(f->lock)
{
	int err = f->level ? by_edge(f) : 0;

	if (err == 0)
		err = f->registered && f->sure ? -EEXIST : add(f);
	wf_op_live(op);
	if (err < 0 && err != -EEXIST && err != -EPERM)
		wf_op_finish(f, op, err, after);
	else
		look_for(f, op, after);
}

static void await_edge(struct wf_fd *f, struct wf_after *after) WF_REQUIRES(f->lock)
{
	weft_op *op, *next;

	for (op = f->loose.head; op != NULL; op = next) {
		next = op->next_;
		if (op->kind_ == WF_OP_AWAIT && !(op->flags_ & WF_OP_BUSY))
			look_for(f, op, after);
	}
}

/* advance, in line for what is usual: there is but one operation, and one try ends it. */
static WF_INLINE void advance_now(struct wf_fd *f, int d, weft_op *op, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	if (WF_LIKELY(f->ready[d]))
		advance_head(f, d, op, after);
	if (WF_UNLIKELY(f->dir[d].head != NULL))
		advance(f, d, after);
}

/* Whether the head of a direction has only to wait for an edge. */
static inline bool just_waits(const struct wf_fd *f, int d, const weft_op *op) WF_REQUIRES(f->lock)
{
	return !f->ready[d] && f->registered && f->sure && !wf_op_impatient(op) &&
	       f->misses < LEVEL_MISSES && !(f->level && d == WF_OUT);
}

static void begin(struct wf_fd *f, weft_op *op, struct wf_after *after) WF_REQUIRES(f->lock)
{
	int d = wf_op_dir(op);

	if (op->kind_ == WF_OP_AWAIT)
		begin_await(f, op, after);
	else if (op->flags_ & WF_OP_LOOSE)
		begin_loose(f, op, after);
	else if (just_waits(f, d, op))
		wf_op_live(op);
	else
		advance_now(f, d, op, after);
}

static void offloaded(struct wf_fd *f, weft_op *op, int64_t n, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	bool loose = op->flags_ & WF_OP_LOOSE;
	int d = wf_op_dir(op);

	if (op->kind_ == WF_OP_SENDFILE && n >= 0 && !(op->flags_ & (WF_OP_CANCEL | WF_OP_STALE))) {
		wf_op_not_busy(f, op); /* its pages are there now */
		wf_fd_set_ready(f, d, true);
	} else {
		if (op->kind_ == WF_OP_SENDFILE && n >= 0)
			n = -ECANCELED;
		wf_op_finish(f, op, n, after);
	}
	if (!loose && !wf_stopping())
		advance(f, d, after);
}

/* A busy one is either being tried, and its thread will see the wish, or with
 * the pool. */
static void cancel(struct wf_fd *f, weft_op *op, struct wf_after *after) WF_REQUIRES(f->lock)
{
	bool loose = op->flags_ & WF_OP_LOOSE;
	int d = wf_op_dir(op);

	if (!wf_job_cancel(f, op))
		return;
	wf_op_finish(f, op, -ECANCELED, after);
	if (!loose)
		advance(f, d, after);
}

/* Watches */

/* Adding again must fail; else somebody closed the descriptor behind our back and
 * the number has come back. */
static int watchable(struct wf_fd *f, struct wf_after *after) WF_REQUIRES(f->lock)
{
	int err = f->level ? by_edge(f) : 0;

	if (err < 0)
		return err;
	if (!f->registered)
		return add(f);
	err = control(f->home, EPOLL_CTL_ADD, f);
	if (err != 0)
		return err == -EEXIST ? 0 : err;
	wf_op_end_all(f, -EBADF, after);
	wf_fd_forget(f);
	err = wf_fd_learn(f);
	return err < 0 ? err : add(f);
}

/* Somebody looks whether it is ready now; an edge tells about later. */
static void arm(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock)
{
	struct wf_poller *p = wf_poller_here(wf_worker_self(), f->home);

	w->armed = wf_ticks();
	w->recheck = w->checking;
	if (w->checking || p == NULL)
		return;
	w->checking = true;
	wf_hand(p, &w->op, WF_HANDED_START);
}

static bool disarm(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock)
{
	(void)f;
	return !w->checking;
}

static void checked(struct wf_watch *w, short revents)
{
	struct wf_fd *f = w->f;
	const char *closed = NULL;

	wf_lock_take(&f->lock);
	w->checking = false;
	if (w->off)
		wf_watch_disarmed(f, w);
	else if (w->state == WF_WATCH_ARMED && w->recheck)
		arm(f, w);
	else if (w->state == WF_WATCH_ARMED && revents & POLLNVAL)
		closed = wf_watch_lost(f, w);
	else if (w->state == WF_WATCH_ARMED && revents != 0)
		wf_watch_fired(f, w);
	wf_lock_give(&f->lock);
	if (closed != NULL)
		wf_watch_report(f, closed);
}

/* Looks at the armed watches on p's list, many with one system call. False if
 * there were none: then nothing was delivered. */
static bool check_handed(struct wf_poller *p)
{
	uintptr_t entry = wf_handed_take(p);
	bool any = entry != 0;

	while (entry != 0) {
		struct wf_watch *watch[CHECKS];
		struct pollfd ask[CHECKS];
		nfds_t n = 0;
		int err;

		for (; entry != 0 && n < CHECKS; n++, entry = wf_handed_next(entry)) {
			watch[n] = WF_CONTAINER(wf_handed_op(entry), struct wf_watch, op);
			ask[n].fd = watch[n]->f->fd;
			ask[n].events = watch[n]->dir == WF_IN ? POLLIN | POLLRDHUP : POLLOUT;
			ask[n].revents = 0;
		}
		err = wf_poll_now(ask, n);
		if (WF_UNLIKELY(err < 0))
			wf_run_fails("poll", err);
		for (nfds_t i = 0; i < n; i++)
			checked(watch[i], ask[i].revents);
	}
	return any;
}

/* Edges */

/* What the kernel told when it was asked, at `asked`, may be of what a watch's last call has read
 * if that was armed since: then somebody looks again. */
static void edge_for(struct wf_fd *f, int d, uint64_t asked, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	struct wf_watch *w = f->watch[d];

	wf_fd_set_ready(f, d, true);
	if (w != NULL && w->state == WF_WATCH_ARMED && w->armed < asked)
		wf_watch_fired(f, w);
	else if (w != NULL && w->state == WF_WATCH_ARMED)
		arm(f, w);
	if (f->dir[d].head != NULL)
		advance(f, d, after);
	else if (WF_UNLIKELY(f->level))
		(void)by_edge(f); /* or the next time */
}

/* The same, in line for what is usual: one operation reads, and nothing writes. */
static WF_INLINE void edge_in(struct wf_fd *f, uint64_t asked, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	weft_op *op = f->dir[WF_IN].head;

	if (WF_UNLIKELY(op == NULL || op->flags_ & WF_OP_BUSY ||
			(f->others && f->watch[WF_IN] != NULL))) {
		edge_for(f, WF_IN, asked, after);
		return;
	}
	wf_fd_set_ready(f, WF_IN, true);
	advance_now(f, WF_IN, op, after);
}

static WF_INLINE void edge_out(struct wf_fd *f, uint64_t asked, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	if (WF_LIKELY(f->dir[WF_OUT].head == NULL && !f->level && !f->others))
		wf_fd_set_ready(f, WF_OUT, true);
	else
		edge_for(f, WF_OUT, asked, after);
}

static WF_INLINE void edge(uint64_t data, uint32_t events, uint64_t asked, struct wf_after *after)
{
	struct wf_fd *f = wf_fd_peek((int)(uint32_t)data);

	if (f == NULL)
		return;
	wf_lock_take(&f->lock);
	if (f->life == data >> 32) {
		if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLPRI))
			f->doubtful = true;
		if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI))
			edge_in(f, asked, after);
		if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
			edge_out(f, asked, after);
		if (WF_UNLIKELY(f->others))
			await_edge(f, after);
	}
	wf_lock_give(&f->lock);
	if (WF_UNLIKELY(after->closer != NULL || after->close))
		wf_after(after);
}

/* How many, or -Exxx. */
static int wait_events(int fd, struct epoll_event *events, uint64_t until)
{
	static _Atomic bool coarse;
	struct timespec ts;
	int64_t wait_ns;
	int n;

	if (WF_FAULT(EINTR) < 0)
		return 0;
	if (until == 0 || until == UINT64_MAX)
		return wf_epoll_wait(fd, events, EVENTS, until == 0 ? 0 : -1);
	wait_ns = (int64_t)wf_now_until(until);
	if (wait_ns < 0 || wait_ns > LONGEST_NS)
		wait_ns = LONGEST_NS;
	if (!WF_LOAD(&coarse)) {
		ts = (struct timespec){ wait_ns / 1000000000, wait_ns % 1000000000 };
		n = (int)syscall(SYS_epoll_pwait2, fd, events, EVENTS, &ts, NULL, 0);
		if (n >= 0 || errno == EINTR)
			return n < 0 ? -errno : n;
		WF_STORE(&coarse, true); /* before Linux 5.11, or denied */
	}
	return wf_epoll_wait(fd, events, EVENTS, (int)((wait_ns + 999999) / 1000000));
}

/* A worker that cannot wait would spin: the run ends. */
static WF_COLD int no_events(int err)
{
	if (err != -EINTR)
		wf_run_fails("epoll_pwait", err);
	return 0;
}

/* Where there are many descriptors, what edges look at has left the cache. First their
 * records are fetched, then the operations that wait there. */
static inline void fetch_records(const struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++)
		__builtin_prefetch(wf_fd_peek((int)(uint32_t)events[i].data.u64), 1);
}

static inline void fetch_operations(const struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		const struct wf_fd *f = wf_fd_peek((int)(uint32_t)events[i].data.u64);

		if (f != NULL)
			wf_op_warm(wf_dir_head(&f->dir[WF_IN]));
	}
}

/* What has ended is delivered when all were seen to: most of it is often of one color. */
static int see_to(const struct epoll_event *events, int n, uint64_t asked)
{
	struct wf_after after = { 0 };
	int delivered = 0;

	fetch_operations(events, n);
	for (int i = 0; i < n; i++) {
		/* cppcheck-suppress uninitvar ; the kernel has filled in the first n */
		if (events[i].data.u64 == WAKE)
			continue;
		edge(events[i].data.u64, events[i].events, asked, &after);
		delivered++;
	}
	wf_after_do(&after);
	return delivered;
}

/* A part of what the kernel told: what that brings is run before it, the socket in
 * the kernel too, leaves the cache. Sets *any if there was something left. */
static int see_to_some(struct epoll_poller *p, bool *any)
{
	struct epoll_event events[PART];
	uint64_t asked;
	int n = 0;

	*any = false;
	if (WF_LOAD(&p->left) == 0)
		return 0;
	wf_lock_take(&p->lock);
	for (; n < PART && WF_LOAD(&p->left) > 0; WF_ADD_OWN(&p->left, -1))
		events[n++] = p->told[p->taken++];
	asked = p->asked;
	fetch_records(p->told + p->taken, WF_LOAD(&p->left) < PART ? WF_LOAD(&p->left) : PART);
	wf_lock_give(&p->lock);
	*any = n > 0;
	return see_to(events, n, asked);
}

static int look(struct epoll_poller *p, uint64_t until)
{
	struct epoll_event events[EVENTS];
	uint64_t asked = wf_ticks();
	int part, n = wait_events(p->fd, events, until);

	if (WF_UNLIKELY(n < 0))
		n = no_events(n);
	part = n < PART ? n : PART;
	fetch_records(events, n < 2 * PART ? n : 2 * PART);
	if (n > part) {
		wf_lock_take(&p->lock);
		memcpy(p->told, events + part, (size_t)(n - part) * sizeof *events);
		p->taken = 0;
		p->asked = asked;
		WF_STORE(&p->left, n - part);
		wf_lock_give(&p->lock);
	}
	return see_to(events, part, asked);
}

static int poll_epoll(struct wf_poller *p, uint64_t until)
{
	bool any;
	int n;

	n = see_to_some(of(p), &any);
	if (any)
		return n;
	/* What was delivered is to be run before this worker sleeps. */
	if (check_handed(p) || (until != 0 && wf_poller_woken(p)))
		until = 0;
	n = look(of(p), until);
	if (until != 0)
		(void)wf_poller_woken(p);
	return n;
}

static int serve(struct wf_poller *self, struct wf_poller *stuck)
{
	struct epoll_event events[EVENTS];
	uint64_t asked;
	int n = 0, got;
	bool any;

	(void)self;
	check_handed(stuck);
	do
		n += see_to_some(of(stuck), &any);
	while (any);
	asked = wf_ticks();
	got = wait_events(of(stuck)->fd, events, 0);
	if (WF_UNLIKELY(got < 0))
		got = no_events(got);
	return n + see_to(events, got, asked);
}

/* Life */

static int probe(const char **call)
{
	(void)call;
	return 0;
}

static int open_fd(struct epoll_poller *p)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.u64 = WAKE };
	int err = WF_FAULT(EMFILE);

	if (err < 0)
		return err;
	p->fd = epoll_create1(EPOLL_CLOEXEC);
	if (p->fd < 0)
		return wf_denied("epoll_create1", -errno);
	if (epoll_ctl(p->fd, EPOLL_CTL_ADD, p->base.wake_fd, &ev) < 0)
		return wf_denied("epoll_ctl", -errno);
	err = wf_epoll_wait(p->fd, &ev, 1, 0);
	return err < 0 && err != -EINTR ? wf_denied("epoll_pwait", err) : 0;
}

static void close_epoll(struct wf_poller *p)
{
	if (of(p)->fd >= 0)
		close(of(p)->fd);
	of(p)->fd = -1;
}

static void free_epoll(struct wf_poller *p)
{
	wf_poller_fini(p);
	free(of(p));
}

static struct wf_poller *open_epoll(struct wf_worker *w, int *err)
{
	struct epoll_poller *p = wf_new_aligned(sizeof *p);

	*err = -ENOMEM;
	if (p == NULL)
		return NULL;
	p->fd = -1;
	wf_lock_init(&p->lock, WF_RANK_POLLER);
	*err = wf_poller_init(&p->base, w);
	if (*err == 0)
		*err = open_fd(p);
	if (*err == 0)
		return &p->base;
	close_epoll(&p->base);
	free_epoll(&p->base);
	return NULL;
}

const struct wf_backend wf_epoll = {
	.name = "epoll",
	.probe = probe,
	.open = open_epoll,
	.close = close_epoll,
	.free = free_epoll,
	.poll = poll_epoll,
	.serve = serve,
	.begin = begin,
	.cancel = cancel,
	.offloaded = offloaded,
	.used_from = used_from,
	.forget = forget,
	.watchable = watchable,
	.arm = arm,
	.disarm = disarm,
};
