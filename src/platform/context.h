/* context.h - one flow of control on a stack, and the switch between two.
 *
 * wf_switch leaves a stack and goes on where another was left. What the C++ library
 * and the sanitizers keep per kernel thread, though it belongs to a flow, is
 * exchanged or announced here: by wf_exceptions_exchange, which comes first, and by
 * wf_context_switch.
 */
#ifndef WF_CONTEXT_H
#define WF_CONTEXT_H

#include "base/compiler.h"
#if defined(__x86_64__)
#include "platform/switch_x86_64.h"
#elif defined(__aarch64__)
#include "platform/switch_aarch64.h"
#endif

#if defined(WF_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(WF_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

struct wf_context {
	void *sp;            /* while it does not run */
	uintptr_t low, high; /* its stack */
	/* Exceptions that are being handled. */
	void *caught;
	unsigned uncaught;
	void *sanitizer; /* what one knows it by */
};

/* Makes a flow that, when first switched to, calls entry(arg) on the stack
 * [low, high), below `room` bytes that are left free. entry calls wf_context_begun first, and
 * never returns. */
void wf_context_init(struct wf_context *c, uintptr_t low, uintptr_t high, size_t room,
		     void (*entry)(void *arg), void *arg);
/* It will not be switched to again. */
void wf_context_fini(struct wf_context *c);

/* Makes `c` stand for the calling kernel thread's own flow. */
void wf_context_adopt(struct wf_context *c);

/* What the Itanium C++ ABI says of __cxa_eh_globals. */
struct wf_exceptions {
	void *caught;
	unsigned uncaught;
};
/* Only in programs that have a C++ library. */
extern struct wf_exceptions *__cxa_get_globals(void) __attribute__((weak));
extern void __cxa_end_catch(void) __attribute__((weak));

/* `e` is the kernel thread's; NULL: there is no C++. A flow that runs, or has ended, has
 * nothing kept in its context. */
static WF_INLINE void wf_exceptions_exchange(struct wf_exceptions *e, struct wf_context *from,
					     struct wf_context *to)
{
	if (e == NULL)
		return;
	from->caught = e->caught;
	from->uncaught = e->uncaught;
	e->caught = to->caught;
	e->uncaught = to->uncaught;
	if (WF_UNLIKELY(e->caught != NULL || e->uncaught != 0)) {
		to->caught = NULL;
		to->uncaught = 0;
	}
}

/* For a flow that ends where it is: leaves the handlers that it is in. */
static inline void wf_exceptions_leave(struct wf_exceptions *e)
{
	if (e == NULL)
		return;
	while (e->caught != NULL)
		__cxa_end_catch();
	e->uncaught = 0;
}

/* The first thing that a new flow does. */
static inline void wf_context_begun(void)
{
#if defined(WF_ASAN)
	__sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

/* Says to sanitizers that the caller leaves `from` for `to`. */
static WF_INLINE void wf_context_announce(struct wf_context *from, struct wf_context *to, bool ends)
{
#if defined(WF_ASAN)
	__sanitizer_start_switch_fiber(ends ? NULL : &from->sanitizer, (void *)to->low,
				       to->high - to->low);
#elif defined(WF_TSAN)
	__tsan_switch_to_fiber(to->sanitizer, 0);
#endif
	(void)from, (void)to, (void)ends;
}

/* Leaves `from`, which is the caller's flow, and goes on in `to`. Returns when
 * somebody switches to `from`; never, if it `ends`. */
static WF_INLINE void wf_context_switch(struct wf_context *from, struct wf_context *to, bool ends)
{
	wf_context_announce(from, to, ends);
	wf_switch(&from->sp, to->sp);
#if defined(WF_ASAN)
	__sanitizer_finish_switch_fiber(from->sanitizer, NULL, NULL);
#endif
}

/* The same where it is known that `from` ends: nothing is kept of it. */
static WF_INLINE _Noreturn void wf_context_leave(struct wf_context *from, struct wf_context *to)
{
	wf_context_announce(from, to, true);
	wf_switch_last(to->sp);
}

#endif
