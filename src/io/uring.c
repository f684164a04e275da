/* uring.c - the backend on io_uring: one ring per worker.
 *
 * Only the worker that owns a ring fills and submits it: requests die with the
 * thread that submitted them, and so nothing else needs a lock. Everybody else, and
 * the owner too unless it is alone, puts operations on the poller's list, which the owner turns
 * into entries of the ring when it next looks at the kernel: one system call for
 * all. A stuck owner's list and completions can thus be taken by another thread;
 * completions are read under a lock for that reason, unless the owner is alone.
 *
 * IORING_SETUP_SINGLE_ISSUER and DEFER_TASKRUN are cheaper, but completions would stop
 * when the owner is stuck (decision 7): only where nobody looks for stuck workers. That is
 * what "alone" means, and nobody else would take the owner's list then.
 */
#ifdef WEFT_HAVE_URING
#include "io/uring.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/capacity.h"
#include "base/memory.h"
#include "base/report.h"
#include "platform/clock.h"
#include "scheduler/scheduler.h"

/* Sleeps of at least so long get an alarm. */
#define ALARM_LEAST_NS ((uint64_t)10 * 1000 * 1000)

/* How often the kernel is asked for more in one look, at most, and how many operations have to be
 * under way still. */
enum { GATHER = 16, LEFT = 8 };

/* A ring that cannot be entered is given up after this long without a completion. */
enum { QUIET_MS = 100 };

struct wf_uring_kernel wf_uring_kernel;
unsigned wf_uring_modesty;

static struct wf_uring *of(struct wf_poller *p)
{
	return WF_CONTAINER(p, struct wf_uring, base);
}

/* Taking the list */

/* sendfile is not an operation of io_uring: its waits are, its work is done here
 * by the owner. */
static void step_sendfile(struct wf_uring *u, weft_op *op)
{
	int64_t n = WF_FAULT(ENOBUFS);
	bool offload;

	if (n == 0)
		n = wf_try_sendfile(op);
	if (n == -EAGAIN) {
		op->how_ = WF_HOW_POLL;
		wf_uring_put(u, op);
		return;
	}
	u->stirred = true;
	offload = n == WF_TRY_OFFLOAD;
	if (offload)
		n = wf_job_start(op->record_, op);
	if (!offload || n < 0) {
		struct wf_after after = { 0 };

		wf_uring_complete(op, n, 0, &after);
		wf_after(&after);
	}
}

static void take_start(struct wf_uring *u, weft_op *op)
{
	if (WF_UNLIKELY(op->kind_ == WF_OP_SENDFILE && op->how_ != WF_HOW_POLL))
		step_sendfile(u, op);
	else
		wf_uring_put(u, op);
}

static void take_cancel(struct wf_uring *u, weft_op *op)
{
	if (wf_uring_forward(&u->base, op))
		return;
	if (wf_uring_must_cancel(op))
		wf_uring_put_cancel(u, op);
	else
		u->stirred = true;
}

/* First handed first. What does not fit stays in `todo` for the next time. */
static void take_list(struct wf_uring *u)
{
	uintptr_t entry = u->todo != 0 ? u->todo : wf_handed_take(&u->base);

	u->todo = 0;
	while (entry != 0) {
		uintptr_t next = wf_handed_next(entry);

		if (WF_UNLIKELY(!wf_uring_room(u))) {
			u->todo = entry;
			return;
		}
		if (WF_LIKELY(wf_handed_why(entry) == WF_HANDED_START))
			take_start(u, wf_handed_op(entry));
		else
			take_cancel(u, wf_handed_op(entry));
		entry = next;
	}
}

/* Completions */

struct done {
	uint64_t data;
	int32_t n;
	uint32_t flags;
};

static bool is_outcome(uint64_t data)
{
	return data > WF_DATA_LAST && !(data & WF_DATA_CANCEL);
}

