/* syscall.c - finds out whether returns behind a system call are slow. */
#include "platform/syscall.h"

#include "platform/clock.h"

bool wf_slow_returns;

enum { CALLS = 64, ROUNDS = 48, WINS = 6 };

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

/* Another thread of the same core may hide the difference for a while, but never
 * makes one where there is none. */
static bool measure_returns(void)
{
	int wins = 0;

	for (int i = 0; i < ROUNDS && wins < WINS; i++)
		wins += measure(pushed) < measure(plain) * 7 / 8;
	return wins == WINS;
}

void wf_syscall_probe(void)
{
	static bool done;

	if (!done)
		wf_slow_returns = measure_returns();
	done = true;
}
