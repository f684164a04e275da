/* Threads that are cancelled while they wait for events, by chance: holders in other colors and on the
 * offload pool set hooks early, late, again or never, trigger or give back when they are asked, or
 * before; and threads cancel what they asked to end. Each event of a block has ended when its thread
 * goes on, no slot changes after a cancel, nothing is reported and nothing is left.
 *
 * WEFT_TEST_EVENTS is the number of rounds, for long runs.
 */
#include "tame/common.h"

#include <errno.h>
#include <stdio.h>

#include "tame/tame.h"
#include "threads/blocking.h"

enum { THREADS = 6, EVENTS = 8, COLORS = 5, MINE = 9, CAME = 1 };

/* What a holder does. */
enum {
	HOOKS = 1,      /* before anything else; else it is never asked */
	HOOKS_LATE = 2, /* after some steps */
	HOOKS_TWICE = 4,
	WAITS = 8,  /* until it is asked */
	DROPS = 16, /* when it is asked */
	ON_POOL = 32,
	PLANS = 64,
};

struct job {
	event(int) e;
	weft_color color;
	unsigned plan, steps;
	bool hooked, gone;
	weft_work work;
};

static atomic_int jobs, by_request, by_itself;

static void free_job(struct job *j)
{
	free(j);
	atomic_fetch_sub(&jobs, 1);
}

static void asked(void *arg)
{
	struct job *j = arg;

	if (j->plan & HOOKS_TWICE) {
		j->plan &= ~(unsigned)HOOKS_TWICE;
		weft_on_cancel(j->e, asked, j);
		return;
	}
	atomic_fetch_add(&by_request, 1);
	if (j->plan & DROPS)
		weft_event_drop(j->e);
	else
		trigger(j->e, -ECANCELED);
	j->gone = true;
	if (j->steps == 0)
		free_job(j);
}

static void set_hook(struct job *j)
{
	j->hooked = true;
	weft_on_cancel(j->e, asked, j);
}

static void next_step(void *arg)
{
	struct job *j = arg;

	if (--j->steps > 0) {
		CHECK_EQ(weft_post(j->color, next_step, j), 0);
		return;
	}
	if (j->gone) {
		free_job(j);
		return;
	}
	if ((j->plan & HOOKS_LATE) && !j->hooked)
		set_hook(j);
	if (j->hooked && (j->plan & WAITS))
		return;
	atomic_fetch_add(&by_itself, 1);
	trigger(j->e, CAME);
	free_job(j);
}

static int trigger_on_pool(void *arg)
{
	trigger(((struct job *)arg)->e, CAME);
	return 0;
}

static void pool_done(void *arg)
{
	free_job(arg);
}

static void begin_job(void *arg)
{
	struct job *j = arg;

	if (j->plan & ON_POOL) {
		weft_work_init(&j->work, j->color, pool_done, j);
		CHECK_EQ(weft_work_start(&j->work, trigger_on_pool), 0);
		return;
	}
	if (j->plan & HOOKS)
		set_hook(j);
	CHECK_EQ(weft_post(j->color, next_step, j), 0);
}

static void job(uint64_t *random, event(int) e)
{
	struct job *j = malloc(sizeof *j);

	*j = (struct job){ .e = e };
	j->color = MINE + test_random(random) % COLORS;
	j->plan = (unsigned)(test_random(random) % PLANS);
	if (test_random(random) % 8 != 0)
		j->plan &= ~(unsigned)ON_POOL;
	j->steps = 1 + (unsigned)(test_random(random) % 4);
	atomic_fetch_add(&jobs, 1);
	if (test_random(random) % 4 == 0) {
		j->color = weft_color_current();
		begin_job(j);
	} else {
		CHECK_EQ(weft_post(j->color, begin_job, j), 0);
	}
}

static void check_slots(const int *x)
{
	for (int i = 0; i < EVENTS; i++)
		CHECK(x[i] == CAME || x[i] == -ECANCELED || x[i] == i + 9);
}

