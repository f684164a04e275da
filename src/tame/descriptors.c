/* descriptors.c - connections, files and waiting for descriptors, as events. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "io/io.h"
#include "tame/primitive.h"
#include "threads/threads.h"

/* One operation whose result is told as it is. */
struct plain {
	struct wf_primitive p;
	weft_op op;
	int64_t before; /* sendfile: so much was sent at once */
};

/* What the operation would have returned; one that nobody here cancelled ended because its
 * descriptor was closed. */
static int64_t result_of(const struct wf_primitive *p, const weft_op *op)
{
	return op->result == -ECANCELED && !p->stopped ? -EBADF : op->result;
}

static void *new_op(size_t size, size_t op, weft_tame_event *e, weft_fn *done, int *err)
{
	struct wf_primitive *p = wf_primitive_new(size, e, err);

	if (p != NULL)
		weft_op_init((weft_op *)(void *)((char *)p + op), p->color, done, p);
	return p;
}
#define NEW(type, e, done, err) new_op(sizeof(type), offsetof(type, op), WF_EVENT_OF(e), done, err)

static const char *where_of(const struct wf_primitive *p)
{
	return p->event->site_->where;
}

static void stop_plain(struct wf_primitive *p)
{
	(void)weft_op_cancel(&WF_CONTAINER(p, struct plain, p)->op);
}

static void done_int(void *arg)
{
	struct plain *o = arg;

	wf_primitive_end_int(&o->p, (int)result_of(&o->p, &o->op));
}

/* The operation was started, or not. */
static void begun(struct plain *o, int rc)
{
	if (rc < 0)
		wf_primitive_end_int(&o->p, rc);
	else
		wf_primitive_begun(&o->p, stop_plain);
}

void weft_fd_ev(int fd, int events, WEFT_EVENT(int) e)
{
	int rc;
	struct plain *o = NEW(struct plain, e, done_int, &rc);

	if (o == NULL)
		weft_trigger(e, rc);
	else
		begun(o, weft_op_poll_at(&o->op, fd, events, where_of(&o->p)));
}

static void sync_ev(int fd, bool data_only, WEFT_EVENT(int) e)
{
	int rc;
	struct plain *o = NEW(struct plain, e, done_int, &rc);

	if (o == NULL)
		weft_trigger(e, rc);
	else
		begun(o, weft_op_fsync_at(&o->op, fd, data_only, where_of(&o->p)));
}

void weft_fsync_ev(int fd, WEFT_EVENT(int) e)
{
	sync_ev(fd, false, e);
}

void weft_fdatasync_ev(int fd, WEFT_EVENT(int) e)
{
	sync_ev(fd, true, e);
}

/* Closing is not cancelled: who closes has done with it. */
void weft_close_ev(int fd, WEFT_EVENT(int) e)
{
	struct wf_target t = wf_target(fd);
	int64_t n = wf_worker_self() != NULL ? wf_now_close(fd) : WF_NOW_WAIT;
	struct plain *o;
	int rc;

	if (n != WF_NOW_WAIT) {
		weft_trigger(e, (int)n);
		return;
	}
	o = NEW(struct plain, e, done_int, &rc);
	if (o == NULL) {
		/* It must be closed all the same; this way may block. */
		weft_trigger(e, weft_fd_close(fd));
		return;
	}
	o->op.same_ = t.mark;
	rc = weft_op_close_at(&o->op, fd, where_of(&o->p));
	if (rc < 0)
		wf_primitive_end_int(&o->p, weft_fd_close(fd));
}

/* Sending files */

static void done_sendfile(void *arg)
{
	struct plain *o = arg;
	int64_t n = result_of(&o->p, &o->op), sent = o->before;

	wf_primitive_end_size(&o->p, (ssize_t)(n >= 0 ? sent + n : sent > 0 ? sent : n));
}

