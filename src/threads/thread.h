/* thread.h - the inside of threads: their record, and how they stop and go on.
 *
 * Terms. A thread is ready while its event is queued, running while a worker is on
 * its stack, parked while neither. It goes on by its event, like everything in a
 * color, and that is why parking needs no protocol: whoever wakes a thread posts
 * its event in its color, and the worker that runs the thread owns the color until
 * it has left the stack. (A thread that hops leaves its color before it is posted
 * in the other: the worker posts it after the switch.)
 *
 * Nothing kept from before wf_park is good after it but the thread itself: the
 * worker, and with it every thread-local variable, may be another.
 */
#ifndef WF_THREAD_H
#define WF_THREAD_H

#include <weft/scope.h>
#include <weft/thread.h>

#include "platform/context.h"
#include "platform/stack.h"
#include "scheduler/scheduler.h"
#include "threads/wait.h"

enum wf_thread_state {
	WF_THREAD_FREE, /* no thread: the stack is free */
	WF_THREAD_READY,
	WF_THREAD_RUNNING,
	WF_THREAD_PARKED,
	WF_THREAD_ENDED, /* waits to be joined */
	WF_THREAD_HOPS,  /* posted in another color, where it has not run yet */
	WF_THREAD_SPARE, /* a stack for a body that may begin any time: body.h */
};

/* In weft_thread.bond: who frees the record when the thread has ended. Anything
 * else is the thread that joins it, or, with WF_THREAD_TELL, an event to be posted. */
enum wf_thread_bond {
	WF_THREAD_JOINABLE,
	WF_THREAD_DETACHED,
	WF_THREAD_OVER,  /* it has ended: whoever joins or detaches it frees it */
	WF_THREAD_TAKEN, /* it has ended, and somebody is about to free it */
	WF_THREAD_BONDS,
};

#define WF_THREAD_TELL ((uintptr_t)1)

/* What is left to do for a thread when its stack was left. */
enum wf_thread_errand {
	WF_ERRAND_NONE,
	WF_ERRAND_HOP, /* post it in the color `hop` */
	WF_ERRAND_END,
};

/* What is special about a body (body.h). All zeros: nothing, it has not waited yet. */
enum wf_body_flag {
	WF_BODY_PARTED = 1, /* it has waited: who started it goes on without it */
	WF_BODY_UNTIDY = 2, /* something is to be done when it returns */
	WF_BODY_EXTRA = 4,  /* its stack is freed then, and not kept for the next */
};

/* Where the kick of a thread is, which tells it that a scope was cancelled. */
enum wf_kick {
	WF_KICK_NONE,
	WF_KICK_POSTED,
	WF_KICK_RUNS,
	WF_KICK_AGAIN, /* it runs, and there is something new */
};

enum { WF_THREAD_NAME = 16 };

/* Lies at the high end of its stack. tools/weft-gdb.py reads it. */
struct weft_thread {
	struct wf_stack_item item; /* the stack pool's while it is free */
	struct wf_context context;
	weft_event event; /* resumes it; its color is the thread's */
	/* body_x86_64.S and its like know where the fields are down to here. */
	struct wf_worker *worker; /* where it runs, or ran last */
	weft_thread *under;       /* body.h */
	weft_thread *next_spare;
	weft_scope *scope;      /* the innermost that it is in, or NULL */
	uint8_t body;           /* enum wf_body_flag */
	_Atomic uint8_t kicked; /* enum wf_kick; both are looked at as one */
	_Atomic uint8_t state;
	uint8_t stack_class;
	uint8_t errand;
	uint8_t answers;              /* calls in a row that did not wait: call.c */
	_Atomic uint8_t in_vain;      /* trim.c: trims in a row that gave nothing back */
	bool settles;                 /* it waits for its kick, to end */
	_Atomic uint32_t parkings;    /* counts them */
	struct wf_wait *_Atomic wait; /* why it is parked, while it is */
	/* Each wait and resume touches what is above, in three lines of the cache; the end
	 * of most bodies what is in the fourth. */
	_Atomic uintptr_t bond;
	unsigned slots_count;
	int result;
	/* src/async: the scope that it belongs to, once it is in its list; what is to be done
	 * when one is cancelled. */
	weft_scope *member;
	weft_thread *member_next, *member_prev;
	weft_cancel_item *items;
	char name[WF_THREAD_NAME];
	_Atomic uint32_t seen;    /* trim.c: the count when it was last looked at, */
	_Atomic uint32_t trimmed; /* and when it was trimmed */
	weft_thread_fn *fn;
	void *arg;
	weft_color hop; /* where to, while it hops */
	struct wf_slot *slots;
	weft_cleanup *cleanups;
	/* src/async: an event that tells it, in its color, that a scope was cancelled; a list
	 * of those who are told at once. */
	weft_event kick;
	weft_thread *told;
#ifdef WEFT_DEBUG
	void *held; /* locks.c: the locks that it holds */
#endif
};

