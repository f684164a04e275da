/* channel.h - the inside of channels: what is kept, who waits, and the two things
 * that can be done.
 *
 * Terms. A case is one send or receive (weft_case). A choice is one call that waits,
 * for one case or for whichever of several comes first; it is listed at each of
 * its channels. Who finds a case in the list of its channel claims the choice, does
 * the case for it and wakes it: so a message is copied once and wakes one.
 *
 * Invariants, between two passes through a channel:
 *  - messages are kept only while no receiver waits that can be claimed;
 *  - a sender waits only while there is no room;
 *  - a choice is claimed once, by whoever does one of its cases or cancels it. A
 *    claimed choice may still be listed at its other channels, until it has woken:
 *    it is taken off by whoever comes across it first.
 * All fields of a channel but count are guarded by its home. A choice's `chosen`
 * belongs to who claimed it, and to the waiter once it was woken.
 *
 * Lifetime. The last touch of a channel is to leave its home, and only then is
 * anybody woken: a receiver may free the channel after the last message.
 */
#ifndef WF_CHANNEL_H
#define WF_CHANNEL_H

#include <errno.h>
#include <stdlib.h>

#include <weft/channel.h>

#include "scheduler/scheduler.h"
#include "threads/home.h"
#include "threads/wait.h"

/* Room for some messages. They lie in a circle: those in use from first to last, and
 * at most one that is not. A bounded channel is a circle of one, which is a ring. */
struct wf_segment {
	struct wf_segment *next;
	_Alignas(max_align_t) char data[];
};

struct wf_cases {
	weft_case *first, *last;
};

/* What the common ways through a channel need not know: anything but OPEN. */
enum wf_channel_state {
	WF_CHANNEL_OPEN,
	WF_CHANNEL_CLOSED,
	WF_CHANNEL_SHM, /* to another process, whether open or closed: shm.h */
};

struct weft_channel {
	struct wf_home home;
	uint8_t state;
	uint32_t foreign;        /* waiting foreign kernel threads */
	struct wf_of_run of_run; /* other waiters, in all lists */
	size_t size;             /* of a message */
	size_t capacity;
	size_t slots;         /* of a segment */
	_Atomic size_t count; /* messages kept; anybody reads it */
	size_t head, tail;    /* slot of the first message; behind that of the last */
	struct wf_segment *first, *last;
	struct wf_cases senders, receivers; /* who waits */
	struct wf_cases returned;           /* messages that came back, and found no room */
	struct wf_shm *shm;                 /* WF_CHANNEL_SHM */
};

/* A call that waits. Lives on its stack. */
struct wf_choice {
	struct wf_waiter waiter;
	weft_case *cases;
	size_t count;
	_Atomic bool claimed;
	weft_case *chosen; /* NULL: it was cancelled */
};

/* One pass through a channel, or through several at once (select). What it owes to
 * others is done at its end, outside of the channel. */
struct wf_pass {
	struct weft_thread *self; /* the running thread, or NULL */
	enum wf_home_how how;     /* it entered the channel */
	bool gate;                /* it keeps the runtime from being freed */
	struct wf_waiter *wake;   /* whom to wake, linked by next */
	struct wf_segment *dead;  /* to be freed */
	struct wf_shm *bell;      /* to be rung, if `dead` is WF_PASS_BELL */
};

/* In wf_pass.dead. */
#define WF_PASS_BELL ((struct wf_segment *)1)

/* Frees, or rings. */
void wf_pass_settle(struct wf_pass *pass);

/* Begins a pass, and ends it; channels are entered and left in between. A foreign
 * kernel thread may have to wake threads of the runtime; where there is none, there
 * are no such threads. */
static inline void wf_pass_begin(struct wf_pass *pass, struct weft_thread *self)
{
	/* Each by itself: a copy of a whole pass would read what was just written in
	 * larger pieces, which stalls. */
	pass->self = self;
	pass->gate = self == NULL && wf_enter() == 0;
	pass->wake = NULL;
	pass->dead = NULL;
}

static inline void wf_pass_end(struct wf_pass *pass)
{
	for (struct wf_waiter *w = pass->wake, *next; w != NULL; w = next) {
		next = w->next;
		wf_waiter_wake(w);
	}
	if (WF_UNLIKELY(pass->gate))
		wf_leave();
	if (WF_UNLIKELY(pass->dead != NULL))
		wf_pass_settle(pass);
}

/* A pass through one channel. */
static inline void wf_pass_enter(struct wf_pass *pass, weft_channel *ch)
{
	struct weft_thread *self = wf_thread_self();

	wf_pass_begin(pass, self);
	pass->how = wf_home_enter_as(&ch->home, self);
}

/* The same in a call that has not switched yet. */
static inline void wf_pass_enter_first(struct wf_pass *pass, weft_channel *ch)
{
	wf_pass_begin(pass, wf_thread_current);
	pass->how = wf_home_enter_as(&ch->home, pass->self);
}

static inline void wf_pass_leave(weft_channel *ch, struct wf_pass *pass)
{
	wf_home_leave(&ch->home, pass->how);
	wf_pass_end(pass);
}

/* Sends or receives, inside the channel. -EAGAIN: would have to wait. -ENOMEM: an
 * unbounded channel has no room. Else the call is over: 0, -EPIPE, or -EOWNERDEAD, which the
 * caller must report (wf_channel_reported). */
