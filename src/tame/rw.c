/* rw.c - reading and writing, as events.
 *
 * First the call is made if it can be answered at once. Else, where the event cannot be cancelled,
 * an operation works on the caller's memory. One that can be cancelled must not: to read from a
 * stream it waits until the stream is ready and then reads at once, so that no byte is read
 * that nobody gets (X1). Files are read, and everything is written, by way of a copy; the part
 * that is copied is limited, as fewer bytes than asked for may always be done.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "io/io.h"
#include "tame/primitive.h"

enum { COPY_MAX = 64 * 1024 };

enum kind { READ, WRITE, RECV, SEND };

/* What is to be done. */
struct transfer {
	struct wf_target target;
	int flags;
	enum kind kind;
	bool all;
	char *buf; /* not written to by WRITE and SEND */
	size_t len, done;
	int64_t offset; /* or -1 */
};

struct rw {
	struct wf_primitive p;
	struct transfer t;
	weft_op op;
	bool polls;
	char *copy; /* the operation works on it */
	size_t copy_len;
};

static bool writes(const struct transfer *t)
{
	return t->kind == WRITE || t->kind == SEND;
}

static int64_t offset_of(const struct transfer *t)
{
	return t->offset < 0 ? -1 : t->offset + (int64_t)t->done;
}

static int64_t try_once(const struct transfer *t, bool urge)
{
	char *buf = t->buf + t->done;
	size_t len = t->len - t->done;

	switch (t->kind) {
	case READ:
		return t->offset < 0 ? wf_now_read(t->target, buf, len, urge).n
				     : wf_now_pread(t->target, buf, len, offset_of(t));
	case WRITE:
		return wf_now_write(t->target, buf, len, offset_of(t), urge, NULL).n;
	case RECV:
		return wf_now_recv(t->target, buf, len, t->flags, urge).n;
	default:
		return wf_now_send(t->target, buf, len, t->flags, urge).n;
	}
}

/* So many bytes more were done, or an error came. Whether that was all; *result is what to tell. */
static bool account(struct transfer *t, int64_t n, int64_t *result)
{
	*result = n;
	if (!t->all || n < 0)
		return true;
	t->done += (size_t)n;
	*result = (int64_t)t->done;
	if (t->done == t->len)
		return true;
	if (n == 0 && writes(t))
		*result = -EIO; /* nobody would ever come further */
	else if (n == 0 && t->done > 0)
		*result = -ENODATA;
	return n == 0;
}

/* Does what can be done at once. It is over, or has to wait, or others shall have a turn; `fresh`:
 * they have had it. */
enum state { OVER, WAITS, PAUSES };

static enum state advance(struct transfer *t, bool fresh, bool urge, int64_t *result)
{
	int64_t n;

	do {
		if (!fresh && !wf_primitive_at_once())
			return PAUSES;
		fresh = false;
		n = try_once(t, urge);
		if (n == WF_NOW_WAIT)
			return WAITS;
	} while (!account(t, n, result));
	return OVER;
}

static void end(struct rw *r, int64_t result)
{
	if (r->copy != NULL)
		wf_tame_put(wf_worker_self(), WF_TAME_EVENTS, r->copy_len, r->copy);
	wf_primitive_end_size(&r->p, (ssize_t)result);
}

/* Memory for the operation that is not the caller's. */
static bool have_copy(struct rw *r, size_t len)
{
	if (r->copy != NULL && r->copy_len < len) {
		wf_tame_put(wf_worker_self(), WF_TAME_EVENTS, r->copy_len, r->copy);
		r->copy = NULL;
	}
	if (r->copy == NULL) {
		r->copy_len = len > 32 ? len : 32;
		r->copy = wf_tame_get(wf_worker_self(), WF_TAME_EVENTS, r->copy_len, false);
	}
	return r->copy != NULL;
}

static int start_op(struct rw *r, char *buf, size_t len)
{
	const char *where = r->p.event->site_->where;
	const struct transfer *t = &r->t;

	r->op.same_ = t->target.mark;
	switch (t->kind) {
	case READ:
		if (t->offset < 0)
			return weft_op_read_at(&r->op, t->target.fd, buf, len, where);
		return weft_op_pread_at(&r->op, t->target.fd, buf, len, offset_of(t), where);
	case WRITE:
		if (t->offset < 0)
			return weft_op_write_at(&r->op, t->target.fd, buf, len, where);
		return weft_op_pwrite_at(&r->op, t->target.fd, buf, len, offset_of(t), where);
	case RECV:
		return weft_op_recv_at(&r->op, t->target.fd, buf, len, t->flags, where);
	default:
		return weft_op_send_at(&r->op, t->target.fd, buf, len, t->flags, where);
	}
}

static int start_copying(struct rw *r)
{
	struct transfer *t = &r->t;
	size_t len = t->len - t->done;

	if (len > COPY_MAX && !(t->flags & MSG_WAITALL))
		len = COPY_MAX;
	if (!have_copy(r, len))
		return -ENOMEM;
	if (writes(t))
		memcpy(r->copy, t->buf + t->done, len);
	return start_op(r, r->copy, len);
}

static bool is_stream_read(const struct transfer *t)
{
	return !writes(t) && t->offset < 0 && !(t->flags & (MSG_WAITALL | MSG_DONTWAIT));
}

/* Waits in the way that fits. `ready`: a poll has said so, and it could not be answered all
 * the same: not everything can be asked without waiting. */
