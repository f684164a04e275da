/* sync.c - channels, mutexes, threads and scopes, as events. None but a scope needs a stack. */
#include <errno.h>
#include <string.h>

#include <weft/channel.h>
#include <weft/scope.h>

#include "tame/primitive.h"
#include "threads/threads.h"

/* Who wakes may be a foreign kernel thread, and the run be over. */
static void deliver(weft_event *ev)
{
	if (wf_enter() < 0)
		return;
	wf_event_deliver(NULL, ev);
	wf_leave();
}

/* Channels. A message is received into memory of the primitive, and copied when it is sure that
 * somebody wants it; else it goes back. */
struct message {
	struct wf_primitive p;
	weft_event done;
	weft_case c;
	struct wf_choice choice;
	void *to; /* the caller's */
	size_t message_size;
	bool returned; /* the message came, and goes back */
	_Alignas(max_align_t) char data[];
};

static void wake_message(struct wf_waiter *w)
{
	deliver(&WF_CONTAINER(w, struct message, choice.waiter)->done);
}

/* The message is in `data`, and nobody wants it. False: the channel keeps m. */
static bool return_message(struct message *m)
{
	m->c.from = m->data;
	m->returned = true;
	wf_choice_init_calling(&m->choice, &m->c, wake_message);
	return wf_channel_put_back(&m->c, &m->choice) != -EAGAIN;
}

static void copy(void *to, const void *from, size_t size)
{
	if (size > 0)
		memcpy(to, from, size);
}

static void end_message(struct message *m, int rc)
{
	if (rc == 0 && !m->c.sends && !m->returned) {
		if (!wf_primitive_cancelled(&m->p))
			copy(m->to, m->data, m->message_size);
		else if (!return_message(m))
			return;
	}
	wf_primitive_end_int(&m->p, rc);
}

static void message_done(void *arg)
{
	struct message *m = arg;

	end_message(m, m->c.result);
}

static void stop_message(struct wf_primitive *p)
{
	struct message *m = WF_CONTAINER(p, struct message, p);

	if (!m->returned && wf_channel_stop(&m->choice))
		end_message(m, -ECANCELED);
}

static void begin_message(weft_channel *ch, bool sends, const void *from, void *to,
			  WEFT_EVENT(int) e)
{
	size_t size = wf_channel_message_size(ch);
	int rc;
	struct message *m = wf_primitive_new(sizeof *m + size, WF_EVENT_OF(e), &rc);

	if (m == NULL) {
		weft_trigger(e, rc);
		return;
	}
	if (sends)
		copy(m->data, from, size);
	m->to = to;
	m->message_size = size;
	m->c = sends ? weft_case_send(ch, m->data) : weft_case_receive(ch, m->data);
	weft_event_init(&m->done, m->p.color, message_done, m);
	wf_choice_init_calling(&m->choice, &m->c, wake_message);
	rc = wf_channel_begin(&m->c, &m->choice, WF_EVENT_OF(e)->site_->where);
	if (rc == -EAGAIN)
		wf_primitive_begun(&m->p, stop_message);
	else
		end_message(m, rc);
}

void weft_channel_send_ev(weft_channel *ch, const void *from, WEFT_EVENT(int) e)
{
	int rc = wf_primitive_wanted(WF_EVENT_OF(e)) && wf_primitive_at_once()
			 ? weft_channel_try_send_at(ch, from, WF_EVENT_OF(e)->site_->where)
			 : -EAGAIN;

	if (rc == -EAGAIN)
		begin_message(ch, true, from, NULL, e);
	else
		weft_trigger(e, rc);
}

void weft_channel_receive_ev(weft_channel *ch, void *to, WEFT_EVENT(int) e)
{
	int rc = wf_primitive_wanted(WF_EVENT_OF(e)) && wf_primitive_at_once()
			 ? weft_channel_try_receive_at(ch, to, WF_EVENT_OF(e)->site_->where)
			 : -EAGAIN;

	if (rc == -EAGAIN)
		begin_message(ch, false, NULL, to, e);
	else
		weft_trigger(e, rc);
}

/* Mutexes */

struct locking {
	struct wf_primitive p;
	weft_event woken;
	struct wf_mutex_waiter waiter;
	weft_mutex *mutex;
};

static void wake_locking(struct wf_waiter *w)
{
	deliver(&WF_CONTAINER(w, struct locking, waiter.waiter)->woken);
}

static void mutex_answers(void *arg)
{
	struct locking *l = arg;
	bool cancelled = wf_primitive_cancelled(&l->p);
	int rc = wf_mutex_answer(l->mutex, &l->waiter, cancelled || l->p.stopped ? -ECANCELED : 0);

	if (rc == -EBUSY)
		return;
	if (rc == 0 && cancelled)
		(void)wf_mutex_release(l->mutex, l->waiter.who, l->waiter.where);
	wf_primitive_end_int(&l->p, rc);
}

