/* fiber.h - coroutines for virtual cores, announced to AddressSanitizer.
 *
 * ucontext, because it needs no assembly: a switch costs a system call, which is
 * still a million small schedules in minutes.
 */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stddef.h>
#include <ucontext.h>

struct sim_fiber {
	ucontext_t context;
	char *stack; /* NULL: the thread's own */
	void (*main)(void *arg);
	void *arg;
	/* AddressSanitizer's. */
	void *fake;
	const void *bottom;
	size_t size;
};

/* A fiber that will run main(arg), which must never return. 0 or -ENOMEM. */
int sim_fiber_init(struct sim_fiber *fiber, void (*main)(void *arg), void *arg);
/* Of a fiber that will not run again. */
void sim_fiber_fini(struct sim_fiber *fiber);

/* Goes on with `to`; returns when somebody switches to `from`. */
void sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to);

#endif
