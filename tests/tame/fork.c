/* Calls that block, as events: on the offload pool or a thread, whatever is lacking. */
#include "handmade.h"

#include "base/fault.h"

/* What tfork(e, square(x)) becomes. */
struct square_fork {
	weft_tame_fork f;
	int_event e;
	int x;
	int result;
	char more[];
};

static weft_color hop_to;
static bool hops;
static _Atomic int on_worker;

static int square(int x)
{
	atomic_store(&on_worker, weft_worker_current() >= 0);
	if (hops)
		CHECK_EQ(weft_hop(hop_to), 0);
	return x * x;
}

static void square_call(weft_tame_fork *f)
{
	struct square_fork *s = (struct square_fork *)f;

	s->result = square(s->x);
}

static _Atomic weft_color done_in;

static void square_done(weft_tame_fork *f)
{
	struct square_fork *s = (struct square_fork *)f;

	atomic_store(&done_in, weft_color_current());
	weft_trigger(s->e, s->result);
}

static void fork_square(int_event e, int x, bool on_thread, size_t more)
{
	struct square_fork *s = weft_tame_fork_new(sizeof *s + more, on_thread);

	s->f.call = square_call;
	s->f.done = square_done;
	s->e = e;
	s->x = x;
	memset(s->more, 1, more);
	weft_tame_fork_start(&s->f);
}

static int_event made[MADE_MAX];
static _Atomic int result;

static int one_fork(void *on_thread)
{
	CHECK_EQ(weft_hop(5), 0);
	for (size_t more = 0; more < 100000; more = more * 8 + 100) {
		atomic_store(&result, 0);
		sum(1, made, &result);
		fork_square(made[0], 7, on_thread != NULL, more);
		YIELD_UNTIL(atomic_load(&result) != 0);
		CHECK_EQ(atomic_load(&result), 49);
		CHECK_EQ(atomic_load(&on_worker), on_thread != NULL);
		CHECK_EQ(atomic_load(&done_in), 5);
	}
	YIELD_UNTIL(events() == 0);
	return 0;
}

TEST(a_call_on_the_pool_is_an_event)
{
	for (int workers = 1; workers <= 2; workers++)
		CHECK_EQ(run_on(workers, one_fork, NULL), 0);
}

TEST(a_call_on_a_thread_is_an_event)
{
	for (int workers = 1; workers <= 2; workers++)
		CHECK_EQ(run_on(workers, one_fork, ""), 0);
}

TEST(a_call_on_a_thread_may_hop)
{
	hops = true;
	hop_to = 8;
	for (int workers = 1; workers <= 2; workers++)
		CHECK_EQ(run_on(workers, one_fork, ""), 0);
}

/* Whatever fails, each is called and told of once. */
static long nth;
static const char *failed;

enum { FORKS = 8 };

static int some_forks(void *on_thread)
{
	wf_fault_arm(nth);
	atomic_store(&result, 0);
	sum(FORKS, made, &result);
	for (int i = 0; i < FORKS; i++)
		fork_square(made[i], i, on_thread != NULL, 0);
	YIELD_UNTIL(atomic_load(&result) != 0);
	YIELD_UNTIL(events() == 0);
	failed = wf_fault_site();
	wf_fault_arm(0);
	return atomic_load(&result);
}

static void fail_each(void *on_thread)
{
	long failures = -1;

	/* The first call of a tamed function can be refused; that is another test. */
	CHECK_EQ(run_on(1, some_forks, on_thread), 140);
	catch_reports();
	for (nth = 1; failures < 0 || failed != NULL; nth++) {
		CHECK_EQ(run_on(1, some_forks, on_thread), 140);
		failures++;
	}
	CHECK(failures > 0);
}

TEST(a_call_on_the_pool_is_made_whatever_fails_first)
{
	fail_each(NULL);
}

TEST(a_call_on_a_thread_is_made_whatever_fails_first)
{
	fail_each("");
}

/* The run ends while a call is under way. */
static _Atomic int stage;

static void slow_call(weft_tame_fork *f)
{
	struct square_fork *s = (struct square_fork *)f;

	atomic_store(&stage, 1);
	WAIT_FOR(atomic_load(&stage) == 2);
	s->result = s->x + s->more[0];
}

static void *let_it_end(void *unused)
{
	(void)unused;
	while (weft_workers() > 0)
		sched_yield();
	atomic_store(&stage, 2);
	return NULL;
}

static pthread_t ender;

static int stop_meanwhile(void *more)
{
	struct square_fork *s = weft_tame_fork_new(sizeof *s + (size_t)(uintptr_t)more, false);

	sum(1, made, &result);
	s->f.call = slow_call;
	s->f.done = square_done;
	s->e = made[0];
	s->x = 1;
	memset(s->more, 1, (size_t)(uintptr_t)more);
	weft_tame_fork_start(&s->f);
	YIELD_UNTIL(atomic_load(&stage) == 1);
	ender = thread_start(let_it_end, NULL);
	return weft_stop();
}

TEST(a_call_may_be_under_way_when_the_run_ends)
{
	for (int i = 0; i < 2; i++) {
		atomic_store(&stage, 0);
		CHECK_EQ(run_on(1, stop_meanwhile, (void *)(uintptr_t)(i == 0 ? 8 : 50000)), 0);
		thread_join(ender);
	}
}

TEST_MAIN