static void stop_locking(struct wf_primitive *p)
{
	struct locking *l = WF_CONTAINER(p, struct locking, p);

	if (wf_mutex_stop(l->mutex, &l->waiter))
		wf_primitive_end_int(&l->p, -ECANCELED);
}

void weft_mutex_lock_ev(weft_mutex *m, WEFT_EVENT(int) e)
{
	const char *where = WF_EVENT_OF(e)->site_->where;
	struct locking *l;
	int rc = -EBUSY;

	if (wf_primitive_wanted(WF_EVENT_OF(e)) && wf_primitive_at_once())
		rc = wf_mutex_try(m, where);
	else if (wf_mutex_is_left_over(m, where))
		rc = -EOWNERDEAD;
	if (rc == 0 || rc == -EOWNERDEAD) {
		weft_trigger(e, rc);
		return;
	}
	l = wf_primitive_new(sizeof *l, WF_EVENT_OF(e), &rc);
	if (l == NULL) {
		weft_trigger(e, rc);
		return;
	}
	weft_event_init(&l->woken, l->p.color, mutex_answers, l);
	wf_waiter_init_calling(&l->waiter.waiter, m, wake_locking);
	l->waiter.who = wf_mutex_nobody(m);
	l->waiter.where = where;
	l->waiter.called = 0;
	l->waiter.pause = 0;
	l->mutex = m;
	wf_mutex_queue(m, &l->waiter);
	wf_primitive_begun(&l->p, stop_locking);
}

/* Threads */

struct joining {
	struct wf_primitive p;
	weft_event ended;
	weft_thread *thread;
};

static void end_join(struct joining *j, int rc, int value)
{
	WEFT_EVENT(int, int) e = (void *)wf_primitive_end(&j->p);

	if (e != NULL)
		weft_trigger(e, rc, value);
}

static void thread_ended(void *arg)
{
	struct joining *j = arg;

	if (wf_primitive_cancelled(&j->p)) {
		wf_join_put_back(j->thread);
		end_join(j, -ECANCELED, 0);
	} else {
		end_join(j, 0, wf_join_end(j->thread));
	}
}

static void stop_join(struct wf_primitive *p)
{
	struct joining *j = WF_CONTAINER(p, struct joining, p);

	if (wf_join_stop(j->thread, &j->ended))
		end_join(j, -ECANCELED, 0);
}

void weft_join_ev(weft_thread *t, WEFT_EVENT(int, int) e)
{
	int rc;
	struct joining *j = wf_primitive_new(sizeof *j, WF_EVENT_OF(e), &rc);

	if (j == NULL) {
		weft_trigger(e, rc, 0);
		return;
	}
	weft_event_init(&j->ended, j->p.color, thread_ended, j);
	j->thread = t;
	rc = t == weft_self() ? -EDEADLK : wf_join_begin(t, &j->ended);
	if (rc == -EAGAIN)
		wf_primitive_begun(&j->p, stop_join);
	else if (rc == 0)
		thread_ended(j);
	else
		end_join(j, rc, 0);
}

/* Scopes. The thread that has it comes back to the color where it was asked for, so that a
 * cancel finds the scope while there is one. */
struct scoped {
	struct wf_primitive p;
	int (*fn)(weft_scope *scope, void *arg);
	void *arg;
	weft_scope *scope; /* while there is one */
};

static int have_scope(struct scoped *s)
{
	weft_scope scope;
	int result, error;

	weft_scope_begin_at(&scope, s->p.event->site_->where);
	s->scope = &scope;
	result = s->fn(&scope, s->arg);
	if (weft_color_current() != s->p.color)
		(void)weft_hop(s->p.color);
	error = weft_scope_end(&scope);
	s->scope = NULL;
	return error < 0 ? error : result;
}

static int run_scope(void *arg)
{
	struct scoped *s = arg;
	bool unwanted = wf_primitive_cancelled(&s->p) || s->p.stopped;

	wf_primitive_end_int(&s->p, unwanted ? -ECANCELED : have_scope(s));
	return 0;
}

static void stop_scope(struct wf_primitive *p)
{
	struct scoped *s = WF_CONTAINER(p, struct scoped, p);

	if (s->scope != NULL)
		(void)weft_scope_cancel(s->scope);
}

void weft_scope_ev(int (*fn)(weft_scope *scope, void *arg), void *arg, WEFT_EVENT(int) e)
{
	weft_thread_attr attr = { .apart = true };
	int rc = -EINVAL;
	struct scoped *s = fn != NULL ? wf_primitive_new(sizeof *s, WF_EVENT_OF(e), &rc) : NULL;

	if (s == NULL) {
		weft_trigger(e, rc);
		return;
	}
	s->fn = fn;
	s->arg = arg;
	attr.on = true;
	attr.color = s->p.color;
	rc = weft_thread_start_at(NULL, &attr, run_scope, s, s->p.event->site_->where);
	if (rc < 0)
		wf_primitive_end_int(&s->p, rc);
	else
		wf_primitive_begun(&s->p, stop_scope);
}