/* Copies what is there, so that it can be worked on without the lock. */
static unsigned copy_done(struct wf_uring *u, struct done *done)
{
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;

	wf_lock_take(&u->lock);
	io_uring_for_each_cqe(&u->ring, head, cqe)
	{
		if (n == WF_POLL_BATCH)
			break;
		done[n++] = (struct done){ cqe->user_data, cqe->res, cqe->flags };
		wf_op_warm((const weft_op *)(uintptr_t)cqe->user_data);
		u->completed += is_outcome(cqe->user_data);
	}
	io_uring_cq_advance(&u->ring, n);
	wf_lock_give(&u->lock);
	return n;
}

/* One that is no outcome. True if it is for the ring's owner alone. */
static WF_NOINLINE bool take_other(struct wf_uring *u, const struct done *d)
{
	if (d->data > WF_DATA_LAST)
		wf_uring_cancelled((weft_op *)(uintptr_t)(d->data & ~(uint64_t)WF_DATA_CANCEL),
				   d->n);
	else if (d->data == WF_DATA_WAKE && !(d->flags & IORING_CQE_F_MORE))
		WF_STORE(&u->wake_armed, false);
	else if (d->data == WF_DATA_ALARM)
		WF_STORE(&u->alarm, UINT64_MAX);
	return d->data == WF_DATA_WAKE || d->data == WF_DATA_ALARM;
}

/* Batches of completions, until `most` are delivered. What has ended is delivered when all of a
 * batch were seen to: most of it is often of one color. Sets *owners if something was for the
 * ring's owner alone. */
static WF_HOT int reap(struct wf_uring *u, int most, bool *owners)
{
	struct done done[WF_POLL_BATCH];
	struct wf_after after = { 0 };
	int delivered = 0;
	unsigned n;

	do {
		n = copy_done(u, done);
		for (unsigned i = 0; i < n; i++) {
			const struct done *d = &done[i];

			if (WF_LIKELY(is_outcome(d->data))) {
				wf_uring_complete((weft_op *)(uintptr_t)d->data, d->n, d->flags,
						  &after);
				delivered++;
			} else if (take_other(u, d)) {
				*owners = true;
			}
		}
		wf_after_do(&after);
	} while (WF_UNLIKELY(n == WF_POLL_BATCH) && delivered < most);
	return delivered;
}

static bool any_done(struct wf_uring *u)
{
	bool any;

	wf_lock_take(&u->lock);
	any = io_uring_cq_ready(&u->ring) > 0;
	wf_lock_give(&u->lock);
	return any;
}

/* Completions that the kernel keeps to itself until we call. */
static bool kernel_has_some(struct wf_uring *u)
{
	return __atomic_load_n(u->ring.sq.kflags, __ATOMIC_ACQUIRE) &
	       (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW);
}

/* The kernel takes longer to set a timer for a sleep, and to take it back, than we to
 * find out that a completion has ended the sleep. So where a sleep may be long the ring has
 * one alarm for it and for those that follow: it may go off too early for one of them, never
 * too late. There may be two of them, if one is moved just when it goes off: the same. Returns
 * whether there is one. */
static WF_HOT bool set_alarm(struct wf_uring *u, uint64_t until)
{
	uint64_t set = WF_LOAD(&u->alarm), wait;
	struct io_uring_sqe *sqe;

	if (WF_LIKELY(set <= until))
		return true;
	if (wf_now_until(until) < ALARM_LEAST_NS || !wf_uring_kernel.since_5_19)
		return false;
	(void)io_uring_submit(&u->ring); /* or it would begin when the kernel has done all that */
	if (!wf_uring_room(u))
		return false;
	wait = wf_now_until(until);
	u->alarm_in = (struct __kernel_timespec){ (int64_t)(wait / 1000000000),
						  (int64_t)(wait % 1000000000) };
	sqe = io_uring_get_sqe(&u->ring);
	if (set == UINT64_MAX) {
		io_uring_prep_timeout(sqe, &u->alarm_in, 0, 0);
	} else {
		io_uring_prep_timeout_update(sqe, &u->alarm_in, WF_DATA_ALARM, 0);
		io_uring_sqe_set_flags(sqe, IOSQE_CQE_SKIP_SUCCESS);
	}
	io_uring_sqe_set_data64(sqe, WF_DATA_ALARM);
	WF_STORE(&u->alarm, until);
	return true;
}