/* The running thread, or NULL. Where a function may switch it is not to be read by
 * its name but by wf_thread_self, as compilers keep the address. */
extern _Thread_local struct weft_thread *wf_thread_current
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
weft_thread *wf_thread_self(void);

/* Whether a wait of the thread would be cancelled. */
static inline bool wf_thread_cancelled(const weft_thread *t)
{
	return t->scope != NULL &&
	       WF_UNLIKELY(__atomic_load_n(&t->scope->cancelled_, __ATOMIC_RELAXED));
}

/* In a forked child: the thread that forked. It has no runtime any more, and is not
 * wf_thread_current. */
extern struct weft_thread *wf_thread_forked;

/* Whether the caller may wait: 0, -EPERM (no thread) or -ESHUTDOWN (a forked child). */
static inline int wf_wait_allowed(void)
{
	return WF_LIKELY(wf_thread_current != NULL) ? 0 : wf_wait_refused();
}

/* weft_thread_start for callers that are inside the gate. */
int wf_thread_start(weft_thread **thread, const weft_thread_attr *attr, weft_thread_fn *fn,
		    void *arg, const char *where);

/* Joins t without a stack: `ended` is posted when it has ended (-EAGAIN), or it has (0), or
 * -EINVAL or -EBUSY as weft_join. Then it is the caller's: wf_join_end frees it and tells its
 * result, or wf_join_put_back leaves it to who joins it next. wf_join_stop: false if ended was
 * posted. On a worker. */
int wf_join_begin(weft_thread *t, weft_event *ended);
bool wf_join_stop(weft_thread *t, weft_event *ended);
int wf_join_end(weft_thread *t);
void wf_join_put_back(weft_thread *t);

/* Nobody: the `under` of threads that have none. */
extern const struct weft_thread wf_nobody;

/* For body.c. Makes a thread that nobody has posted, with so much room above its first
 * frame; frees one that was never used; ends the running one. */
weft_thread *wf_thread_make_body(struct wf_worker *w, weft_thread_fn *fn, void *arg, size_t room,
				 int *err);
void wf_thread_free_spare(struct wf_worker *w, weft_thread *t);
void wf_thread_end(weft_thread *t, int result);
/* The rest of it, when it has left its scope, whose owner goes on; NULL: that does not. */
void wf_thread_end_for(weft_thread *t, weft_thread *owner);

/* Stops the running thread until somebody wakes it (wf_thread_wake, or an event
 * whose run is wf_thread_resume and whose arg is the thread, in its color). `wait`
 * says what for. Returns only then: there are no spurious wake-ups. The wake may
 * come before the call. */
WF_WAITS void wf_park(struct wf_wait *wait);

/* Posts the event of a parked thread. Exactly one wake for each park, from any
 * thread inside the gate; never fails. No lock above WF_RANK_COLOR may be held. */
void wf_thread_wake(weft_thread *t);

/* What events run that resume a thread. */
void wf_thread_resume(void *thread);

/* The caller is in a forked child. */
void wf_threads_forked(void);

/* Destructors of the thread's slots, at its end. */
void wf_slots_end(weft_thread *t);

/* All stacks, and so all threads. */
extern struct wf_stacks wf_thread_stacks;

#endif
