/* weft_run: results, again and again, from anywhere, its end and its refusals.
 * Nothing that was accepted is lost at the end (S3). */
#include "common.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/compiler.h"
#include "scheduler/runtime.h"

static int give(void *arg)
{
	return (int)(intptr_t)arg;
}

TEST(a_run_gives_back_what_the_first_function_returned)
{
	CHECK_EQ(weft_run(give, (void *)0, NULL), 0);
	CHECK_EQ(weft_run(give, (void *)7, NULL), 7);
	CHECK_EQ(weft_run(give, (void *)(intptr_t)-EPIPE, NULL), -EPIPE);
}

TEST(a_run_without_a_function_is_refused)
{
	catch_reports();
	CHECK_EQ(weft_run(NULL, NULL, NULL), -EINVAL);
	CHECK_EQ(weft_run(give, (void *)1, NULL), 1);
}

static atomic_long ran;

static void count(void *unused)
{
	(void)unused;
	atomic_fetch_add(&ran, 1);
}

static int post_some(void *unused)
{
	(void)unused;
	for (weft_color c = 0; c < 20; c++)
		CHECK_EQ(weft_post(c, count, NULL), 0);
	return 0;
}

/* Of the whole process, in pages. */
static long memory_mapped(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long size = 0;

	CHECK(f != NULL && fscanf(f, "%ld", &size) == 1);
	fclose(f);
	return size;
}

/* WEFT_TEST_LONG=1 does the 20,000 cycles of the acceptance test. */
TEST(runs_can_follow_each_other_without_end)
{
	long cycles = getenv("WEFT_TEST_LONG") != NULL ? 20000 : 200;
	long after_some = 0;

	mallopt(M_ARENA_MAX, 1); /* how many threads are there at once must not count */
	for (long i = 0; i < cycles; i++) {
		weft_options opt = { .workers = 1 + (int)(i % 3) };

		atomic_store(&ran, 0);
		CHECK_EQ(weft_run(post_some, NULL, &opt), 0);
		CHECK_EQ(atomic_load(&ran), 20);
		if (i == cycles / 2)
			after_some = memory_mapped();
	}
	CHECK(memory_mapped() <= after_some + 20000); /* 80 MB: a leak of one run is GBs */
}

static void *run_here(void *unused)
{
	atomic_store(&ran, 0);
	CHECK_EQ(weft_run(post_some, NULL, NULL), 0);
	CHECK_EQ(atomic_load(&ran), 20);
	CHECK_EQ(weft_worker_current(), -1);
	return unused;
}

TEST(any_thread_may_run_it)
{
	thread_join(thread_start(run_here, NULL));
	run_here(NULL);
	thread_join(thread_start(run_here, NULL));
}

static int look_around(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_workers(), 3);
	CHECK(weft_worker_current() >= 0 && weft_worker_current() < 3);
	return 0;
}

TEST(workers_are_numbered_and_only_there_while_it_runs)
{
	weft_options opt = { .workers = 3 };

	CHECK_EQ(weft_workers(), 0);
	CHECK_EQ(weft_worker_current(), -1);
	CHECK_EQ(weft_run(look_around, NULL, &opt), 0);
	CHECK_EQ(weft_workers(), 0);
	CHECK_EQ(weft_worker_current(), -1);
}

/* Outside of a run */

TEST(without_a_runtime_everything_says_so)
{
	weft_event ev;

	weft_event_init(&ev, 1, nothing, NULL);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(weft_event_post(&ev), -ESHUTDOWN);
		CHECK_EQ(weft_post(1, nothing, NULL), -ESHUTDOWN);
		CHECK_EQ(weft_post_shared(1, nothing, NULL), -ESHUTDOWN);
		CHECK_EQ(weft_stop(), -ESHUTDOWN);
		CHECK_EQ(weft_hold(), -ESHUTDOWN);
		CHECK_EQ(weft_drop(), -ESHUTDOWN);
		CHECK_EQ(weft_run(nothing_to_do, NULL, NULL), 0);
	}
}

