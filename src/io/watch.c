/* watch.c - readiness callbacks, level-triggered, one call at a time.
 *
 * A watch is armed or posted. Armed, it belongs to the backend. Posted, its event
 * is queued or runs; when the user's function has returned it is armed again,
 * which is what makes it level-triggered and never called twice at once.
 */
#include "io/watch.h"

#include <errno.h>

#include "base/memory.h"
#include "base/report.h"
#include "io/backend.h"
#include "scheduler/scheduler.h"

static void unlist(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock)
{
	struct wf_watch **at = &f->watches;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
}

static void discard(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock)
{
	unlist(f, w);
	free(w);
}

/* Whether the caller runs in the watch's color, so that no call of it can. */
static bool in_own_color(const struct wf_watch *w)
{
	return wf_worker_self() != NULL && weft_color_current() == w->op.event.color;
}

/* Takes it out of force. Returns as weft_off_fd. */
static int end(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock)
{
	int rc = 0;

	f->watch[w->dir] = NULL;
	w->off = true;
	if (w->state == WF_WATCH_ARMED) {
		if (wf_io->disarm(f, w))
			discard(f, w);
	} else if (in_own_color(w)) {
		w->muted = true;
	} else {
		rc = -EINPROGRESS;
	}
	wf_live_op_add(-1);
	return rc;
}

void wf_watch_end_all(struct wf_fd *f)
{
	for (int d = 0; d < WF_DIRS; d++) {
		if (f->watch[d] != NULL)
			end(f, f->watch[d]);
	}
}

void wf_watch_disarmed(struct wf_fd *f, struct wf_watch *w)
{
	if (w->state == WF_WATCH_ARMED)
		discard(f, w);
}

void wf_watch_fired(struct wf_fd *f, struct wf_watch *w)
{
	w->state = WF_WATCH_POSTED;
	wf_event_deliver(wf_worker_by_id(f->home), &w->op.event);
}

const char *wf_watch_lost(struct wf_fd *f, struct wf_watch *w)
{
	const char *where = w->op.event.where_;

	end(f, w);
	return where != NULL ? where : "an unknown place";
}

void wf_watch_report(const struct wf_fd *f, const char *where)
{
	wf_misuse(where, 0, "descriptor %d was closed while it was watched; the watch has ended",
		  f->fd);
}

/* The next call shall come where this one was. */
static void arm_here(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock)
{
	int self = wf_worker_id(wf_worker_self());

	if (self == f->home)
		f->away = 0;
	else if (self < wf_worker_count())
		wf_io->used_from(f, self);
	wf_io->arm(f, w);
}

static void watch_run(void *arg)
{
	struct wf_watch *w = arg;
	struct wf_fd *f = w->f;

	if (!__atomic_load_n(&w->muted, __ATOMIC_RELAXED))
		w->fn(w->arg);
	wf_lock_take(&f->lock);
	w->state = WF_WATCH_ARMED;
	if (!w->off)
		arm_here(f, w);
	else if (wf_io->disarm(f, w))
		discard(f, w);
	wf_lock_give(&f->lock);
}

static struct wf_watch *new_watch(struct wf_fd *f, int what, weft_color color, weft_fn *fn,
				  void *arg, const char *where)
{
	struct wf_watch *w = WF_NEW(struct wf_watch);

	if (w == NULL)
		return NULL;
	weft_op_init(&w->op, color, watch_run, w);
	w->op.event.where_ = where;
	w->op.kind_ = WF_OP_POLL;
	w->op.fd = f->fd;
	w->op.record_ = f;
	w->fn = fn;
	w->arg = arg;
	w->f = f;
	w->dir = what == WEFT_READ ? WF_IN : WF_OUT;
	w->state = WF_WATCH_ARMED;
	return w;
}

/* What stands against a watch of f, if anything. */
static int check(struct wf_fd *f, int dir, struct wf_after *after) WF_REQUIRES(f->lock)
{
	int err = f->kind == WF_KIND_UNKNOWN ? wf_fd_learn(f) : 0;

	if (err == 0 && wf_fd_closing(f))
		err = -EBADF;
	if (err == 0)
		err = wf_io->watchable(f, after);
	if (err == 0 && f->watch[dir] != NULL)
		err = -EEXIST;
	return err;
}

static int begin(struct wf_fd *f, struct wf_watch *w)
{
	struct wf_after after = { 0 };
	int err;

	wf_lock_take(&f->lock);
	err = check(f, w->dir, &after);
	if (err == 0) {
		f->watch[w->dir] = w;
		f->others = true;
		w->next = f->watches;
		f->watches = w;
		wf_live_op_add(1);
		wf_io->arm(f, w);
	}
	wf_lock_give(&f->lock);
	wf_after(&after);
	return err;
}

static int watch(int fd, int what, weft_color color, weft_fn *fn, void *arg, const char *where)
{
	struct wf_watch *w;
	struct wf_fd *f;
	int err;

	f = wf_fd_get(fd, &err);
	if (f == NULL)
		return err;
	w = new_watch(f, what, color, fn, arg, where);
	if (w == NULL)
		return -ENOMEM;
	err = wf_event_check(&w->op.event);
	if (err == 0)
		err = begin(f, w);
	if (err < 0)
		free(w);
	return err;
}

int weft_on_fd_at(int fd, int what, weft_color color, weft_fn *fn, void *arg, const char *where)
{
	int rc;

	if (fn == NULL || (what != WEFT_READ && what != WEFT_WRITE))
		return -EINVAL;
	rc = wf_enter();
	if (rc < 0)
		return rc;
	rc = wf_stopping() ? -ESHUTDOWN : watch(fd, what, color, fn, arg, where);
	wf_leave();
	return rc;
}

static int unwatch(struct wf_fd *f, int dir)
{
	int rc = -ENOENT;

	if (f == NULL)
		return rc;
	wf_lock_take(&f->lock);
	if (f->watch[dir] != NULL)
		rc = end(f, f->watch[dir]);
	wf_lock_give(&f->lock);
	return rc;
}

int weft_off_fd(int fd, int what)
{
	int rc;

	if (what != WEFT_READ && what != WEFT_WRITE)
		return -ENOENT;
	rc = wf_enter();
	if (rc < 0)
		return rc;
	rc = unwatch(wf_fd_peek(fd), what == WEFT_READ ? WF_IN : WF_OUT);
	wf_leave();
	return rc;
}

void wf_watches_free(struct wf_fd *f)
{
	while (f->watches != NULL) {
		struct wf_watch *w = f->watches;

		f->watches = w->next;
		free(w);
	}
}