static int wait_on(struct rw *r, bool ready)
{
	struct transfer *t = &r->t;

	if (!wf_primitive_can_stop(r->p.event))
		return start_op(r, t->buf + t->done, t->len - t->done);
	r->polls = is_stream_read(t) && !ready;
	if (!r->polls)
		return start_copying(r);
	r->op.same_ = t->target.mark;
	return weft_op_poll_at(&r->op, t->target.fd, POLLIN, r->p.event->site_->where);
}

/* Ends a stopped read or write with the number of bytes already done, or -ECANCELED if there are none. */
static void end_early(struct rw *r)
{
	end(r, r->t.done > 0 ? (int64_t)r->t.done : -ECANCELED);
}

static void go_on(struct rw *r, bool ready)
{
	size_t before = r->t.done;
	int64_t result;
	enum state state = advance(&r->t, true, ready, &result);

	if (state != OVER && r->p.stopped) {
		end_early(r);
		return;
	}
	if (state != OVER)
		result = wait_on(r, ready && state == WAITS && r->t.done == before);
	if (state == OVER || result < 0)
		end(r, result);
}

/* An operation that nobody here cancelled ended because its descriptor was closed. */
static void done(void *arg)
{
	struct rw *r = arg;
	int64_t n = r->op.result, result = n;

	if (n == -ECANCELED && r->p.stopped) {
		end_early(r);
		return;
	}
	if (n == -ECANCELED || wf_primitive_cancelled(&r->p)) {
		end(r, -EBADF);
		return;
	}
	if (r->polls) {
		go_on(r, true);
		return;
	}
	if (r->copy != NULL && n > 0 && !writes(&r->t))
		memcpy(r->t.buf + r->t.done, r->copy, (size_t)n);
	if (r->t.kind == READ && r->t.offset < 0 && n > 0 && (size_t)n == r->t.len - r->t.done)
		wf_now_more(r->t.target.fd); /* a full read suggests that there is more */
	if (account(&r->t, n, &result))
		end(r, result);
	else
		go_on(r, false);
}

static void stop(struct wf_primitive *p)
{
	(void)weft_op_cancel(&WF_CONTAINER(p, struct rw, p)->op);
}

static void start(struct transfer *t, WEFT_EVENT(ssize_t) e)
{
	int64_t result;
	struct rw *r;
	int rc;

	if (wf_primitive_wanted(WF_EVENT_OF(e)) && advance(t, false, false, &result) == OVER) {
		weft_trigger(e, (ssize_t)result);
		return;
	}
	r = wf_primitive_new(sizeof *r, WF_EVENT_OF(e), &rc);
	if (r == NULL) {
		weft_trigger(e, rc);
		return;
	}
	r->t = *t;
	weft_op_init(&r->op, r->p.color, done, r);
	rc = wait_on(r, false);
	if (rc < 0)
		end(r, rc);
	else
		wf_primitive_begun(&r->p, stop);
}

static void begin(enum kind kind, int fd, const void *buf, size_t len, int64_t offset, int flags,
		  WEFT_EVENT(ssize_t) e)
{
	struct transfer t = { .target = wf_target(fd),
			      .flags = flags,
			      .kind = kind,
			      .buf = (char *)(uintptr_t)buf,
			      .len = len,
			      .offset = offset };

	start(&t, e);
}

void weft_read_ev(int fd, void *buf, size_t len, WEFT_EVENT(ssize_t) e)
{
	begin(READ, fd, buf, len, -1, 0, e);
}

void weft_write_ev(int fd, const void *buf, size_t len, WEFT_EVENT(ssize_t) e)
{
	begin(WRITE, fd, buf, len, -1, 0, e);
}

void weft_pread_ev(int fd, void *buf, size_t len, int64_t offset, WEFT_EVENT(ssize_t) e)
{
	if (offset < 0)
		weft_trigger(e, -EINVAL);
	else
		begin(READ, fd, buf, len, offset, 0, e);
}

void weft_pwrite_ev(int fd, const void *buf, size_t len, int64_t offset, WEFT_EVENT(ssize_t) e)
{
	if (offset < 0)
		weft_trigger(e, -EINVAL);
	else
		begin(WRITE, fd, buf, len, offset, 0, e);
}

void weft_recv_ev(int fd, void *buf, size_t len, int flags, WEFT_EVENT(ssize_t) e)
{
	begin(RECV, fd, buf, len, -1, flags, e);
}

void weft_send_ev(int fd, const void *buf, size_t len, int flags, WEFT_EVENT(ssize_t) e)
{
	begin(SEND, fd, buf, len, -1, flags, e);
}

static void begin_all(enum kind kind, int fd, const void *buf, size_t len, WEFT_EVENT(ssize_t) e)
{
	struct transfer t = { .target = wf_target(fd),
			      .kind = kind,
			      .all = true,
			      .buf = (char *)(uintptr_t)buf,
			      .len = len,
			      .offset = -1 };

	if (len == 0)
		weft_trigger(e, 0);
	else
		start(&t, e);
}

void weft_read_exactly_ev(int fd, void *buf, size_t len, WEFT_EVENT(ssize_t) e)
{
	begin_all(READ, fd, buf, len, e);
}

void weft_write_all_ev(int fd, const void *buf, size_t len, WEFT_EVENT(ssize_t) e)
{
	begin_all(WRITE, fd, buf, len, e);
}
