/* Shared (reader) events: side by side with each other, never beside an
 * exclusive one, in fair order.
 */
#include "common.h"

#include "scheduler/runtime.h"

enum { COLOR = 9 };

/* Side by side */

static atomic_int met;

static void meet(void *unused)
{
	(void)unused;
	atomic_fetch_add(&met, 1);
	WAIT_FOR(atomic_load(&met) >= 2); /* returns only if the other runs too */
}

static int post_two_readers(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_post_shared(COLOR, meet, NULL), 0);
	return weft_post_shared(COLOR, meet, NULL);
}

TEST(two_shared_events_of_a_color_run_at_the_same_time)
{
	for (int i = 0; i < TEST_SIZE(200); i++) {
		weft_options opt = { .workers = 2, .steal = "base", .stall_ms = -1 };

		atomic_store(&met, 0);
		CHECK_EQ(weft_run(post_two_readers, NULL, &opt), 0);
		CHECK_EQ(atomic_load(&met), 2);
	}
}

/* Both readers wait behind this one while everybody else sleeps. */
static void post_readers_behind(void *unused)
{
	CHECK_EQ(weft_post_shared(COLOR, meet, unused), 0);
	CHECK_EQ(weft_post_shared(COLOR, meet, unused), 0);
	WAIT_FOR(atomic_load(&wf_rt->sched.idle) == weft_workers() - 1);
}

static int start_readers_behind(void *unused)
{
	return weft_post(COLOR, post_readers_behind, unused);
}

TEST(the_first_of_two_readers_wakes_a_worker_for_the_second)
{
	for (int i = 0; i < TEST_SIZE(100); i++) {
		weft_options opt = { .workers = 2 + i % 3, .steal = "base", .stall_ms = -1 };

		atomic_store(&met, 0);
		CHECK_EQ(weft_run(start_readers_behind, NULL, &opt), 0);
		CHECK_EQ(atomic_load(&met), 2);
	}
}

/* Fair order: the kinds of a random sequence, each event knowing its place */

enum { SEQUENCE = 2000 };

static struct place {
	weft_event event;
	int exclusive_before;
} seq[SEQUENCE];

static atomic_int started, finished, exclusive_done, readers_now;

static void reader(void *arg)
{
	struct place *p = arg;

	/* All exclusive ones before it are done, and none behind it has begun. */
	CHECK_EQ(atomic_load(&exclusive_done), p->exclusive_before);
	atomic_fetch_add(&started, 1);
	atomic_fetch_add(&readers_now, 1);
	if ((p - seq) % 7 == 0)
		sched_yield();
	atomic_fetch_sub(&readers_now, 1);
	CHECK_EQ(atomic_load(&exclusive_done), p->exclusive_before);
	atomic_fetch_add(&finished, 1);
}

static void writer(void *arg)
{
	struct place *p = arg;

	/* Exactly what was posted before it has run. */
	CHECK_EQ(atomic_load(&started), p - seq);
	CHECK_EQ(atomic_load(&finished), p - seq);
	CHECK_EQ(atomic_load(&readers_now), 0);
	atomic_fetch_add(&started, 1);
	if ((p - seq) % 7 == 0)
		sched_yield();
	CHECK_EQ(atomic_load(&readers_now), 0);
	atomic_fetch_add(&exclusive_done, 1);
	atomic_fetch_add(&finished, 1);
}

static uint64_t kinds_seed;

static int post_sequence(void *unused)
{
	int exclusive = 0;
	uint64_t readers_in_ten = 1 + random_below(&kinds_seed, 9);

	(void)unused;
	for (int i = 0; i < SEQUENCE; i++) {
		bool shared = random_below(&kinds_seed, 10) < readers_in_ten;

		weft_event_init(&seq[i].event, COLOR, shared ? reader : writer, &seq[i]);
		seq[i].event.shared = shared;
		seq[i].exclusive_before = exclusive;
		exclusive += !shared;
		CHECK_EQ(weft_event_post(&seq[i].event), 0);
	}
	return 0;
}

TEST(readers_and_writers_run_in_fair_order_and_never_together)
{
	static const int workers[] = { 1, 2, 4 };

	kinds_seed = TEST_SEED;
	for (int i = 0; i < TEST_SIZE(60); i++) {
		weft_options opt = { .workers = workers[i % 3],
				     .steal = i % 2 ? "base" : "all",
				     .batch = 1 + i % 11 };

		atomic_store(&started, 0);
		atomic_store(&finished, 0);
		atomic_store(&exclusive_done, 0);
		CHECK_EQ(weft_run(post_sequence, NULL, &opt), 0);
		CHECK_EQ(atomic_load(&finished), SEQUENCE);
	}
}

/* A shared handler's own color */

static atomic_int inner_runs;
static weft_event inner_shared, inner_exclusive;
static atomic_bool outer_done;

static void inner(void *arg)
{
	CHECK_EQ(weft_color_current(), COLOR);
	if (arg == &inner_exclusive)
		CHECK(atomic_load(&outer_done));
	atomic_fetch_add(&inner_runs, 1);
}

