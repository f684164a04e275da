/* weft/tame_code.h - what the code that weft-tame makes is made of. Not for people: the words of
 * weft/tame.h stand for these.
 */
#ifndef WEFT_TAME_CODE_H
#define WEFT_TAME_CODE_H

#pragma GCC system_header /* __VA_OPT__, in what is called C11 and C++17 */

#include <weft/io.h>
#include <weft/scope.h>
#include <weft/trigger.h>

WEFT_BEGIN_DECLS

/* A function: one for each tamed or threaded function, constant. */
typedef struct weft_tame_closure weft_tame_closure;
typedef struct weft_tame_wait_point {
	const char *where; /* "file.tame.c:12" */
	const char *text;  /* "twait(r, i)" */
	/* the events that may end it: "mkevent(x) of file.tame.c:13, given to ask()"; NULL: not known */
	const char *events;
} weft_tame_wait_point;
typedef struct weft_tame_function {
	const char *name;
	const char *where;
	weft_fn *body;       /* goes on with the closure that is its argument; NULL: threaded */
	void (*entry)(void); /* the function itself, as the user calls it */
	const weft_tame_wait_point *waits; /* by state - 1 */
	uint32_t wait_count;
	uint32_t size; /* of the closure */
} weft_tame_function;

/* What every closure begins with. The generated struct goes on with parameters, variables, counters
 * of twait blocks (uint32_t) and events.
 */
struct weft_tame_closure {
	weft_color color_;
	struct weft_tame_rendezvous *rendezvous_; /* that are in use */
	const weft_tame_function *function_;      /* NULL: free */
	uint32_t state_;                          /* 0: begins; else the wait where it goes on */
	uint32_t holds_; /* control, and events of others' rendezvous with slots in here */
};

/* A threaded function's, on the stack of its thread. The counters of blocks that lie in each other
 * lie behind each other. If the thread ends by weft_exit from inside, blocks and function come to
 * their end first. */
typedef struct weft_tame_thread_closure {
	weft_tame_closure c;
	weft_wait wait_; /* generated code says what for, before it waits */
	weft_cleanup cleanup_;
	uint32_t *counter_; /* of the innermost block */
	uint32_t blocks_;   /* that control is in */
	/* The pending events of its blocks, and the rendezvous that it waits for: a cancel of the
	 * thread asks these to end. */
	struct weft_tame_event_apart *events_;
	struct weft_tame_rendezvous *next_of_;
} weft_tame_thread_closure;

/* For generated functions on the line of an mkevent: gcov shall not count that line twice, and nobody warn
 * that a function is used only by what is not used itself. */
#if defined(__has_attribute) && __has_attribute(no_profile_instrument_function)
#define WEFT_TAME_UNCOUNTED_ __attribute__((no_profile_instrument_function, unused))
#else
#define WEFT_TAME_UNCOUNTED_ __attribute__((unused))
#endif

/* A closure for a call of f, or NULL: then weft_tame_refusal says why, and the call ends with the
 * trefused block. Parameters are copied into it, then: if (weft_tame_begins(c)) f__body(c);
 */
#define WEFT_TAME_ELSEWHERE UINT32_MAX /* state_: begins, in another color or thread */
WEFT_API weft_tame_closure *weft_tame_enter(const weft_tame_function *f);
WEFT_API int weft_tame_refusal(const weft_tame_function *f, bool handled);
WEFT_API void weft_tame_begin_elsewhere(weft_tame_closure *c);
static inline bool weft_tame_begins(weft_tame_closure *c)
{
	if (__builtin_expect(c->state_ == 0, 1))
		return true;
	weft_tame_begin_elsewhere(c);
	return false;
}

/* Control leaves the function: for good. The closure is gone then. */
WEFT_API void weft_tame_leave(weft_tame_closure *c);

/* The same for threaded functions. Outside of a thread enter aborts, with a report. */
WEFT_API void weft_tame_thread_enter(weft_tame_thread_closure *t, const weft_tame_function *f);
WEFT_API void weft_tame_thread_leave(weft_tame_thread_closure *t);
static inline void weft_tame_leave_(weft_tame_thread_closure **t)
{
	weft_tame_thread_leave(*t);
}
#define WEFT_TAME_LEAVES_ __attribute__((cleanup(weft_tame_leave_)))

/* A place where mkevent stands, constant. */
enum weft_tame_kind {
	WEFT_TAME_INSIDE, /* of a twait block; it lies in the closure */
	/* Of a twait block, in a loop or in a threaded function, which may hop: has memory of
	 * its own. */
	WEFT_TAME_APART,
	WEFT_TAME_OF_RENDEZVOUS,
	WEFT_TAME_OF_NOBODY,
};
struct weft_tame_site {
	const char *where;
	const char *text;             /* "mkevent(r, i, x)" */
	const char *function;         /* "multidns" */
	const char *given;            /* "weft_resolve_ev", whose argument it is; NULL: of none */
	void (*deliver)(void *event); /* gives the values to the slots; NULL: there are none */
	uint32_t kind;                /* enum weft_tame_kind */
	uint32_t size;                /* of the event */
	uint32_t offset;              /* INSIDE: where it lies in the closure */
	uint32_t join;                /* INSIDE, APART: where the block's counter lies there */
	uint32_t id, id_size;         /* OF_RENDEZVOUS: where its id lies in the event */
};
typedef struct weft_tame_site weft_tame_site;

/* Asks the holder of an event to end it: weft_on_cancel. */
typedef struct weft_tame_hook {
	uint32_t state_, ask_;
	weft_fn *run_;
	void *arg_;
	weft_color color_;
} weft_tame_hook;

