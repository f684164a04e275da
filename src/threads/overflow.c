/* overflow.c - tells the user of a thread that ran off its stack.
 *
 * In a signal handler, from which the process will not come back: nothing here takes
 * memory or goes through the user's report function. Names of functions are looked up
 * last, when all else is said, as the program may be in a state that breaks it.
 */
#include "threads/overflow.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "platform/symbols.h"
#include "platform/unwind.h"
#include "threads/dump.h"

/* Frames shown: the innermost, and the outermost. */
enum { INNER = 8, OUTER = 4, MOST_FRAMES = 100000 };

static WF_PRINTF(1, 2) void say(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (n > 0)
		(void)!write(STDERR_FILENO, line,
			     (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

static unsigned count_frames(struct wf_unwind u)
{
	unsigned n = 1;

	while (n < MOST_FRAMES && wf_unwind_step(&u))
		n++;
	return n;
}

static void show_frames(struct wf_unwind u, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char name[256];

		if (i < INNER || i + OUTER >= count) {
			wf_symbol_print(wf_unwind_place(&u), name, sizeof name);
			say("  #%u %s\n", i, name);
		} else if (i == INNER) {
			say("  ...\n");
		}
		if (!wf_unwind_step(&u))
			break;
	}
}

void wf_thread_overflowed(void *record, uintptr_t addr, const void *context)
{
	const weft_thread *t = record;
	struct wf_unwind u;
	bool guard, own;
	char title[64];
	unsigned frames;

	wf_unwind_signal(&u, context, t->context.low, t->context.high);
	/* Or a wild pointer of somebody else. */
	own = wf_stack_find(&wf_thread_stacks, wf_unwind_sp(&u), &guard) == record;
	wf_thread_title(t, title, sizeof title);
	if (!own) {
		say("weft: somebody wrote to %#lx, below the stack of %s\n", (unsigned long)addr,
		    title);
		return;
	}
	frames = count_frames(u);
	say("weft: stack overflow: %s, started at %s, has used all %zu bytes of its stack, in %u "
	    "frames; if it is no endless recursion give it more, by weft_thread_attr.stack_size or "
	    "WEFT_STACK_SIZE\n",
	    title, wf_thread_started(t), wf_stack_room(&wf_thread_stacks, t->stack_class), frames);
	show_frames(u, frames);
}