void weft_sendfile_ev(int fd, int in, int64_t offset, size_t len, WEFT_EVENT(ssize_t) e)
{
	struct wf_target t = wf_target(fd), from = wf_target(in);
	int64_t sent = WF_NOW_WAIT;
	struct plain *o;
	int rc;

	if (wf_primitive_wanted(WF_EVENT_OF(e)) && wf_primitive_at_once())
		sent = wf_now_sendfile(t, from, offset, len, false).n;
	if (sent != WF_NOW_WAIT && (sent < 0 || (size_t)sent == len)) {
		weft_trigger(e, (ssize_t)sent);
		return;
	}
	if (sent == WF_NOW_WAIT)
		sent = 0;
	o = NEW(struct plain, e, done_sendfile, &rc);
	if (o == NULL) {
		weft_trigger(e, (ssize_t)(sent > 0 ? sent : rc));
		return;
	}
	o->before = sent;
	o->op.same_ = t.mark;
	rc = wf_op_sendfile(&o->op, fd, from, offset + sent, len - (size_t)sent, where_of(&o->p));
	if (rc < 0)
		wf_primitive_end_size(&o->p, (ssize_t)(sent > 0 ? sent : rc));
	else
		wf_primitive_begun(&o->p, stop_plain);
}

/* What brings a descriptor */

static void end_with_fd(struct wf_primitive *p, int fd)
{
	if (fd >= 0 && wf_primitive_cancelled(p))
		(void)weft_fd_close(fd);
	wf_primitive_end_int(p, fd);
}

struct opening {
	struct wf_primitive p;
	weft_op op;
	char path[];
};

static void done_open(void *arg)
{
	struct opening *o = arg;

	end_with_fd(&o->p, (int)result_of(&o->p, &o->op));
}

static void stop_open(struct wf_primitive *p)
{
	(void)weft_op_cancel(&WF_CONTAINER(p, struct opening, p)->op);
}

static void open_later(int dir, const char *path, int flags, unsigned mode, WEFT_EVENT(int) e)
{
	size_t len = strlen(path) + 1;
	int rc;
	struct opening *o = new_op(sizeof *o + len, offsetof(struct opening, op), WF_EVENT_OF(e),
				   done_open, &rc);

	if (o == NULL) {
		weft_trigger(e, rc);
		return;
	}
	memcpy(o->path, path, len);
	rc = weft_op_open_at(&o->op, dir, o->path, flags, mode, where_of(&o->p));
	if (rc < 0)
		wf_primitive_end_int(&o->p, rc);
	else
		wf_primitive_begun(&o->p, stop_open);
}

void weft_openat_ev(int dir, const char *path, int flags, unsigned mode, WEFT_EVENT(int) e)
{
	int64_t n = path == NULL ? -EINVAL : WF_NOW_WAIT;

	if (n == WF_NOW_WAIT && wf_primitive_wanted(WF_EVENT_OF(e)) && wf_primitive_at_once())
		n = wf_now_open(dir, path, flags);
	if (n != WF_NOW_WAIT)
		weft_trigger(e, (int)n);
	else
		open_later(dir, path, flags, mode, e);
}

void weft_open_ev(const char *path, int flags, unsigned mode, WEFT_EVENT(int) e)
{
	weft_openat_ev(AT_FDCWD, path, flags, mode, e);
}

/* Accepting. One that can be cancelled waits until a connection is there and accepts it then, so
 * that none is accepted that nobody wants (X1). */
struct accepting {
	struct wf_primitive p;
	weft_op op;
	struct wf_target target;
	bool polls;
	struct sockaddr_storage *peer; /* the caller's, or NULL */
	struct sockaddr_storage addr;
	socklen_t len;
};

static int64_t accept_now(struct wf_target t, struct sockaddr_storage *peer, bool urge)
{
	struct sockaddr_storage addr = { 0 };
	socklen_t len = sizeof addr;
	int64_t n = wf_now_accept(t, (struct sockaddr *)&addr, &len, urge).n;

	if (n >= 0 && peer != NULL)
		*peer = addr;
	return n != WF_NOW_WAIT && wf_accept_again(t.fd, n) ? WF_NOW_WAIT : n;
}

