/* offload.c - tests of the pool that makes blocking calls. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>

#include <weft/weft.h>

#include "base/fault.h"
#include "harness/test.h"
#include "io/parts.h"

/* A call under the test's control: says that it began, waits, returns. */
struct call {
	weft_work work;
	sem_t begun, go;
	bool waits;
	int returns;
	_Atomic int called, done;
	int order; /* the how-manieth that began */
};

static _Atomic int order, inside, most_inside;

static int blocking(void *arg)
{
	struct call *c = arg;
	int now = atomic_fetch_add(&inside, 1) + 1, most = atomic_load(&most_inside);

	while (now > most && !atomic_compare_exchange_weak(&most_inside, &most, now))
		;
	c->order = atomic_fetch_add(&order, 1) + 1;
	c->called++;
	sem_post(&c->begun);
	while (c->waits && sem_wait(&c->go) < 0)
		;
	atomic_fetch_sub(&inside, 1);
	return c->returns;
}

static void on_done(void *arg)
{
	struct call *c = arg;

	c->done++;
}

static void init(struct call *c, bool waits, int returns)
{
	memset(c, 0, sizeof *c);
	weft_work_init(&c->work, WEFT_MAIN, on_done, c);
	sem_init(&c->begun, 0, 0);
	sem_init(&c->go, 0, 0);
	c->waits = waits;
	c->returns = returns;
}