static void clear(int *x)
{
	for (int i = 0; i < EVENTS; i++)
		x[i] = i + 9;
}

static threaded int wait_for_all(uint64_t *random)
{
	int x[EVENTS];

	clear(x);
	twait {
		for (int i = 0; i < EVENTS; i++)
			job(random, mkevent(x[i]));
		if (test_random(random) % 2)
			CHECK_EQ(weft_hop(weft_color_new()), 0);
	}
	check_slots(x);
	return 0;
}

static threaded int wait_for_some(uint64_t *random)
{
	rendezvous(int) r;
	int x[EVENTS], before[EVENTS], i, wanted = (int)(test_random(random) % (EVENTS + 1));

	clear(x);
	for (i = 0; i < EVENTS; i++)
		job(random, mkevent(r, i, x[i]));
	for (int count = 0; count < wanted; count++) {
		twait(r, i);
		CHECK(i >= 0 && i < EVENTS);
	}
	rv_cancel(r);
	memcpy(before, x, sizeof x);
	check_slots(x);
	for (i = 0; i < 5; i++)
		weft_yield();
	CHECK(memcmp(before, x, sizeof x) == 0);
	return 0;
}

static int wait_often(void *seed)
{
	uint64_t random = (uint64_t)(uintptr_t)seed;

	for (int i = 0; i < 3; i++) {
		(void)(test_random(&random) % 2 ? wait_for_all : wait_for_some)(&random);
		if (test_random(&random) % 2)
			CHECK_EQ(weft_hop(MINE + test_random(&random) % COLORS), 0);
	}
	return 0;
}

static void ignore_text(const char *text, void *unused)
{
	(void)text;
	(void)unused;
}

static void one_round(uint64_t *random)
{
	weft_scope s;

	weft_scope_begin(&s);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(weft_go_on(MINE + test_random(random) % (2 * COLORS), wait_often,
				    (void *)(uintptr_t)test_random(random)),
			 0);
	if (test_random(random) % 4 == 0)
		CHECK_EQ(weft_scope_deadline(&s, weft_now() + test_random(random) % (100 * WEFT_US)), 0);
	for (uint64_t i = test_random(random) % 50; i > 0; i--)
		weft_yield();
	(void)weft_scope_cancel(&s);
	(void)weft_scope_end(&s);
	YIELD_UNTIL(atomic_load(&jobs) == 0);
	YIELD_UNTIL(atomic_load(&wf_tame_events_in_use) == 0);
	CHECK_EQ(weft_tame_each(ignore_text, NULL), 0);
}

static int rounds(void *seed)
{
	uint64_t random = *(uint64_t *)seed;
	const char *wanted = getenv("WEFT_TEST_EVENTS");
	long n = wanted != NULL ? atol(wanted) : TEST_SIZE(500);

	for (long i = 0; i < n; i++)
		one_round(&random);
	return 0;
}

static void stress(int workers, const char *mode)
{
	weft_options opt = { .workers = workers, .stall_ms = -1 };
	uint64_t seed = TEST_SEED;

	setenv("WEFT_TAME", mode, 1);
	catch_reports();
	CHECK_EQ(weft_run(rounds, &seed, &opt), 0);
	if (caught.count[WEFT_REPORT_MISUSE] > 0)
		CHECK_STR(caught.last[WEFT_REPORT_MISUSE], "");
	printf("%d events ended by request or cancel, %d by themselves\n",
	       atomic_load(&by_request), atomic_load(&by_itself));
}

TEST(whenever_a_cancel_comes_no_event_is_lost_or_left)
{
	stress(1, "no");
}

TEST(whenever_a_cancel_comes_on_two_workers_no_event_is_lost_or_left)
{
	stress(2, "no");
}

TEST(whenever_a_cancel_comes_no_event_is_lost_or_left_while_it_is_checked)
{
	stress(2, "check");
}

TEST_MAIN