static void outer(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_color_current(), COLOR);
	weft_event_init(&inner_exclusive, COLOR, inner, &inner_exclusive);
	weft_event_init(&inner_shared, COLOR, inner, &inner_shared);
	inner_shared.shared = true;
	CHECK_EQ(weft_event_post(&inner_exclusive), 0);
	CHECK_EQ(weft_event_post(&inner_shared), 0);
	/* It does not have the color for itself. */
	CHECK_EQ(weft_event_cancel(&inner_exclusive), -EPERM);
	for (int i = 0; i < 100; i++)
		sched_yield();
	CHECK_EQ(atomic_load(&inner_runs), 0); /* the exclusive one waits for us */
	atomic_store(&outer_done, true);
}

static int post_outer(void *unused)
{
	(void)unused;
	return weft_post_shared(COLOR, outer, NULL);
}

TEST(what_a_shared_handler_posts_to_its_own_color_waits_for_it)
{
	for (int i = 0; i < TEST_SIZE(200); i++) {
		weft_options opt = { .workers = 1 + i % 3, .steal = "base" };

		atomic_store(&inner_runs, 0);
		atomic_store(&outer_done, false);
		CHECK_EQ(weft_run(post_outer, NULL, &opt), 0);
		CHECK_EQ(atomic_load(&inner_runs), 2);
	}
}

/* Random mix by several threads */

enum { MIX_COLORS = 3, MIX_THREADS = 3 };

static struct {
	atomic_int readers, writers;
} mix[MIX_COLORS];
static atomic_long mix_posted, mix_ran, mix_budget;
static uint64_t mix_seed;

static void mix_post(uint64_t *seed);

static void mix_follow_up(void)
{
	uint64_t seed = (uint64_t)atomic_load(&mix_ran) ^ mix_seed;

	while (random_below(&seed, 2) && atomic_fetch_sub(&mix_budget, 1) > 0)
		mix_post(&seed);
	atomic_fetch_add(&mix_ran, 1);
}

static void mix_read(void *arg)
{
	uintptr_t c = (uintptr_t)arg;

	atomic_fetch_add(&mix[c].readers, 1);
	CHECK_EQ(atomic_load(&mix[c].writers), 0);
	mix_follow_up();
	CHECK_EQ(atomic_load(&mix[c].writers), 0);
	atomic_fetch_sub(&mix[c].readers, 1);
}

static void mix_write(void *arg)
{
	uintptr_t c = (uintptr_t)arg;

	CHECK_EQ(atomic_fetch_add(&mix[c].writers, 1), 0);
	CHECK_EQ(atomic_load(&mix[c].readers), 0);
	mix_follow_up();
	CHECK_EQ(atomic_load(&mix[c].readers), 0);
	atomic_fetch_sub(&mix[c].writers, 1);
}

static void mix_post(uint64_t *seed)
{
	uintptr_t c = random_below(seed, MIX_COLORS);

	if (random_below(seed, 4))
		CHECK_EQ(weft_post_shared(100 + c, mix_read, (void *)c), 0);
	else
		CHECK_EQ(weft_post(100 + c, mix_write, (void *)c), 0);
	atomic_fetch_add(&mix_posted, 1);
}

static void *mix_thread(void *arg)
{
	uint64_t seed = mix_seed + (uintptr_t)arg;

	for (int i = 0; i < TEST_SIZE(5000); i++)
		mix_post(&seed);
	return NULL;
}

static void *mix_threads(void *unused)
{
	pthread_t thread[MIX_THREADS];

	for (uintptr_t i = 0; i < MIX_THREADS; i++)
		thread[i] = thread_start(mix_thread, (void *)i);
	for (int i = 0; i < MIX_THREADS; i++)
		thread_join(thread[i]);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static pthread_t mixer;

static int mix_start(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	mixer = thread_start(mix_threads, unused);
	return 0;
}

TEST(a_random_mix_of_readers_and_writers_keeps_them_apart_and_loses_nothing)
{
	mix_seed = TEST_SEED;
	for (int workers = 1; workers <= 4; workers++) {
		weft_options opt = { .workers = workers, .steal = workers % 2 ? "all" : "base" };

		atomic_store(&mix_budget, TEST_SIZE(20000));
		CHECK_EQ(weft_run(mix_start, NULL, &opt), 0);
		thread_join(mixer);
		CHECK_EQ(atomic_load(&mix_ran), atomic_load(&mix_posted));
	}
}

/* Records of colors that had readers are given back. */

static long left_to_read;

static void check_gone(void *unused)
{
	(void)unused;
	if (--left_to_read > 0) {
		CHECK_EQ(weft_post_shared(weft_color_new(), nothing, NULL), 0);
		CHECK_EQ(weft_post(WEFT_MAIN, check_gone, NULL), 0);
	} else {
		CHECK(wf_rt->sched.table.colors.fresh <= 2 * WF_POOL_CACHE + 4);
	}
}

static int read_many_colors(void *unused)
{
	left_to_read = TEST_SIZE(20000);
	check_gone(unused);
	return 0;
}

TEST(colors_that_were_only_read_cost_nothing_afterwards)
{
	weft_options opt = { .workers = 1, .batch = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(read_many_colors, NULL, &opt), 0);
}

TEST_MAIN