static void run(int (*fn)(void *), int max)
{
	weft_options opt = { .workers = 2, .offload_max = max };

	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

static struct call calls[64];

static void one_is_done(void *arg)
{
	struct call *c = arg;

	CHECK_EQ(weft_color_current(), 77);
	CHECK_EQ(c->work.result, 42);
	c->done++;
}

static int make_one(void *unused)
{
	(void)unused;
	init(&calls[0], false, 42);
	weft_work_init(&calls[0].work, 77, one_is_done, &calls[0]);
	return weft_work_start(&calls[0].work, blocking);
}

TEST(a_call_gives_its_result_as_an_event_in_its_color)
{
	run(make_one, 0);
	CHECK_EQ(calls[0].called, 1);
	CHECK_EQ(calls[0].done, 1);
}

static pthread_barrier_t meeting;

static int meet(void *arg)
{
	struct call *c = arg;

	blocking(c);
	pthread_barrier_wait(&meeting);
	return 0;
}

static int start_meeting(void *unused)
{
	(void)unused;
	for (int i = 0; i < 8; i++) {
		init(&calls[i], false, 0);
		CHECK_EQ(weft_work_start(&calls[i].work, meet), 0);
	}
	return 0;
}

TEST(the_pool_grows_until_all_calls_run_at_once)
{
	pthread_barrier_init(&meeting, NULL, 8);
	run(start_meeting, 8);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(calls[i].done, 1);
}

static int start_many_short(void *unused)
{
	(void)unused;
	for (int i = 0; i < 64; i++) {
		init(&calls[i], false, 0);
		CHECK_EQ(weft_work_start(&calls[i].work, blocking), 0);
	}
	return 0;
}

TEST(the_bound_on_threads_is_respected)
{
	run(start_many_short, 3);
	CHECK(most_inside <= 3);
	for (int i = 0; i < 64; i++)
		CHECK_EQ(calls[i].done, 1);
}

static int start_in_order(void *unused)
{
	(void)unused;
	for (int i = 0; i < 16; i++) {
		init(&calls[i], i == 0, 0);
		CHECK_EQ(weft_work_start(&calls[i].work, blocking), 0);
	}
	sem_post(&calls[0].go);
	return 0;
}

TEST(calls_beyond_the_bound_run_first_come_first_served)
{
	run(start_in_order, 1);
	for (int i = 0; i < 16; i++)
		CHECK_EQ(calls[i].order, i + 1);
}

static int cancel_second(void *unused)
{
	(void)unused;
	for (int i = 0; i < 4; i++)
		init(&calls[i], i == 0, 5);
	CHECK_EQ(weft_work_cancel(&calls[0].work), -ENOENT);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(weft_work_start(&calls[i].work, blocking), 0);
	sem_wait(&calls[0].begun);
	CHECK_EQ(weft_work_start(&calls[1].work, blocking), -EALREADY);
	CHECK_EQ(weft_work_cancel(&calls[1].work), 0);
	CHECK_EQ(weft_work_cancel(&calls[1].work), -EALREADY);
	CHECK_EQ(weft_work_start(&calls[1].work, blocking), -EALREADY);
	CHECK_EQ(weft_work_cancel(&calls[0].work), -EALREADY);
	sem_post(&calls[0].go);
	return 0;
}

TEST(a_call_that_has_not_begun_is_cancelled_and_never_made)
{
	run(cancel_second, 1);
	CHECK_EQ(calls[0].work.result, 5);
	CHECK_EQ(calls[0].done, 1);
	CHECK_EQ(calls[1].work.result, -ECANCELED);
	CHECK_EQ(calls[1].called, 0);
	CHECK_EQ(calls[1].done, 1);
	CHECK_EQ(calls[2].work.result, 5);
	CHECK_EQ(calls[2].done, 1);
}

static int start_badly(void *unused)
{
	(void)unused;
	init(&calls[0], false, 0);
	CHECK_EQ(weft_work_start(NULL, blocking), -EINVAL);
	CHECK_EQ(weft_work_start(&calls[0].work, NULL), -EINVAL);
	calls[0].work.event.run = NULL;
	CHECK_EQ(weft_work_start(&calls[0].work, blocking), -EINVAL);
	calls[0].work.event.run = on_done;
	CHECK_EQ(weft_stop(), 0);
	CHECK_EQ(weft_work_start(&calls[0].work, blocking), -ESHUTDOWN);
	return 0;
}

TEST(wrong_use_is_refused_with_an_error)
{
	init(&calls[0], false, 0);
	CHECK_EQ(weft_work_start(&calls[0].work, blocking), -ESHUTDOWN);
	CHECK_EQ(weft_work_cancel(&calls[0].work), -ESHUTDOWN);
	run(start_badly, 1);
	CHECK_EQ(calls[0].called, 0);
}

static weft_timer look_again;

static void until_pool_is_empty(void *unused)
{
	uint64_t made;
	uint32_t threads, queued;

	(void)unused;
	wf_offload_stats(&made, &threads, &queued);
	if (threads == 0 && made == 16)
		return;
	if (threads == 0)
		start_meeting(NULL); /* it grows again */
	CHECK_EQ(weft_timer_start(&look_again, WEFT_MS), 0);
}

static int start_and_shrink(void *unused)
{
	wf_offload_idle_ns = WEFT_MS;
	start_meeting(unused);
	weft_timer_init(&look_again, WEFT_MAIN, until_pool_is_empty, NULL);
	return weft_timer_start(&look_again, WEFT_MS);
}

TEST(threads_without_work_end_themselves_and_come_back)
{
	pthread_barrier_init(&meeting, NULL, 8);
	run(start_and_shrink, 8);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(calls[i].done, 1);
}

static void again(void *arg)
{
	struct call *c = arg;

	if (++c->done < 100)
		CHECK_EQ(weft_work_start(&c->work, blocking), 0);
}

static int start_chain(void *unused)
{
	(void)unused;
	init(&calls[0], false, 0);
	calls[0].work.event.run = again;
	return weft_work_start(&calls[0].work, blocking);
}

TEST(a_work_can_be_started_again_from_its_own_event)
{
	run(start_chain, 4);
	CHECK_EQ(calls[0].called, 100);
	CHECK_EQ(calls[0].done, 100);
}

static void *free_blocked(void *unused)
{
	(void)unused;
	while (weft_workers() > 0)
		sched_yield();
	sem_post(&calls[0].go);
	return NULL;
}

static pthread_t freer;

static int stop_with_calls(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		init(&calls[i], i == 0, 0);
		CHECK_EQ(weft_work_start(&calls[i].work, blocking), 0);
	}
	sem_wait(&calls[0].begun);
	pthread_create(&freer, NULL, free_blocked, NULL);
	return weft_stop();
}

TEST(stopping_waits_for_running_calls_and_forgets_the_others)
{
	run(stop_with_calls, 1);
	pthread_join(freer, NULL);
	CHECK_EQ(inside, 0);
	CHECK_EQ(calls[0].called, 1);
	CHECK_EQ(calls[0].done, 0);
	CHECK_EQ(calls[1].called + calls[2].called, 0);
}

