/* context.c - the beginning of a flow of control. */
#include "platform/context.h"

#include <string.h>
#ifdef WF_ASAN
#include <sanitizer/asan_interface.h>
#endif

#include "platform/backtrace.h"

void wf_switch_root(void);

/* What wf_switch finds when the flow is first switched to. */
#if defined(__x86_64__)
struct frame {
	uintptr_t entry, arg; /* rbx, rbp */
	uintptr_t go_on;
	uintptr_t end[2]; /* at a multiple of 16, as a call wants it */
};
#elif defined(__aarch64__)
struct frame {
	uint64_t d[8];
	uintptr_t entry, arg; /* x19, x20 */
	uintptr_t x[9], go_on;
};
#endif

void wf_context_init(struct wf_context *c, uintptr_t low, uintptr_t high, size_t room,
		     void (*entry)(void *arg), void *arg)
{
	struct frame *f = (struct frame *)((high - room) & ~(uintptr_t)15) - 1;

#if defined(WF_ASAN)
	/* Frames of a flow that ended there without returning. */
	__asan_unpoison_memory_region((void *)low, high - low);
#endif
	f->entry = (uintptr_t)entry;
	f->arg = (uintptr_t)arg;
	f->go_on = (uintptr_t)wf_switch_root;
	c->sp = f;
	/* Dumps read these two at any time: those of a stack are always the same. */
	c->low = low;
	c->high = high - room;
	c->caught = NULL;
	c->uncaught = 0;
#if defined(WF_ASAN)
	c->sanitizer = NULL;
#elif defined(WF_TSAN)
	c->sanitizer = __tsan_create_fiber(0);
#endif
}

void wf_context_fini(struct wf_context *c)
{
#if defined(WF_TSAN)
	__tsan_destroy_fiber(c->sanitizer);
#else
	(void)c;
#endif
}

void wf_context_adopt(struct wf_context *c)
{
	memset(c, 0, sizeof *c);
	wf_backtrace_stack(&c->low, &c->high);
#if defined(WF_TSAN)
	c->sanitizer = __tsan_get_current_fiber();
#endif
}
