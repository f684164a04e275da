/* Stacks that do not run are unwound to their beginning, with and without frame
 * pointers, and what is no stack harms nobody.
 */
#include "platform/unwind.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "harness/test.h"
#include "platform/context.h"
#include "platform/symbols.h"

enum { SIZE = 256 * 1024, FRAMES = 64, WORDS = 512 };

#ifdef __clang__
#define FRAME __attribute__((noinline))
#define NO_POINTER
#else
#define FRAME __attribute__((noinline, noclone))
#define NO_POINTER __attribute__((optimize("omit-frame-pointer")))
#endif

static struct wf_context here, there;
static char *stack;
static char names[FRAMES][128];
static unsigned count;
static volatile int sink;

/* Notes the names of all frames. */
static void walk(struct wf_unwind u)
{
	count = 0;
	do {
		CHECK(count < FRAMES);
		wf_symbol_print(wf_unwind_place(&u), names[count], sizeof names[count]);
		names[count][strcspn(names[count], "+.")] = '\0';
		count++;
	} while (wf_unwind_step(&u));
}

/* The first frame with this name, at `from` or later. */
static unsigned find(unsigned from, const char *name)
{
	for (unsigned i = from; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	test_fail(__FILE__, __LINE__, "no frame of %s", name);
}

FRAME static void stop_here(void)
{
	wf_context_switch(&there, &here, false);
	sink++;
}

/* Has registers of its own to save, and no frame pointer. */
FRAME NO_POINTER static int plain(int a, int b, int c)
{
	int x = sink + a, y = sink + b, z = sink + c;

	stop_here();
	sink += x;
	sink += y * z;
	return x + y + z;
}

/* Its stack is aligned, and of a size known at run time only: the table needs a
 * calculation to find the caller. */
FRAME NO_POINTER static int aligned(int n)
{
	_Alignas(64) volatile char line[64];
	volatile char *more = __builtin_alloca((size_t)n);

	memset((char *)line, 1, sizeof line);
	more[0] = 2;
	n = plain(n, 2, 3);
	sink += line[5] + more[0];
	return n;
}

FRAME static int recurse(int depth)
{
	int rc = depth > 0 ? recurse(depth - 1) : aligned(100 + sink);

	sink++;
	return rc;
}

static void body(void *unused)
{
	(void)unused;
	wf_context_begun();
	recurse(5);
	wf_context_switch(&there, &here, true);
}

static void start(void)
{
	stack = aligned_alloc(4096, SIZE);
	CHECK(stack != NULL);
	memset(stack, 0, SIZE);
	wf_context_adopt(&here);
	wf_context_init(&there, (uintptr_t)stack, (uintptr_t)stack + SIZE, 0, body, NULL);
}

static struct wf_unwind left(void)
{
	struct wf_unwind u;

	wf_unwind_left(&u, (uintptr_t)there.sp, there.low, there.high);
	return u;
}

TEST(a_flow_that_was_left_is_unwound_to_its_beginning)
{
	struct wf_unwind u;
	unsigned at;

	start();
	u = left();
	CHECK(!wf_unwind_begun(&u));
	wf_context_switch(&here, &there, false);
	u = left();
	CHECK(wf_unwind_begun(&u));
	walk(u);
	at = find(0, "stop_here");
	CHECK_EQ(find(at, "plain"), at + 1);
	CHECK_EQ(find(at, "aligned"), at + 2);
	for (unsigned i = 3; i < 9; i++)
		CHECK_STR(names[at + i], "recurse");
	CHECK_STR(names[at + 9], "body");
	CHECK_STR(names[at + 10], "wf_switch_root");
	CHECK_EQ(count, at + 11);
	/* And it goes on as if nothing had happened. */
	wf_context_switch(&here, &there, false);
}

/* From a signal, through its frame */

static volatile sig_atomic_t caught;

FRAME static void raise_it(void)
{
	raise(SIGUSR1);
	sink++;
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
	struct wf_unwind u;

	(void)signo;
	(void)info;
	wf_unwind_signal(&u, context, there.low, there.high);
	walk(u);
	caught = 1;
}

static void signal_body(void *unused)
{
	(void)unused;
	wf_context_begun();
	raise_it();
	wf_context_switch(&there, &here, true);
}

TEST(a_signal_shows_where_it_came)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	start();
	CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	wf_context_init(&there, (uintptr_t)stack, (uintptr_t)stack + SIZE, 0, signal_body, NULL);
	wf_context_switch(&here, &there, false);
	CHECK_EQ(caught, 1);
	CHECK_EQ(find(find(0, "raise_it"), "signal_body") + 1, find(0, "wf_switch_root"));
	CHECK_EQ(count, find(0, "wf_switch_root") + 1);
}

/* What somebody changes meanwhile */

static uintptr_t garbage(uint64_t *seed, struct wf_unwind *good)
{
	switch (test_random(seed) % 6) {
	case 0:
		return test_random(seed);
	case 1:
		return (uintptr_t)stack + test_random(seed) % (SIZE + 64);
	case 2:
		return ((uintptr_t)stack + test_random(seed) % SIZE) & ~(uintptr_t)15;
	case 3:
		return (uintptr_t)recurse + test_random(seed) % 4096;
	case 4:
		return (uintptr_t)memset + test_random(seed) % 65536;
	default:
		return good->pc + test_random(seed) % 16;
	}
}

/* The sanitizer knows whose stack it is. */
__attribute__((no_sanitize("address"))) static void copy(volatile uintptr_t *to,
							 const volatile uintptr_t *from)
{
	for (int i = 0; i < WORDS; i++)
		to[i] = from[i];
}

__attribute__((no_sanitize("address"))) static void spoil(volatile uintptr_t *word, uintptr_t value)
{
	*word = value;
}

TEST(garbage_is_walked_to_an_end_and_nothing_else_is_read)
{
	uint64_t seed = TEST_SEED;

	start();
	wf_context_switch(&here, &there, false);
	for (int round = 0; round < TEST_SIZE(20000); round++) {
		struct wf_unwind u = left();
		uintptr_t *words = (uintptr_t *)(stack + SIZE) - WORDS;
		uintptr_t saved[WORDS];
		unsigned steps = 0;

		copy(saved, words);
		for (unsigned n = test_random(&seed) % 100; n > 0; n--)
			spoil(&words[test_random(&seed) % WORDS], garbage(&seed, &u));
		u = left();
		if (test_random(&seed) % 2)
			u.pc = garbage(&seed, &u);
		if (test_random(&seed) % 4 == 0)
			u.regs[test_random(&seed) % WF_UNWIND_REGS] = garbage(&seed, &u);
		while (wf_unwind_step(&u))
			CHECK(++steps <= SIZE);
		copy(words, saved);
	}
	wf_context_switch(&here, &there, false);
}

TEST_MAIN