static int look_at_mask(void *unused)
{
	sigset_t set;

	(void)unused;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGTERM) && sigismember(&set, SIGUSR1) &&
	       !sigismember(&set, SIGSEGV);
}

static int start_look_at_mask(void *unused)
{
	sigset_t set;

	(void)unused;
	init(&calls[0], false, 0);
	CHECK_EQ(weft_work_start(&calls[0].work, look_at_mask), 0);
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	CHECK_EQ(sigismember(&set, SIGTERM), 0);
	return 0;
}

TEST(signals_do_not_go_to_threads_of_the_pool)
{
	run(start_look_at_mask, 1);
	CHECK_EQ(calls[0].work.result, 1);
}

#ifdef WEFT_FAULTS
static int start_without_threads(void *unused)
{
	(void)unused;
	init(&calls[0], true, 7);
	init(&calls[1], false, 8);
	for (int nth = 1; nth <= 2; nth++) {
		wf_fault_arm(nth);
		CHECK_EQ(weft_work_start(&calls[0].work, blocking), -EAGAIN);
		wf_fault_arm(0);
	}
	CHECK_EQ(weft_work_start(&calls[0].work, blocking), 0);
	sem_wait(&calls[0].begun);
	for (int nth = 1; nth <= 2; nth++) {
		init(&calls[nth], false, 8);
		wf_fault_arm(nth);
		CHECK_EQ(weft_work_start(&calls[nth].work, blocking), 0);
		wf_fault_arm(0);
	}
	sem_post(&calls[0].go);
	return 0;
}

/* Where faults are counted nobody else may ask for them: no second worker, and no stand-in. */
TEST(without_a_thread_a_call_is_refused_and_with_one_it_waits)
{
	weft_options opt = { .workers = 1, .offload_max = 4, .stall_ms = -1 };

	CHECK_EQ(weft_run(start_without_threads, NULL, &opt), 0);
	CHECK_EQ(calls[0].work.result, 7);
	for (int i = 1; i <= 2; i++) {
		CHECK_EQ(calls[i].work.result, 8);
		CHECK_EQ(calls[i].done, 1);
	}
}
#endif

/* Many works, started and cancelled from colors and foreign threads at random. */
enum { MANY = 2000, FOREIGN = 3 };
static struct call many[FOREIGN][MANY];
static pthread_t foreign[FOREIGN];
static _Atomic int accepted, ended, cancelled;

static int short_call(void *arg)
{
	((struct call *)arg)->called++;
	return 1;
}

static void count_end(void *arg)
{
	struct call *c = arg;

	c->done++;
	ended++;
	if (c->work.result == -ECANCELED) {
		cancelled++;
		CHECK_EQ(c->called, 0);
	} else {
		CHECK_EQ(c->called, 1);
	}
}

static void *start_and_cancel(void *arg)
{
	int me = (int)(intptr_t)arg;
	uint64_t random = TEST_SEED + (uint64_t)me;

	for (int i = 0; i < TEST_SIZE(MANY); i++) {
		struct call *c = &many[me][i];
		int r;

		weft_work_init(&c->work, test_random(&random) % 4, count_end, c);
		CHECK_EQ(weft_work_start(&c->work, short_call), 0);
		accepted++;
		if (test_random(&random) % 2 == 0) {
			r = weft_work_cancel(&c->work);
			CHECK(r == 0 || r == -EALREADY);
		}
	}
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static int start_foreign(void *unused)
{
	(void)unused;
	wf_offload_idle_ns = 50 * WEFT_US;
	for (int i = 0; i < FOREIGN; i++) {
		CHECK_EQ(weft_hold(), 0);
		pthread_create(&foreign[i], NULL, start_and_cancel, (void *)(intptr_t)i);
	}
	return 0;
}

TEST(every_work_ends_exactly_once_whoever_starts_and_cancels)
{
	(void)TEST_SEED;
	run(start_foreign, 3);
	for (int i = 0; i < FOREIGN; i++)
		pthread_join(foreign[i], NULL);
	CHECK_EQ(ended, accepted);
	CHECK_EQ(accepted, FOREIGN * TEST_SIZE(MANY));
}

TEST_MAIN
