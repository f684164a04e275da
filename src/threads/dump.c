/* dump.c - threads as text for people: who they are, what they wait for, where.
 *
 * Threads go on while we look. Their records and stacks stay mapped while somebody is
 * inside the gate, so all may be read; what was read counts only if the thread did not
 * run meanwhile, which its count of parkings and its state tell.
 */
#include "threads/dump.h"

#include <execinfo.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"
#include "platform/clock.h"
#include "platform/membarrier.h"
#include "platform/symbols.h"
#include "platform/unwind.h"
#include "scheduler/flow.h"
#include "threads/stats.h"

enum { FRAMES = 32, TITLE = 64, REASON = 128, STACK_TEXT = 3072 };

/* Threads in a dump; in the report of a deadlock, which has room for less. */
enum { LISTED = 100, LISTED_DEADLOCK = 8, DEADLOCK_STACK = 640 };

/* No object lies this low: a smaller number is a descriptor. */
#define LEAST_ADDRESS ((uintptr_t)1 << 22)

/* Stillness */

struct still {
	unsigned state;
	uint32_t parkings;
	uintptr_t sp;
};

/* It says that it does not run a little before it leaves its stack. */
static bool on_its_stack(const weft_thread *t)
{
	for (int i = 0; i < wf_worker_started(); i++)
		if (wf_worker_context(wf_worker_by_id(i)) == &t->context)
			return true;
	return false;
}

/* True if the thread does not run now. */
static WF_NO_TSAN bool still_begin(const weft_thread *t, struct still *s)
{
	*s = (struct still){ .state = WF_LOAD(&t->state), .parkings = WF_LOAD(&t->parkings) };
	atomic_thread_fence(memory_order_acquire);
	s->sp = (uintptr_t)t->context.sp;
	return (s->state == WF_THREAD_PARKED || s->state == WF_THREAD_READY ||
		s->state == WF_THREAD_HOPS) &&
	       !on_its_stack(t);
}

/* True if it has not run since: what was read in between is good. Threads pay nothing
 * for being watched; the barrier on their CPUs is ours to pay. */
static bool still_so(const weft_thread *t, const struct still *s)
{
	struct still now;

	atomic_thread_fence(memory_order_seq_cst);
	if (wf_membarrier_works)
		wf_membarrier();
	return still_begin(t, &now) && now.state == s->state && now.parkings == s->parkings &&
	       now.sp == s->sp;
}

/* Stacks */

/* Of the caller's stack, from the frame that goes on at `from`. */
static size_t own_frames(void *from, uintptr_t *places)
{
	void *frames[FRAMES];
	int count = backtrace(frames, FRAMES), i = 0;
	size_t n = 0;

	while (i < count && frames[i] != from)
		i++;
	/* Return addresses, less one: the calls. */
	for (; i < count; i++)
		places[n++] = (uintptr_t)frames[i] - 1;
	return n;
}

/* SIZE_MAX: it runs. */
static size_t frames_of(const weft_thread *t, uintptr_t *places)
{
	struct wf_unwind u;
	struct still s;
	size_t n = 0;

	if (!still_begin(t, &s))
		return SIZE_MAX;
	wf_unwind_left(&u, s.sp, t->context.low, t->context.high);
	if (!wf_unwind_begun(&u)) {
		places[n++] = (uintptr_t)t->fn;
	} else {
		do
			places[n++] = wf_unwind_place(&u);
		while (n < FRAMES && wf_unwind_step(&u));
	}
	return still_so(t, &s) ? n : SIZE_MAX;
}

WF_NOINLINE void wf_thread_backtrace(const weft_thread *t, char *text, size_t size)
{
	uintptr_t places[FRAMES];
	size_t n = t == wf_thread_self() ? own_frames(__builtin_return_address(0), places)
					 : frames_of(t, places);
	size_t at = 0;

	text[0] = '\0';
	if (n == SIZE_MAX) {
		snprintf(text, size, "\n  (it runs)");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		char name[256], frame[300];
		int length;

		wf_symbol_print(places[i], name, sizeof name);
		length = snprintf(frame, sizeof frame, "\n  #%zu %s", i, name);
		if (length <= 0 || (size_t)length >= size - at)
			break; /* whole frames only */
		memcpy(text + at, frame, (size_t)length + 1);
		at += (size_t)length;
	}
}

/* Reasons */