/* One at a time */

static void *run_beside(void *unused)
{
	CHECK_EQ(weft_run(nothing_to_do, NULL, NULL), -EBUSY);
	return unused;
}

static int run_beside_and_inside(void *unused)
{
	(void)unused;
	thread_join(thread_start(run_beside, NULL));
	CHECK_EQ(weft_run(nothing_to_do, NULL, NULL), -EDEADLK);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), 1);
	return 5;
}

TEST(a_second_run_is_refused_and_does_not_disturb_the_first)
{
	catch_reports();
	CHECK_EQ(weft_run(run_beside_and_inside, NULL, NULL), 5);
}

/* Stopping */

static void never(void *unused)
{
	(void)unused;
	CHECK(!"an event ran after weft_stop");
}

static int stop_in_handler(void *unused)
{
	weft_event ev;

	(void)unused;
	for (weft_color c = 0; c < 10; c++)
		CHECK_EQ(weft_post(c, never, NULL), 0);
	CHECK_EQ(weft_stop(), 0);
	CHECK_EQ(weft_stop(), 0);
	CHECK_EQ(weft_post(1, never, NULL), -ESHUTDOWN);
	weft_event_init(&ev, 1, never, NULL);
	CHECK_EQ(weft_event_post(&ev), -ESHUTDOWN);
	return 9;
}

TEST(a_handler_can_stop_the_run_and_what_is_queued_does_not_run)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(stop_in_handler, NULL, &opt), 9);
}

static void forever(void *color)
{
	/* -ESHUTDOWN once it stops */
	(void)weft_post((weft_color)(uintptr_t)color, forever, color);
}

static atomic_bool up;

static int run_forever(void *busy)
{
	CHECK_EQ(weft_hold(), 0);
	for (uintptr_t c = 1; busy != NULL && c < 20; c++)
		CHECK_EQ(weft_post(c, forever, (void *)c), 0);
	atomic_store(&up, true);
	return 3;
}

static void *stop_from_outside(void *unused)
{
	WAIT_FOR(atomic_load(&up));
	CHECK_EQ(weft_stop(), 0);
	while (weft_post(1, nothing, NULL) == 0)
		CHECK(!"a post was accepted after weft_stop");
	return unused;
}

TEST(a_foreign_thread_can_stop_a_busy_or_sleeping_run)
{
	for (int i = 0; i < TEST_SIZE(300); i++) {
		weft_options opt = { .workers = 1 + i % 4 };
		pthread_t thread;

		atomic_store(&up, false);
		thread = thread_start(stop_from_outside, NULL);
		CHECK_EQ(weft_run(run_forever, (void *)(intptr_t)(i % 2), &opt), 3);
		thread_join(thread);
	}
}

static atomic_bool asked; /* by a signal, and not yet done */

static void stop_by_signal(int unused)
{
	(void)unused;
	if (atomic_exchange(&asked, false))
		weft_stop();
}

/* To any thread: workers and this one. Again, because TSan keeps a signal from a handler
 * until the thread calls something that it knows, and a worker's sleep is not that. One that
 * comes late finds nothing asked. */
static void *send_signal(void *unused)
{
	WAIT_FOR(atomic_load(&up));
	atomic_store(&asked, true);
	for (unsigned i = 0; atomic_load(&asked); i++) {
		if (i % 1024 == 0)
			kill(getpid(), SIGUSR1);
		sched_yield();
	}
	return unused;
}

TEST(a_signal_handler_can_stop_it)
{
	struct sigaction act = { .sa_handler = stop_by_signal };

	CHECK_EQ(sigaction(SIGUSR1, &act, NULL), 0);
	for (int i = 0; i < TEST_SIZE(200); i++) {
		weft_options opt = { .workers = 1 + i % 3 };
		pthread_t thread;

		atomic_store(&up, false);
		thread = thread_start(send_signal, NULL);
		CHECK_EQ(weft_run(run_forever, (void *)(intptr_t)(i % 2), &opt), 3);
		thread_join(thread);
	}
}

