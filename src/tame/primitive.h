/* primitive.h - operations of the runtime as events: what all of them share.
 *
 * A primitive is one operation that is under way for an event. It is begun, ends and is
 * cancelled in one color, that of who called; so there are no races between the three. When
 * nobody waits for the event any more its `stop` is called, which asks for an end of the
 * operation, or ends it. In any case it comes to its end once, by wf_primitive_end: nobody
 * else knows whether what the operation brought has found somebody who takes it.
 *
 * A thread that waits in a twait block or by twait(r), and is cancelled, asks for an end too, and then
 * waits for it (hook.h): `stopped` without being cancelled. Then the end is told as ever, by what
 * has happened, or -ECANCELED.
 *
 * What a cancelled function had in its closure is gone at once, though the word of it
 * is still on its way. So an operation that can be cancelled never works on memory of its caller:
 * it asks until it can be answered at once, or has memory of its own.
 */
#ifndef WF_PRIMITIVE_H
#define WF_PRIMITIVE_H

#include <weft/tame_events.h>

#include "tame/tame.h"

struct wf_primitive {
	weft_tame_event *event;
	void (*stop)(struct wf_primitive *p); /* NULL: nothing stops it */
	size_t size;
	weft_color color;
	bool stopped; /* `stop` was called */
};

/* An event of whatever type, as the functions here take it. */
#define WF_EVENT_OF(e) ((weft_tame_event *)(uintptr_t)(e))

/* Makes a primitive of `size` bytes, all zeros but for its beginning; or NULL, and why. */
void *wf_primitive_new(size_t size, weft_tame_event *e, int *err);

/* The same for who has no way to tell of an error. In exclusive use of a color. */
void *wf_primitive_new_must(size_t size, weft_tame_event *e);

/* It has begun. Last: from now on it can be stopped. */
void wf_primitive_begun(struct wf_primitive *p, void (*stop)(struct wf_primitive *p));

/* Whether nobody wants what it brings. */
static inline bool wf_primitive_cancelled(const struct wf_primitive *p)
{
	return weft_tame_cancelled(p->event);
}

/* In `stop`: there is no way to tell that it did not happen. If somebody still waits it goes on, and is
 * only stopped when nobody does. Returns whether it goes on. */
bool wf_primitive_goes_on(struct wf_primitive *p);

/* It is over, and p is gone. Returns the event, to be triggered; NULL if it was cancelled. */
weft_tame_event *wf_primitive_end(struct wf_primitive *p);

/* The same where the value is one int, or one ssize_t. */
void wf_primitive_end_int(struct wf_primitive *p, int result);
void wf_primitive_end_size(struct wf_primitive *p, ssize_t result);

/* Whether an event may be triggered at once, instead of by an operation: now and then it may
 * not, so that one who never has to wait lets others run (S3). */
bool wf_primitive_at_once(void);

/* Whether somebody waits for it, and the caller may be answered at once at all. */
static inline bool wf_primitive_wanted(const weft_tame_event *e)
{
	return wf_worker_self() != NULL && !weft_tame_cancelled(e);
}

/* Whether it could be cancelled. */
static inline bool wf_primitive_can_stop(const weft_tame_event *e)
{
	return e->site_->kind == WEFT_TAME_OF_RENDEZVOUS || e->site_->kind == WEFT_TAME_OF_NOBODY;
}

#endif