/* What the kernel says: a count or -Exxx. */
static WF_HOT int sleep_until(struct wf_uring *u, uint64_t until)
{
	struct __kernel_timespec ts;
	struct io_uring_cqe *cqe;
	uint64_t wait;

	if (until == UINT64_MAX || set_alarm(u, until)) {
		int r = io_uring_submit_and_wait(&u->ring, 1);

		if (WF_UNLIKELY(io_uring_sq_ready(&u->ring) > 0))
			WF_STORE(&u->alarm, UINT64_MAX); /* it may be what was not taken */
		return r;
	}
	wait = wf_now_until(until);
	ts = (struct __kernel_timespec){ (int64_t)(wait / 1000000000),
					 (int64_t)(wait % 1000000000) };
	return io_uring_submit_and_wait_timeout(&u->ring, &cqe, 1, &ts, NULL);
}

/* Entries that the kernel refuses for now stay in the ring, and the worker enters again later. If
 * the call is denied for good, the worker would spin: the run ends. */
static WF_COLD void not_entered(struct wf_uring *u, int err)
{
	switch (err) {
	case -EINTR:
	case -ETIME:
	case -EAGAIN:
	case -EBUSY:
	case -ENOMEM:
	case -EBADR:
		break;
	default:
		u->denied = true;
		wf_run_fails("io_uring_enter", err);
	}
}

static WF_HOT void enter(struct wf_uring *u, uint64_t until)
{
	int r = 0;

	if (WF_FAULT(EAGAIN) < 0)
		return;
	if (until != 0)
		r = sleep_until(u, until);
	else if (io_uring_sq_ready(&u->ring) > 0)
		r = u->alone ? io_uring_submit_and_get_events(&u->ring) : io_uring_submit(&u->ring);
	else if (kernel_has_some(u))
		r = io_uring_get_events(&u->ring);
	if (WF_UNLIKELY(r < 0))
		not_entered(u, r);
}

/* Whether the kernel has more that is to be taken along. What it says comes last: that is written
 * on the disk's CPU. */
static inline bool worth_asking(struct wf_uring *u)
{
	unsigned ready = io_uring_cq_ready(&u->ring);

	return ready < WF_POLL_BATCH && u->completed + ready + LEFT <= u->submitted &&
	       !WF_LOAD(&u->base.woken) && kernel_has_some(u);
}

/* Where completions wait until the owner asks, the kernel gives what it has just then, and since
 * 6.13 some twenty at a time. What is answered together is submitted together, and each submission
 * costs a disk's driver as much as several reads: so it is asked for more, up to a batch, unless
 * little would be left under way. */
static void gather(struct wf_uring *u)
{
	if (!u->alone)
		return;
	for (int i = 0; i < GATHER && WF_UNLIKELY(worth_asking(u)); i++)
		(void)io_uring_get_events(&u->ring);
}

static void arm_wake(struct wf_uring *u)
{
	struct io_uring_sqe *sqe;

	if (WF_LIKELY(WF_LOAD(&u->wake_armed)) || !wf_uring_room(u))
		return;
	sqe = io_uring_get_sqe(&u->ring);
	io_uring_prep_poll_multishot(sqe, u->base.wake_fd, POLLIN);
	io_uring_sqe_set_data64(sqe, WF_DATA_WAKE);
	WF_STORE(&u->wake_armed, true);
}

static WF_HOT int poll_uring(struct wf_poller *p, uint64_t until)
{
	struct wf_uring *u = of(p);
	bool waits = until != 0, unused = false;

	arm_wake(u);
	u->stirred = false;
	take_list(u);
	if (waits && (u->todo != 0 || u->stirred || !WF_LOAD(&u->wake_armed) ||
		      wf_poller_woken(p) || any_done(u)))
		until = 0;
	enter(u, until);
	gather(u);
	if (waits)
		(void)wf_poller_woken(p);
	return reap(u, 1, &unused); /* a batch: what it brings is answered before the next */
}