static void *signal_this_thread(void *unused)
{
	WAIT_FOR(atomic_load(&up));
	atomic_store(&asked, true);
	pthread_kill(pthread_self(), SIGUSR1); /* a foreign thread's handler */
	return unused;
}

TEST(a_signal_handler_on_a_foreign_thread_can_stop_it)
{
	struct sigaction act = { .sa_handler = stop_by_signal };
	pthread_t thread;

	CHECK_EQ(sigaction(SIGUSR1, &act, NULL), 0);
	thread = thread_start(signal_this_thread, NULL);
	CHECK_EQ(weft_run(run_forever, NULL, NULL), 3);
	thread_join(thread);
}

static weft_event kept[20];

static int post_kept_and_stop(void *unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++)
		CHECK_EQ(weft_event_post(&kept[i]), 0);
	return weft_stop();
}

static int post_kept(void *unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++)
		CHECK_EQ(weft_event_post(&kept[i]), 0);
	return 0;
}

TEST(events_that_a_stop_left_queued_can_be_posted_in_the_next_run)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	for (int i = 0; i < 20; i++)
		weft_event_init(&kept[i], (weft_color)(i % 3), count, NULL);
	CHECK_EQ(weft_run(post_kept_and_stop, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&ran), 0);
	CHECK_EQ(weft_run(post_kept, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&ran), 20);
}

/* The end by itself */

static void *drop_hold(void *unused)
{
	WAIT_FOR(atomic_load(&up));
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

/* The last live thing ends on a foreign thread, at whatever moment of the
 * workers' falling asleep: a lost wake-up would hang. */
TEST(a_run_ends_when_a_foreign_thread_drops_the_last_hold)
{
	for (int i = 0; i < TEST_SIZE(2000); i++) {
		weft_options opt = { .workers = 1 + i % 4, .stall_ms = i % 2 ? -1 : 0 };
		pthread_t thread;

		atomic_store(&up, false);
		thread = thread_start(drop_hold, NULL);
		CHECK_EQ(weft_run(run_forever, NULL, &opt), 3);
		thread_join(thread);
	}
}

static atomic_int hold_moves;

static void hold_again(void *unused)
{
	/* What is held here is dropped by whichever worker runs the next. */
	if (atomic_fetch_sub(&hold_moves, 1) > 0) {
		CHECK_EQ(weft_hold(), 0);
		CHECK_EQ(weft_post(weft_color_new(), hold_again, unused), 0);
	}
	CHECK_EQ(weft_drop(), 0);
}

static int start_holds(void *unused)
{
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(weft_hold(), 0);
		CHECK_EQ(weft_post(weft_color_new(), hold_again, unused), 0);
	}
	return 0;
}

TEST(holds_and_drops_on_different_threads_add_up)
{
	weft_options opt = { .workers = 3, .steal = "base" };

	atomic_store(&hold_moves, TEST_SIZE(20000));
	CHECK_EQ(weft_run(start_holds, NULL, &opt), 0);
	CHECK(atomic_load(&hold_moves) <= 0);
}

/* Work that comes of a timer's end, while other workers fall asleep and look
 * whether all is over: the run must not end between the two. */
static atomic_long links;

static void next_link(void *unused)
{
	if (atomic_fetch_sub(&links, 1) > 0)
		CHECK_EQ(weft_after(1, weft_color_new(), next_link, unused), 0);
	/* Wakes others, who find nothing and park again. */
	CHECK_EQ(weft_post(weft_color_new(), nothing, NULL), 0);
	CHECK_EQ(weft_post(weft_color_new(), nothing, NULL), 0);
}