int wf_channel_send(weft_channel *ch, struct wf_pass *pass, const void *from);
int wf_channel_receive(weft_channel *ch, struct wf_pass *pass, void *to);

/* Does the case for one without a stack, or lists it and the choice, which is of that case alone:
 * -EAGAIN. Then the choice's waiter is woken when it was done. */
int wf_channel_begin(weft_case *c, struct wf_choice *choice, const char *where);
/* Takes it off again: false if it was done, and the waiter is woken. */
bool wf_channel_stop(struct wf_choice *choice);
/* A message that was received goes back, to be the next that is received if there is room for it;
 * else the choice keeps it, and its waiter is woken when somebody has received it: -EAGAIN. */
int wf_channel_put_back(weft_case *c, struct wf_choice *choice);
size_t wf_channel_message_size(const weft_channel *ch);

/* Does a case in a pass of its own, growing the channel if need be. */
int wf_channel_try(weft_case *c, const char *where, uintptr_t caller);

/* Reports -EOWNERDEAD, outside of the channel. Returns rc. Functions declared by WEFT_CHANNEL know
 * only the line of WEFT_CHANNEL, so the report also names the function that called them. */
WF_COLD int wf_channel_report(const weft_channel *ch, int rc, const char *where, uintptr_t caller);
static inline int wf_channel_reported(const weft_channel *ch, int rc, const char *where,
				      uintptr_t caller)
{
	return WF_LIKELY(rc != -EOWNERDEAD) ? rc : wf_channel_report(ch, rc, where, caller);
}

/* Lists a case that has to wait, inside its channel, and takes it off. */
static inline void wf_case_list(struct wf_cases *list, weft_case *c, struct wf_choice *choice)
{
	c->choice_ = choice;
	c->next_ = NULL;
	c->prev_ = list->last;
	if (list->last != NULL)
		list->last->next_ = c;
	else
		list->first = c;
	list->last = c;
	c->listed_ = true;
	if (wf_waiter_is_foreign(&choice->waiter))
		c->channel->foreign++;
	else
		wf_of_run_add(&c->channel->of_run);
}

static inline void wf_case_remove(struct wf_cases *list, weft_case *c)
{
	const struct wf_choice *choice = c->choice_;
	weft_channel *ch = c->channel;

	if (!wf_waiter_is_foreign(&choice->waiter)) {
		wf_of_run_drop(&ch->of_run);
	} else {
		ch->foreign--;
		if (wf_home_waiters_left(&ch->of_run)) {
			c->listed_ = false; /* its neighbours are gone */
			return;
		}
	}
	if (c->prev_ != NULL)
		c->prev_->next_ = c->next_;
	else
		list->first = c->next_;
	if (c->next_ != NULL)
		c->next_->prev_ = c->prev_;
	else
		list->last = c->prev_;
	c->listed_ = false;
}

/* Whether a listed waiter is gone with its run. To be checked before a list of waiters is used. */
static inline bool wf_channel_is_left_over(const weft_channel *ch)
{
	return wf_home_waiters_left(&ch->of_run);
}

/* Whether the caller is the first to claim the choice, one of whose cases is listed.
 * In the home color whoever waits at one channel is of that color, and so is its
 * cancel, which takes it off the list at once: what is listed is not yet claimed. */
static inline bool wf_choice_claim(struct wf_choice *choice, enum wf_home_how how)
{
	if (how == WF_HOME_OWN && choice->count == 1) {
		WF_STORE(&choice->claimed, true);
		return true;
	}
	return !atomic_exchange_explicit(&choice->claimed, true, memory_order_acq_rel);
}

/* Takes the next one off the list that nobody has claimed, and claims it. */
static inline weft_case *wf_case_next(struct wf_cases *list, enum wf_home_how how)
{
	weft_case *c;

	while ((c = list->first) != NULL) {
		wf_case_remove(list, c);
		if (WF_LIKELY(wf_choice_claim(c->choice_, how)))
			return c;
	}
	return NULL;
}

/* The claimed case is over. Returns who is to be woken. */
static inline struct wf_waiter *wf_case_done(weft_case *c, int result)
{
	struct wf_choice *choice = c->choice_;

	c->result = result;
	choice->chosen = c;
	choice->waiter.next = NULL;
	return &choice->waiter;
}

/* Ends all cases of a list with an error, first come first woken. Returns where the
 * chain of those to be woken ends. */
struct wf_waiter **wf_cases_end(struct wf_cases *list, enum wf_home_how how, int error,
				struct wf_waiter **wake);

void wf_choice_cancel(struct wf_wait *wait);

/* `self` is the running thread, or NULL. */
static inline void wf_choice_init(struct wf_choice *choice, struct weft_thread *self,
				  weft_case *cases, size_t count, const char *what)
{
	const void *on = count == 1 ? (const void *)cases->channel : cases;

	wf_waiter_init_as(&choice->waiter, self, what, on, wf_choice_cancel);
	choice->cases = cases;
	choice->count = count;
	atomic_init(&choice->claimed, false);
	choice->chosen = NULL;
}

/* For one case, and one without a stack. */
static inline void wf_choice_init_calling(struct wf_choice *choice, weft_case *c,
					  void (*wake)(struct wf_waiter *w))
{
	wf_choice_init(choice, NULL, c, 1, "event");
	choice->waiter.wake = wake;
}

/* Waits until a case of the choice, which is listed, was done: its index, or why not. */
int wf_choice_wait(struct wf_choice *choice, uint64_t deadline, const char *where);

#endif