/* Standing in for a stuck owner */

/* Cancels in a ring that is not ours; false where the kernel (before 6.0) cannot,
 * or the operation is on its way into the ring. */
static bool cancel_from_outside(struct wf_uring *stuck, const weft_op *op)
{
	struct io_uring_sync_cancel_reg reg = {
		.addr = (uint64_t)(uintptr_t)op,
		.fd = -1,
	};
	int err = 0;

	if (WF_LOAD(&wf_uring_kernel.no_sync_cancel))
		return false;
	/* Not by liburing, which may know the ring by a number of its owner's. */
	if (syscall(SYS_io_uring_register, stuck->ring.ring_fd, IORING_REGISTER_SYNC_CANCEL, &reg,
		    1) < 0)
		err = -errno;
	if (err == -EINVAL)
		WF_STORE(&wf_uring_kernel.no_sync_cancel, true);
	return err == 0 || err == -EALREADY || err == -ETIME;
}

static void adopt_start(struct wf_poller *self, weft_op *op)
{
	struct wf_fd *f = op->record_;

	wf_lock_take(&f->lock);
	op->worker_ = (uint16_t)self->id;
	wf_lock_give(&f->lock);
	wf_hand(self, op, WF_HANDED_START);
}

/* The entry is off the list while we call the kernel, so a completion meanwhile
 * is held back and the operation stays good. */
static void adopt_cancel(struct wf_uring *stuck, weft_op *op)
{
	if (wf_uring_forward(&stuck->base, op) || !wf_uring_must_cancel(op))
		return;
	if (cancel_from_outside(stuck, op))
		wf_uring_cancelled(op, 0);
	else
		wf_hand(&stuck->base, op, WF_HANDED_CANCEL);
}

/* Not by liburing either. */
static void flush_from_outside(struct wf_uring *stuck)
{
	if (kernel_has_some(stuck))
		(void)syscall(SYS_io_uring_enter, stuck->ring.ring_fd, 0, 0, IORING_ENTER_GETEVENTS,
			      NULL, 0);
}

static int serve(struct wf_poller *self, struct wf_poller *stuck)
{
	uintptr_t entry = wf_handed_take(stuck);
	bool owners = false;
	int n;

	while (entry != 0) {
		uintptr_t next = wf_handed_next(entry);

		if (wf_handed_why(entry) == WF_HANDED_START)
			adopt_start(self, wf_handed_op(entry));
		else
			adopt_cancel(of(stuck), wf_handed_op(entry));
		entry = next;
	}
	flush_from_outside(of(stuck));
	n = reap(of(stuck), WF_RING_COMPLETIONS, &owners);
	/* Who may be back by now, and asleep, trusting in it. */
	if (owners)
		wf_poller_wake_again(stuck);
	return n;
}

/* Life */

static int set_up(struct io_uring *ring, unsigned flags)
{
	struct io_uring_params params = {
		.flags = flags | IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE,
		.cq_entries = WF_RING_COMPLETIONS,
	};
	int err = WF_FAULT(ENOMEM);

	return err < 0 ? err : io_uring_queue_init_params(WF_RING_ENTRIES, ring, &params);
}