/* What a parked thread waits for; false: it does not wait. */
static __attribute__((no_sanitize("address", "thread"))) bool read_wait(const weft_thread *t,
									struct wf_wait *copy)
{
	const struct wf_wait *wait = WF_LOAD(&t->wait);
	struct still s;

	if (!still_begin(t, &s) || s.state != WF_THREAD_PARKED)
		return false;
	if (wait == &wf_wait_finish) {
		copy->what = wait->what;
		copy->on = (uintptr_t) * (weft_scope *const volatile *)&t->scope;
		return still_so(t, &s);
	}
	if ((uintptr_t)wait < t->context.low || (uintptr_t)(wait + 1) > t->context.high)
		return false;
	copy->what = *(const char *const volatile *)&wait->what;
	copy->on = *(const volatile uintptr_t *)&wait->on;
	return still_so(t, &s) && copy->what != NULL;
}

static void describe(const struct wf_wait *wait, char *text, size_t size)
{
	uint64_t now = wf_now();

	if (strcmp(wait->what, "sleep") == 0)
		snprintf(text, size, "the end of its sleep in %llu ms",
			 (unsigned long long)(wait->on > now ? wait->on - now : 0) / 1000000);
	else if (wait->on == 0 || wait->on == UINTPTR_MAX)
		snprintf(text, size, "%s", wait->what);
	else if (wait->on < LEAST_ADDRESS)
		snprintf(text, size, "%s of descriptor %lu", wait->what, (unsigned long)wait->on);
	else if (strcmp(wait->what, "join") == 0)
		snprintf(text, size, "join of thread %#lx", (unsigned long)wait->on);
	else
		snprintf(text, size, "%s %#lx", wait->what, (unsigned long)wait->on);
}

void wf_thread_waits_for(const weft_thread *t, char *text, size_t size)
{
	struct wf_wait wait;

	text[0] = '\0';
	if (read_wait(t, &wait))
		describe(&wait, text, size);
}

/* A name that somebody changes meanwhile is a mixture, but ends. */
WF_NO_TSAN void wf_thread_title(const weft_thread *t, char *text, size_t size)
{
	char name[WF_THREAD_NAME];

	for (size_t i = 0; i < sizeof name; i++)
		name[i] = *(const volatile char *)&t->name[i];
	name[sizeof name - 1] = '\0';
	if (name[0] != '\0')
		snprintf(text, size, "thread \"%s\" (%p)", name, (const void *)t);
	else
		snprintf(text, size, "thread %p", (const void *)t);
}

/* Both stay readable, and are pointers to what the program had from its start. A body that has not
 * waited has that of who had the stack before. */
static WF_NO_TSAN const char *start_of(const weft_thread *t)
{
	const char *where = *(const char *const volatile *)&t->event.where_;

	return WF_LOAD(&t->state) == WF_THREAD_SPARE ? NULL : where;
}

bool wf_thread_running(const struct wf_worker *w, char *text, size_t size, const char **where)
{
	bool guard;
	const weft_thread *t =
		wf_stack_find(&wf_thread_stacks, (uintptr_t)wf_worker_context(w), &guard);

	if (t == NULL)
		return false;
	wf_thread_title(t, text, size);
	if (start_of(t) != NULL)
		*where = start_of(t);
	return true;
}

uintptr_t wf_thread_stack_end(uintptr_t sp)
{
	bool guard;
	/* Which is where it ends, whoever has it now. */
	uintptr_t record = (uintptr_t)wf_stack_find(&wf_thread_stacks, sp, &guard);

	return record == 0 || guard ? 0 : record;
}

/* The dump */

struct dump {
	struct wf_text *out;
	unsigned count[WF_THREAD_ENDED + 1]; /* by state */
	unsigned listed;
};

/* One that hops is ready; a spare stack is free, unless a body runs there. */
static WF_NO_TSAN unsigned state_of(const weft_thread *t)
{
	unsigned state = WF_LOAD(&t->state);

	if (state == WF_THREAD_SPARE)
		return *(weft_thread *const volatile *)&t->under == &wf_nobody ? WF_THREAD_FREE
									       : WF_THREAD_RUNNING;
	return state == WF_THREAD_HOPS ? WF_THREAD_READY : state;
}

static void count(void *record, void *arg)
{
	((struct dump *)arg)->count[state_of(record)]++;
}

const char *wf_thread_started(const weft_thread *t)
{
	const char *where = start_of(t);

	if (WF_LOAD(&t->state) == WF_THREAD_SPARE)
		return "(a body that has not waited)";
	return where != NULL ? where : "(internal)";
}