static int accept_wait(struct accepting *a, bool ready)
{
	a->polls = wf_primitive_can_stop(a->p.event) && !ready;
	a->op.same_ = a->target.mark;
	if (a->polls)
		return weft_op_poll_at(&a->op, a->target.fd, POLLIN, where_of(&a->p));
	a->len = sizeof a->addr;
	memset(&a->addr, 0, sizeof a->addr);
	return weft_op_accept_at(&a->op, a->target.fd, (struct sockaddr *)&a->addr, &a->len,
				 where_of(&a->p));
}

static void done_accept(void *arg)
{
	struct accepting *a = arg;
	bool polled = a->polls, cancelled = wf_primitive_cancelled(&a->p);
	int64_t n = result_of(&a->p, &a->op);

	if (polled && n >= 0 && !cancelled)
		n = accept_now(a->target, a->peer, true);
	else if (n >= 0 && !cancelled && a->peer != NULL)
		*a->peer = a->addr;
	if (!polled && n >= 0)
		wf_now_more(a->target.fd); /* connections come in bursts */
	if (!cancelled && (n == WF_NOW_WAIT || wf_accept_again(a->target.fd, n))) {
		n = a->p.stopped ? -ECANCELED : accept_wait(a, polled);
		if (n == 0)
			return;
	}
	/* What a poll tells is no descriptor. */
	end_with_fd(&a->p, polled && cancelled ? -ECANCELED : (int)n);
}

static void stop_accept(struct wf_primitive *p)
{
	(void)weft_op_cancel(&WF_CONTAINER(p, struct accepting, p)->op);
}

void weft_accept_ev(int fd, struct sockaddr_storage *peer, WEFT_EVENT(int) e)
{
	struct wf_target t = wf_target(fd);
	struct accepting *a;
	int64_t n = WF_NOW_WAIT;
	int rc;

	if (wf_primitive_wanted(WF_EVENT_OF(e)) && wf_primitive_at_once())
		n = accept_now(t, peer, false);
	if (n != WF_NOW_WAIT) {
		weft_trigger(e, (int)n);
		return;
	}
	a = NEW(struct accepting, e, done_accept, &rc);
	if (a == NULL) {
		weft_trigger(e, rc);
		return;
	}
	a->target = t;
	a->peer = peer;
	rc = accept_wait(a, false);
	if (rc < 0)
		wf_primitive_end_int(&a->p, rc);
	else
		wf_primitive_begun(&a->p, stop_accept);
}

/* Connecting */

struct connecting {
	struct wf_primitive p;
	weft_op op;
	struct sockaddr_storage addr;
};

static void done_connect(void *arg)
{
	struct connecting *c = arg;

	wf_primitive_end_int(&c->p, (int)result_of(&c->p, &c->op));
}

static void stop_connect(struct wf_primitive *p)
{
	(void)weft_op_cancel(&WF_CONTAINER(p, struct connecting, p)->op);
}

void weft_connect_ev(int fd, const struct sockaddr *addr, socklen_t len, WEFT_EVENT(int) e)
{
	int rc = -EINVAL;
	struct connecting *c = NULL;

	if (addr != NULL && len <= sizeof c->addr)
		c = NEW(struct connecting, e, done_connect, &rc);
	if (c == NULL) {
		weft_trigger(e, rc);
		return;
	}
	memcpy(&c->addr, addr, len);
	rc = weft_op_connect_at(&c->op, fd, (const struct sockaddr *)&c->addr, len,
				where_of(&c->p));
	if (rc < 0)
		wf_primitive_end_int(&c->p, rc);
	else
		wf_primitive_begun(&c->p, stop_connect);
}