static bool knows_all(struct io_uring *ring)
{
	static const uint8_t needed[] = {
		IORING_OP_READ,   IORING_OP_WRITE,    IORING_OP_READV,        IORING_OP_WRITEV,
		IORING_OP_RECV,   IORING_OP_SEND,     IORING_OP_RECVMSG,      IORING_OP_SENDMSG,
		IORING_OP_ACCEPT, IORING_OP_CONNECT,  IORING_OP_OPENAT,       IORING_OP_CLOSE,
		IORING_OP_FSYNC,  IORING_OP_POLL_ADD, IORING_OP_ASYNC_CANCEL,
	};
	unsigned features = IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE |
			    IORING_FEAT_RW_CUR_POS | IORING_FEAT_FAST_POLL | IORING_FEAT_EXT_ARG |
			    IORING_FEAT_NATIVE_WORKERS | IORING_FEAT_RSRC_TAGS;
	struct io_uring_probe *known;
	bool all = (ring->features & features) == features;

	known = all ? io_uring_get_probe_ring(ring) : NULL;
	for (size_t i = 0; known != NULL && i < WF_COUNT(needed); i++)
		all = all && io_uring_opcode_supported(known, needed[i]);
	all = all && known != NULL;
	io_uring_free_probe(known);
	return all;
}

/* Probes the calls of io_uring before every run, as a sandbox may be newer than the last run. The
 * arguments make the kernel do nothing. */
static int allowed(const char **call)
{
	static const struct {
		const char *name;
		long number, argument;
	} calls[] = {
		{ "io_uring_setup", SYS_io_uring_setup, 0 },
		{ "io_uring_register", SYS_io_uring_register, -1 },
		{ "io_uring_enter", SYS_io_uring_enter, -1 },
	};

	for (size_t i = 0; i < WF_COUNT(calls); i++) {
		*call = calls[i].name;
		if (syscall(calls[i].number, calls[i].argument, 0L, 0L, 0L, 0L, 0L) < 0 &&
		    (errno == EPERM || errno == EACCES || errno == ENOSYS))
			return -errno;
	}
	*call = "io_uring_setup";
	return 0;
}

static int probe(const char **call)
{
	static const unsigned wishes[] = {
		IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
		IORING_SETUP_SUBMIT_ALL,
		0,
	};
	struct io_uring ring;
	int err = allowed(call);

	if (err < 0 || wf_uring_kernel.probed == 1 + wf_uring_modesty)
		return err;
	err = -EINVAL;
	for (size_t i = wf_uring_modesty; i < WF_COUNT(wishes) && err == -EINVAL; i++) {
		err = set_up(&ring, wishes[i]);
		wf_uring_kernel.setup = wishes[i];
	}
	if (err < 0)
		return err;
	if (!knows_all(&ring))
		err = -ENOSYS;
	io_uring_queue_exit(&ring);
	/* It came in that version. */
	wf_uring_kernel.since_5_19 = wf_uring_kernel.setup & IORING_SETUP_COOP_TASKRUN;
	wf_uring_kernel.probed = err == 0 ? 1 + wf_uring_modesty : 0;
	return err;
}

/* Nobody hears what became of the cancel itself: by then the operation may be gone. */
static void cancel_at_stop(struct wf_uring *u, const weft_op *op)
{
	struct io_uring_sqe *sqe;

	if (op->worker_ != u->base.id || !wf_uring_room(u))
		return;
	sqe = io_uring_get_sqe(&u->ring);
	io_uring_prep_cancel64(sqe, (uint64_t)(uintptr_t)op, 0);
	io_uring_sqe_set_data64(sqe, WF_DATA_NONE);
}

static void cancel_list(struct wf_uring *u, const weft_op *op)
{
	for (; op != NULL; op = op->next_)
		if (op->flags_ & WF_OP_BUSY)
			cancel_at_stop(u, op);
}

static void cancel_record(struct wf_fd *f, void *arg)
{
	struct wf_uring *u = arg;

	wf_lock_take(&f->lock);
	cancel_list(u, f->loose.head);
	cancel_list(u, f->dir[WF_IN].head);
	cancel_list(u, f->dir[WF_OUT].head);
	for (const struct wf_watch *w = f->watches; w != NULL; w = w->next)
		if (w->checking)
			cancel_at_stop(u, &w->op);
	wf_lock_give(&f->lock);
}

static void cancel_list_from_outside(struct wf_uring *u, const weft_op *op)
{
	for (; op != NULL; op = op->next_)
		if (op->flags_ & WF_OP_BUSY && op->worker_ == u->base.id)
			(void)cancel_from_outside(u, op);
}

