/* tame.tame.c - Tame's small functions (section 8.2 of its paper), and closures by the million. */
#include <stdlib.h>

#include <weft/tame.h>
#include <weft/tame_events.h>
#include <weft/weft.h>

#include "tame.h"

const char *const tame_missing;

static __attribute__((noinline)) tamed nullfn(void)
{
	int i = 0;

	i++;
	__asm__ volatile("" : : "r"(i));
}

static int null_calls(long rounds)
{
	for (long i = 0; i < rounds; i++)
		nullfn();
	return 0;
}

static tamed satisfied(long rounds, event() done)
{
	for (long i = 0; i < rounds; i++) {
		event() e;

		twait
		{
			e = mkevent();
			trigger(e);
		}
	}
	trigger(done);
}

/* The hop of an event loop. */
static void fire(void *e)
{
	weft_trigger((WEFT_EVENT())e);
}

static void fire_soon(event() e)
{
	weft_post(WEFT_MAIN, fire, (void *)(uintptr_t)e);
}

static tamed benchfn(long rounds, event() done)
{
	for (long i = 0; i < rounds; i++)
		twait
		{
			fire_soon(mkevent());
		}
	trigger(done);
}

static tamed benchfn_rendezvous(long rounds, event() done)
{
	rendezvous() r;

	for (long i = 0; i < rounds; i++) {
		fire_soon(mkevent(r));
		twait(r);
	}
	trigger(done);
}

static tamed timer(long rounds, event() done)
{
	for (long i = 0; i < rounds; i++)
		twait
		{
			weft_sleep_ev(0, mkevent());
		}
	trigger(done);
}

static tamed timer_rendezvous(long rounds, event() done)
{
	rendezvous() r;

	for (long i = 0; i < rounds; i++) {
		weft_sleep_ev(0, mkevent(r));
		twait(r);
	}
	trigger(done);
}

static tamed child(event() done)
{
	twait
	{
		fire_soon(mkevent());
	}
	trigger(done);
}

static tamed children(long rounds, event() done)
{
	for (long i = 0; i < rounds; i++)
		twait
		{
			child(mkevent());
		}
	trigger(done);
}

static threaded void noop_thread(void) {}

static void noop(void) {}

static tamed forks(long rounds, bool offload, event() done)
{
	for (long i = 0; i < rounds; i++)
		twait
		{
			if (offload)
				tfork(mkevent(), noop());
			else
				tfork(mkevent(), noop_thread());
		}
	trigger(done);
}

static threaded int run(tamed (*f)(long rounds, event() done), long rounds)
{
	twait
	{
		f(rounds, mkevent());
	}
	return 0;
}

static int run_satisfied(long rounds)
{
	return run(satisfied, rounds);
}

static int run_benchfn(long rounds)
{
	return run(benchfn, rounds);
}

static int run_benchfn_rendezvous(long rounds)
{
	return run(benchfn_rendezvous, rounds);
}

static int run_timer(long rounds)
{
	return run(timer, rounds);
}

static int run_timer_rendezvous(long rounds)
{
	return run(timer_rendezvous, rounds);
}

static int run_children(long rounds)
{
	return run(children, rounds);
}

static threaded int run_forks(long rounds, bool offload)
{
	twait
	{
		forks(rounds, offload, mkevent());
	}
	return 0;
}

static int run_fork_thread(long rounds)
{
	return run_forks(rounds, false);
}

static int run_fork_offload(long rounds)
{
	return run_forks(rounds, true);
}

/* Closures that wait: each for a number, as a connection waits for a message. */
typedef event(int) number_event;
static number_event *waiting;
static long waiting_count;

static tamed wait_for_number(long i, int *sum)
{
	int n;

	twait
	{
		waiting[i] = mkevent(n);
	}
	*sum += n;
}

static int sum;

static void wait_all(long count)
{
	waiting = calloc((size_t)count, sizeof waiting[0]);
	if (waiting == NULL)
		return;
	waiting_count = count;
	for (long i = 0; i < count; i++)
		wait_for_number(i, &sum);
}

static void wake_all(void)
{
	for (long i = 0; i < waiting_count; i++)
		trigger(waiting[i], 1);
}

const struct tame_bench tame_bench = {
	.nullfn = null_calls,
	.satisfied = run_satisfied,
	.benchfn = run_benchfn,
	.benchfn_rendezvous = run_benchfn_rendezvous,
	.timer = run_timer,
	.timer_rendezvous = run_timer_rendezvous,
	.child = run_children,
	.fork_thread = run_fork_thread,
	.fork_offload = run_fork_offload,
	.wait_all = wait_all,
	.wake_all = wake_all,
};
