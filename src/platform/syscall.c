/* syscall.c - finds out whether returns behind a system call are slow. */
#include "platform/syscall.h"

#include "platform/clock.h"

bool wf_slow_returns;

enum { CALLS = 16, ROUNDS = 64 };

static WF_NOINLINE long plain(void)
{
	return wf_syscall6(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

static WF_NOINLINE long pushed(void)
{
	long r = wf_syscall6(SYS_getppid, 0, 0, 0, 0, 0, 0);

	wf_return_stack_push();
	return r;
}

static uint64_t measure(long (*ask)(void))
{
	uint64_t start = wf_now();

	for (int i = 0; i < CALLS; i++)
		(void)ask();
	return wf_now() - start;
}

static void keep_least(uint64_t *least, uint64_t took)
{
	if (took < *least)
		*least = took;
}

/* Whatever else happens makes a round longer, never shorter. */
static bool measure_returns(void)
{
	uint64_t with = UINT64_MAX, without = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		keep_least(&with, measure(pushed));
		keep_least(&without, measure(plain));
	}
	return with < without * 15 / 16;
}

void wf_syscall_probe(void)
{
	static bool done;

	if (!done)
		wf_slow_returns = measure_returns();
	done = true;
}