/* Events begin with one of these, and go on with slots (pointers), values and the id. The first
 * word is the generated trigger function, which stores the values and calls weft_tame_trigger.
 *	INSIDE: weft_tame_event
 */
typedef struct weft_tame_event_apart {
	weft_tame_event event;
	weft_tame_closure *closure_;
} weft_tame_event_apart;
typedef struct weft_tame_event_of_rendezvous {
	weft_tame_event event;
	struct weft_tame_rendezvous *rendezvous_;
	weft_tame_closure *closure_; /* whose slots it has, if it is held for that; else NULL */
	struct weft_tame_event_of_rendezvous *next_, *prev_;
	weft_color color_;
	weft_tame_hook hook_;
} weft_tame_event_of_rendezvous;

/* The event of any type that nobody waits for, cancelled from the beginning: for adapters that have
 * no memory to make one. */
WEFT_API const void *weft_tame_nobody(void);

/* Whether twait(r) would go on at once. */
#define weft_rendezvous_ready(r) weft_tame_ready_(WEFT_TAME_R(r))

/* In the trigger function, last. */
WEFT_API void weft_tame_trigger(weft_tame_event *e);

/* Fills in an event of a twait block; `trigger` is its trigger function. The APART one is
 * made, with site->size bytes, and counted. The caller counts the INSIDE one: ++*counter. */
#define weft_tame_event_init(e, trigger, site) \
	((e)->trigger_ = (void (*)(void))(trigger), (e)->site_ = (site))
WEFT_API void *weft_tame_event_new(weft_tame_closure *c, const weft_tame_site *site,
				   void (*fn)(void));

/* A rendezvous. rendezvous(I) is an array of the same size, whose type knows I. */
typedef struct weft_tame_rendezvous {
	weft_tame_closure *closure_;           /* where it lies */
	struct weft_tame_rendezvous *next_;    /* of the same closure */
	weft_tame_event_of_rendezvous *armed_; /* not triggered yet; first of a ring */
	weft_tame_event_of_rendezvous *fired_; /* triggered, not waited for yet; last of a ring */
	weft_tame_closure *waiter_;
	const struct weft_tame_rendezvous_site *site_;
} weft_tame_rendezvous;
typedef struct weft_tame_rendezvous_site {
	const char *where;
	const char *name;
} weft_tame_rendezvous_site;
static inline bool weft_tame_ready_(const weft_tame_rendezvous *r)
{
	return r->fired_ != WEFT_NULL_;
}
#define WEFT_TAME_RENDEZVOUS_WORDS 6
/* A pointer to I: a parameter of whatever I is then fits what mkevent looks for. */
#define WEFT_RENDEZVOUS(...) \
	__typeof__(void (*[WEFT_TAME_RENDEZVOUS_WORDS])(struct weft_tame_rendezvous * \
							__VA_OPT__(, __typeof__(__VA_ARGS__) *)))
/* The rendezvous in such an array. */
#define WEFT_TAME_R(r) ((struct weft_tame_rendezvous *)(uintptr_t) & (r))

/* Where its declaration stands, each time. It must not overlay anything in its closure. */
WEFT_API void weft_tame_rendezvous_init(weft_tame_rendezvous *r, weft_tame_closure *c,
					const weft_tame_rendezvous_site *site);

/* An event of r, whose slots lie in c or elsewhere but not on the heap of others. The caller
 * then fills in slots and id. */
WEFT_API void *weft_tame_rendezvous_event(weft_tame_rendezvous *r, weft_tame_closure *c,
					  const weft_tame_site *site, void (*fn)(void));

/* Takes the next triggered event off r, and copies its id to `id` if that is not NULL. False: there is
 * none, and c's body is called again when one is there. */
WEFT_API bool weft_tame_next(weft_tame_rendezvous *r, weft_tame_closure *c, void *id, size_t size);
WEFT_API void weft_tame_rendezvous_cancel(weft_tame_rendezvous *r);
WEFT_API void weft_tame_rendezvous_stop(weft_tame_rendezvous *r);

/* The waits of threaded functions: a twait block's begin, which sets its counter to 1 for the
 * block itself, and its end; and for a rendezvous. They wait. If the thread is cancelled they ask the
 * events that they wait for to end (weft_on_cancel), and return when these have ended. */
WEFT_API void weft_tame_thread_block(weft_tame_thread_closure *t, uint32_t *counter);
WEFT_API WEFT_WAITS void weft_tame_thread_join(weft_tame_thread_closure *t, uint32_t *counter);
WEFT_API WEFT_WAITS void weft_tame_thread_next(weft_tame_thread_closure *t, weft_tame_rendezvous *r,
					       void *id, size_t size);

/* tfork. The generated struct goes on with the event, which is first, the arguments and the result.
 * `call` runs on a thread or the offload pool. `done` runs in the color of the caller of tfork, and
 * triggers the event. The memory is freed after that. On a thread `call` has a scope, which is
 * cancelled if the event is cancelled or asked to end. */
typedef struct weft_tame_fork {
	void (*call)(struct weft_tame_fork *f);
	void (*done)(struct weft_tame_fork *f);
	weft_color color_;
	uint32_t size_;
	bool threaded_, stopped_;
	weft_scope *scope_; /* while `call` has it */
	union {
		weft_work work_;
		weft_timer again_;
	} u_;
} weft_tame_fork;
WEFT_API void *weft_tame_fork_new(size_t size, bool on_thread);
WEFT_API void weft_tame_fork_start(weft_tame_fork *f);

WEFT_END_DECLS

#endif