static void cancel_record_from_outside(struct wf_fd *f, void *arg)
{
	struct wf_uring *u = arg;

	wf_lock_take(&f->lock);
	cancel_list_from_outside(u, f->loose.head);
	cancel_list_from_outside(u, f->dir[WF_IN].head);
	cancel_list_from_outside(u, f->dir[WF_OUT].head);
	for (const struct wf_watch *w = f->watches; w != NULL; w = w->next)
		if (w->checking && w->op.worker_ == u->base.id)
			(void)cancel_from_outside(u, &w->op);
	wf_lock_give(&f->lock);
}

/* The same for a ring that cannot be entered any more. Completions of cancelled operations come
 * with any system call; entries that the kernel never took have none. So this waits until no
 * completion has come for some time. What is left ends when the kernel takes the ring apart. */
static void end_from_outside(struct wf_uring *u)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	bool unused = false;

	for (int quiet = 0; u->completed < u->submitted && quiet < QUIET_MS; quiet++) {
		wf_fd_each(cancel_record_from_outside, u);
		nanosleep(&ms, NULL);
		if (reap(u, WF_RING_COMPLETIONS, &unused) > 0)
			quiet = 0;
	}
}

/* The runtime stops. What the kernel has must come back before its memory may go;
 * what is only on the list never gets there.
 *
 * Rejected: one entry that cancels all, for which the kernel goes through all that it has
 * for each that it cancels: 10,000 reads took it half a minute. */
static void close_uring(struct wf_poller *p)
{
	struct wf_uring *u = of(p);
	bool unused = false;

	if (!u->open)
		return;
	if (u->denied)
		end_from_outside(u);
	while (!u->denied && u->completed < u->submitted) {
		wf_fd_each(cancel_record, u);
		enter(u, wf_now() + 10 * 1000 * 1000);
		reap(u, WF_RING_COMPLETIONS, &unused);
	}
	io_uring_queue_exit(&u->ring);
	u->open = false;
}

static void free_uring(struct wf_poller *p)
{
	wf_poller_fini(p);
	free(of(p));
}

/* They came with 6.1, later than what they need. */
static int set_up_for_owner(struct wf_uring *u)
{
	unsigned alone = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
	int err = -EINVAL;

	if (!wf_stuck_are_covered() && wf_uring_kernel.setup & IORING_SETUP_COOP_TASKRUN)
		err = set_up(&u->ring, wf_uring_kernel.setup | alone);
	u->alone = err == 0;
	return err == -EINVAL ? set_up(&u->ring, wf_uring_kernel.setup) : err;
}

static struct wf_poller *open_uring(struct wf_worker *w, int *err)
{
	struct wf_uring *u = wf_new_aligned(sizeof *u);

	*err = -ENOMEM;
	if (u == NULL)
		return NULL;
	wf_lock_init(&u->lock, WF_RANK_POLLER);
	*err = wf_poller_init(&u->base, w);
	if (*err == 0)
		*err = wf_denied("io_uring_setup", set_up_for_owner(u));
	if (*err < 0) {
		free_uring(&u->base);
		return NULL;
	}
	u->open = true;
	atomic_init(&u->alarm, UINT64_MAX);
	io_uring_ring_dontfork(&u->ring);
	(void)io_uring_register_ring_fd(&u->ring); /* cheaper calls, where it is known */
	return &u->base;
}

const struct wf_backend wf_uring = {
	.name = "uring",
	.probe = probe,
	.open = open_uring,
	.close = close_uring,
	.free = free_uring,
	.poll = poll_uring,
	.serve = serve,
	.begin = wf_uring_begin,
	.cancel = wf_uring_cancel,
	.offloaded = wf_uring_offloaded,
	.used_from = wf_uring_used_from,
	.forget = wf_uring_forget,
	.watchable = wf_uring_watchable,
	.arm = wf_uring_arm,
	.disarm = wf_uring_disarm,
};
#else
typedef int wf_no_uring_in_this_build;
#endif