static WF_NO_TSAN weft_color color_of(const weft_thread *t)
{
	return *(const volatile weft_color *)&t->event.color;
}

static void put_state(struct wf_text *out, const weft_thread *t)
{
	static const char *const names[] = { "free", "ready to run", "runs", "waits", "has ended" };
	unsigned state = state_of(t);
	char reason[REASON] = "";

	if (state == WF_THREAD_PARKED)
		wf_thread_waits_for(t, reason, sizeof reason);
	wf_text_put(out, ": %s%s%s", names[state], reason[0] ? " for " : "", reason);
}

static WF_NO_TSAN void put_thread(struct wf_text *out, weft_thread *t)
{
	unsigned state = state_of(t);
	char title[TITLE], stack[STACK_TEXT] = "";

	wf_thread_title(t, title, sizeof title);
	wf_text_put(out, "%s", title);
	put_state(out, t);
	wf_text_put(out, "; color %#llx, started at %s; %zu of %zu bytes of stack used",
		    (unsigned long long)color_of(t), wf_thread_started(t), wf_thread_measure(t),
		    wf_stack_room(&wf_thread_stacks, t->stack_class));
	if (state == WF_THREAD_PARKED || state == WF_THREAD_READY)
		wf_thread_backtrace(t, stack, sizeof stack);
	wf_text_put(out, "%s\n", stack);
}

static void list(void *record, void *arg)
{
	struct dump *d = arg;
	weft_thread *t = record;

	if (d->listed == LISTED || state_of(t) == WF_THREAD_FREE)
		return;
	d->listed++;
	put_thread(d->out, t);
}

void wf_threads_dump(struct wf_text *out)
{
	struct dump d = { .out = out };
	weft_stats_all all;
	unsigned sum = 0;

	wf_thread_stats(&all);
	wf_stack_each(&wf_thread_stacks, count, &d);
	for (unsigned state = WF_THREAD_READY; state <= WF_THREAD_ENDED; state++)
		sum += d.count[state];
	wf_text_put(out,
		    "threads: %u running, %u ready, %u waiting, %u ended and not joined; %llu "
		    "started\n",
		    d.count[WF_THREAD_RUNNING], d.count[WF_THREAD_READY], d.count[WF_THREAD_PARKED],
		    d.count[WF_THREAD_ENDED], (unsigned long long)all.threads_started);
	wf_text_put(out, "stacks: %llu, %llu in use; %llu of %llu bytes used by the deepest seen\n",
		    (unsigned long long)all.stacks, (unsigned long long)all.stacks_used,
		    (unsigned long long)all.stack_most, (unsigned long long)all.stack_room);
	wf_stack_each(&wf_thread_stacks, list, &d);
	if (sum > d.listed)
		wf_text_put(out, "and %u more threads\n", sum - d.listed);
}

/* Deadlocks */

struct deadlock {
	unsigned count, listed;
	char text[LISTED_DEADLOCK * (TITLE + REASON + DEADLOCK_STACK)];
	size_t at;
};

static void add_waiting(void *record, void *arg)
{
	weft_thread *t = record;
	struct deadlock *d = arg;
	char title[TITLE], reason[REASON], stack[DEADLOCK_STACK];
	int n;

	if (WF_LOAD(&t->state) != WF_THREAD_PARKED || d->count++ >= LISTED_DEADLOCK)
		return;
	wf_thread_title(t, title, sizeof title);
	wf_thread_waits_for(t, reason, sizeof reason);
	wf_thread_backtrace(t, stack, sizeof stack);
	n = snprintf(d->text + d->at, sizeof d->text - d->at, "\n%s, started at %s, waits for %s%s",
		     title, wf_thread_started(t), reason[0] ? reason : "something", stack);
	if (n > 0 && (size_t)n < sizeof d->text - d->at)
		d->at += (size_t)n;
	d->listed++;
}

bool wf_threads_deadlocked(void)
{
	struct deadlock d = { 0 };
	char more[32] = "";

	wf_stack_each(&wf_thread_stacks, add_waiting, &d);
	if (d.count > d.listed)
		snprintf(more, sizeof more, "\nand %u more", d.count - d.listed);
	d.text[d.at] = '\0';
	if (d.count > 0)
		wf_report(
			WF_REPORT_MISUSE,
			"deadlock: %u threads wait and nothing is left that could wake them (if "
			"another kernel thread was to do it, keep the run going by weft_hold)%s%s",
			d.count, d.text, more);
	return d.count > 0;
}
