/* fiber.c - coroutines: a context, and a stack that is used again. */
#include "fiber.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(fake, bottom, size) ((void)(fake))
#define __sanitizer_finish_switch_fiber(fake, bottom, size) ((void)(fake))
#endif

enum { STACK_SIZE = 64 * 1024 };

/* Stacks of fibers that ended: schedules are short and many. */
static void *spare_stacks;

/* The fiber that was left by the last switch. */
static struct sim_fiber *left;

static char *stack_get(void)
{
	void *stack = spare_stacks;

	if (stack == NULL)
		return malloc(STACK_SIZE);
	spare_stacks = *(void **)stack;
	return stack;
}

static void stack_put(char *stack)
{
	*(void **)(void *)stack = spare_stacks;
	spare_stacks = stack;
}

/* The thread's own stack is known only once it has been left. */
static void arrive(struct sim_fiber *fiber)
{
	const void *bottom = NULL;
	size_t size = 0;

	__sanitizer_finish_switch_fiber(fiber->fake, &bottom, &size);
	if (left->stack == NULL) {
		left->bottom = bottom;
		left->size = size;
	}
}

/* makecontext passes int arguments only. */
static void entry(unsigned high, unsigned low)
{
	struct sim_fiber *fiber =
		(struct sim_fiber *)((uintptr_t)high << 16 << 16 | (uintptr_t)low);

	arrive(fiber);
	fiber->main(fiber->arg);
	abort();
}

int sim_fiber_init(struct sim_fiber *fiber, void (*main)(void *arg), void *arg)
{
	uintptr_t self = (uintptr_t)fiber;

	*fiber = (struct sim_fiber){ .main = main, .arg = arg };
	fiber->stack = stack_get();
	if (fiber->stack == NULL)
		return -ENOMEM;
	fiber->bottom = fiber->stack;
	fiber->size = STACK_SIZE;
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = STACK_SIZE;
	makecontext(&fiber->context, (void (*)(void))entry, 2, (unsigned)(self >> 16 >> 16),
		    (unsigned)self);
	return 0;
}

void sim_fiber_fini(struct sim_fiber *fiber)
{
	if (fiber->stack != NULL)
		stack_put(fiber->stack);
	fiber->stack = NULL;
}

void sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to)
{
	left = from;
	__sanitizer_start_switch_fiber(&from->fake, to->bottom, to->size);
	swapcontext(&from->context, &to->context);
	arrive(from);
}