static int start_links(void *unused)
{
	next_link(unused);
	return 0;
}

TEST(a_run_does_not_end_while_one_timer_follows_the_other)
{
	for (int i = 0; i < 20; i++) {
		weft_options opt = { .workers = 2 + i % 7, .steal = "base" };

		atomic_store(&links, TEST_SIZE(2000));
		CHECK_EQ(weft_run(start_links, NULL, &opt), 0);
		CHECK(atomic_load(&links) <= 0);
	}
}

/* Posts that race with the end: what was accepted has run. */

static atomic_long accepted;
static atomic_bool enough;

static void *post_at_any_time(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	while (!atomic_load(&enough)) {
		int rc = weft_post(random_below(&seed, 3), count, NULL);

		if (rc == 0)
			atomic_fetch_add(&accepted, 1);
		else
			CHECK_EQ(rc, -ESHUTDOWN);
		if (random_below(&seed, 3) == 0)
			sched_yield();
	}
	return NULL;
}

TEST(every_post_accepted_while_the_run_was_ending_has_run)
{
	pthread_t thread[2];

	for (uintptr_t i = 0; i < 2; i++)
		thread[i] = thread_start(post_at_any_time, (void *)(i + TEST_SEED));
	for (int i = 0; i < TEST_SIZE(2000); i++) {
		weft_options opt = { .workers = 1 + i % 3 };

		CHECK_EQ(weft_run(nothing_to_do, NULL, &opt), 0);
	}
	atomic_store(&enough, true);
	for (int i = 0; i < 2; i++)
		thread_join(thread[i]);
	CHECK_EQ(atomic_load(&ran), atomic_load(&accepted));
}

/* A limit on the address space. */
enum { MEGABYTE = 1 << 20 };

static void limit_memory_to(size_t more)
{
	size_t limit = (size_t)memory_mapped() * (size_t)sysconf(_SC_PAGESIZE) + more;
	struct rlimit as = { limit, limit };

	CHECK_EQ(setrlimit(RLIMIT_AS, &as), 0);
}

static int allocate(void *unused)
{
	void *memory = malloc(128 * MEGABYTE);

	(void)unused;
	CHECK(memory != NULL);
	free(memory);
	return 0;
}

TEST(a_limit_on_memory_leaves_most_of_it_to_the_handlers)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };

#if defined(WF_ASAN) || defined(WF_TSAN)
	SKIP("the sanitizer reserves more than any limit that would mean something");
#endif
	limit_memory_to(256 * MEGABYTE);
	allocate(NULL);
	CHECK_EQ(weft_run(allocate, NULL, &opt), 0);
}

/* Posts to new colors are refused when their records have run out, but what was
 * promised before, such as a timer, runs. */
enum { RECORDS = 4096, TIMERS = 100 };

static weft_event of_each_color[RECORDS];
static weft_timer promised[TIMERS];
static long posted;

static int use_up_colors(void *unused)
{
	int rc = 0;

	(void)unused;
	wf_rt->sched.table.colors.room = RECORDS; /* of millions */
	for (int i = 0; i < TIMERS; i++) {
		weft_timer_init(&promised[i], RECORDS + 1 + (weft_color)i, count, NULL);
		CHECK_EQ(weft_timer_start(&promised[i], 0), 0);
	}
	while (posted < RECORDS && rc == 0) {
		weft_event_init(&of_each_color[posted], 1 + (weft_color)posted, count, NULL);
		rc = weft_event_post(&of_each_color[posted]);
		posted += rc == 0;
	}
	CHECK_EQ(rc, -ENOMEM);
	/* They fire while all those colors have their events queued. */
	WAIT_FOR(weft_now() >= promised[TIMERS - 1].when + WEFT_MS);
	return 0;
}

TEST(timers_fire_though_posting_to_new_colors_is_refused_for_lack_of_memory)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(use_up_colors, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&ran), posted + TIMERS);
}

TEST_MAIN
