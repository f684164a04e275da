/* Stuck workers: the rest goes on, the report shows the stack, and afterwards
 * all is as before.
 */
#include "common.h"

#include <unistd.h>

#include "base/capacity.h"
#include "base/fault.h"
#include "scheduler/runtime.h"

enum { STUCK = 70, OTHERS = 30 };

static int pipes[8][2];
static atomic_int others_ran;
static atomic_int freed;

static void other(void *unused)
{
	(void)unused;
	atomic_fetch_add(&others_ran, 1);
}

static void handler_that_blocks(void *arg)
{
	char byte;

	CHECK_EQ(read(pipes[(intptr_t)arg][0], &byte, 1), 1);
	atomic_fetch_add(&freed, 1);
}

static void let_go(int i)
{
	CHECK_EQ(write(pipes[i][1], "x", 1), 1);
}

static atomic_bool none_is_left;

/* There may be other reports behind it. */
static void note_none_left(enum weft_report_kind kind, const char *text, void *unused)
{
	(void)kind;
	(void)unused;
	if (strstr(text, "no stand-in") != NULL)
		atomic_store(&none_is_left, true);
}

static void open_pipes(void)
{
	for (int i = 0; i < 8; i++)
		CHECK_EQ(pipe(pipes[i]), 0);
	weft_on_report(note_none_left, NULL);
}

/* The first function's worker gets stuck with all others queued behind. */
static int block_here(void *arg)
{
	for (int i = 0; i < OTHERS; i++)
		CHECK_EQ(weft_post((weft_color)(100 + i), other, NULL), 0);
	handler_that_blocks(arg);
	CHECK_EQ(atomic_load(&others_ran), OTHERS);
	return 0;
}

static void *free_after_others(void *unused)
{
	WAIT_FOR(atomic_load(&others_ran) == OTHERS);
	let_go(0);
	return unused;
}

static void others_go_on(int workers, const char *steal)
{
	weft_options opt = { .workers = workers, .steal = steal };
	pthread_t thread;

	open_pipes();
	thread = thread_start(free_after_others, NULL);
	CHECK_EQ(weft_run(block_here, (void *)0, &opt), 0);
	thread_join(thread);
	CHECK_EQ(atomic_load(&freed), 1);
}

TEST(what_is_queued_at_a_stuck_worker_runs_elsewhere_on_one_worker)
{
	others_go_on(1, NULL);
}

TEST(what_is_queued_at_a_stuck_worker_runs_elsewhere_on_two_workers)
{
	others_go_on(2, NULL);
}

TEST(what_is_queued_at_a_stuck_worker_runs_elsewhere_with_stealing_off)
{
	others_go_on(1, "off");
}

TEST(a_stuck_worker_is_left_with_stealing_off_on_two_workers)
{
	others_go_on(2, "off");
}

/* The report. The handler stays until there is one. */

static void free_by_report(enum weft_report_kind kind, const char *text, void *unused)
{
	catch_report(kind, text, unused);
	let_go(0);
}

static void handler_that_waits(void *unused)
{
	char byte;

	(void)unused;
	CHECK_EQ(read(pipes[0][0], &byte, 1), 1);
}

/* A loop that computes is a stall too; its stack comes by a signal. */
static void handler_that_computes(void *unused)
{
	(void)unused;
	while (atomic_load(&caught.count[WEFT_REPORT_STALL]) == 0)
		continue;
}

static weft_fn *to_be_told_of;

static int post_stuck(void *unused)
{
	CHECK_EQ(weft_color_pin(STUCK, 0), 0);
	return weft_post(STUCK, to_be_told_of, unused);
}

/* The time is so long that nothing else is taken for stuck on a busy machine. */
static void run_until_told(weft_fn *fn, const char *name, int workers)
{
	weft_options opt = { .workers = workers, .stall_ms = 100 };

	open_pipes();
	weft_on_report(free_by_report, NULL);
	to_be_told_of = fn;
	CHECK_EQ(weft_run(post_stuck, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_STALL]), 1);
	CHECK(reported(WEFT_REPORT_STALL, "worker 0 is stuck"));
	CHECK(reported(WEFT_REPORT_STALL, "stall.c:"));
	CHECK(reported(WEFT_REPORT_STALL, name));
}

TEST(the_report_names_the_post_and_shows_the_stack)
{
	run_until_told(handler_that_waits, "handler_that_waits", 1);
}

TEST(a_handler_that_only_computes_is_found_as_well)
{
	run_until_told(handler_that_computes, "handler_that_computes", 2);
}

/* Several at once, and again and again */

static int to_block; /* how many handlers block at once */

static int count_stuck(void)
{
	weft_worker_stats w[16];
	int n = weft_stats(NULL, w, 16), stuck = 0;

	for (int i = 0; i < n; i++)
		stuck += w[i].stuck;
	return stuck;
}

static void *free_all(void *unused)
{
	WAIT_FOR(count_stuck() == to_block); /* each one a worker, or a stand-in */
	for (int i = 0; i < OTHERS; i++)
		CHECK_EQ(weft_post((weft_color)(100 + i), other, NULL), 0);
	WAIT_FOR(atomic_load(&others_ran) == OTHERS);
	for (int i = 0; i < to_block; i++)
		let_go(i);
	WAIT_FOR(atomic_load(&freed) == to_block);
	WAIT_FOR(count_stuck() == 0); /* all is as before */
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static int block_many(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	for (intptr_t i = 0; i < to_block; i++)
		CHECK_EQ(weft_post((weft_color)(STUCK + i), handler_that_blocks, (void *)i), 0);
	return 0;
}

static void run_blocked(int workers, int blocked, void *(*free_them)(void *))
{
	weft_options opt = { .workers = workers, .stall_ms = 2 };
	pthread_t thread;

	open_pipes();
	to_block = blocked;
	atomic_store(&others_ran, 0);
	atomic_store(&freed, 0);
	thread = thread_start(free_them, NULL);
	CHECK_EQ(weft_run(block_many, NULL, &opt), 0);
	thread_join(thread);
	CHECK_EQ(atomic_load(&freed), blocked);
}

TEST(more_workers_than_there_are_can_be_stuck_at_once_and_come_back)
{
	for (int workers = 1; workers <= 3; workers++)
		run_blocked(workers, workers + 2, free_all);
}

static void *free_when_others_ran(void *unused)
{
	WAIT_FOR(count_stuck() == WF_WORKERS_OPEN(1));
	for (int i = 0; i < OTHERS; i++)
		CHECK_EQ(weft_post((weft_color)(100 + i), other, NULL), 0);
	WAIT_FOR(atomic_load(&others_ran) == OTHERS);
	CHECK_EQ(count_stuck(), WF_WORKERS_OPEN(1));
	for (int i = 0; i < to_block; i++)
		let_go(i);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

TEST(what_comes_from_outside_goes_on_though_all_stand_ins_are_stuck)
{
	run_blocked(1, 8, free_when_others_ran);
}

/* As if the reserve had been sent just when it went to rest: it is on duty, and does not serve. */
static void *lose_the_reserve(void *unused)
{
	struct wf_worker *reserve;

	WAIT_FOR(count_stuck() == WF_WORKERS_OPEN(1));
	WAIT_FOR(atomic_load(&wf_rt->on_duty) >= 0);
	reserve = wf_sched_worker(&wf_rt->sched, atomic_load(&wf_rt->on_duty));
	WAIT_FOR(atomic_load(&reserve->covers) == WF_COVERS_ALL);
	atomic_store(&reserve->covers, -1);
	return free_when_others_ran(unused);
}

TEST(what_comes_from_outside_goes_on_though_the_reserve_on_duty_rests)
{
	run_blocked(1, 8, lose_the_reserve);
}

/* What comes from outside and gets stuck takes the reserves too. */
static void *block_all_reserves(void *unused)
{
	to_block = WF_WORKERS_LIMIT(1) + 2;
	for (int i = 0; i < to_block; i++)
		CHECK_EQ(weft_post((weft_color)(STUCK + i), handler_that_blocks, NULL), 0);
	WAIT_FOR(atomic_load(&none_is_left));
	for (int i = 0; i < OTHERS; i++)
		CHECK_EQ(weft_post((weft_color)(1000 + i), other, NULL), 0);
	for (int i = 0; i < to_block; i++)
		let_go(0);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static pthread_t outside;

static int start_outside(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	outside = thread_start(block_all_reserves, unused);
	return 0;
}

TEST(more_stalls_than_stand_ins_are_reported_and_lose_nothing)
{
	weft_options opt = { .workers = 1, .stall_ms = 2 };

	open_pipes();
	CHECK_EQ(weft_run(start_outside, NULL, &opt), 0);
	thread_join(outside);
	CHECK_EQ(atomic_load(&freed), to_block);
	CHECK_EQ(atomic_load(&others_ran), OTHERS);
}

/* No stand-in can be started. No reserve is needed, as there is no stand-in that could be stuck. */

static void free_if_none_left(enum weft_report_kind kind, const char *text, void *unused)
{
	note_none_left(kind, text, unused);
	if (strstr(text, "no stand-in for stuck worker 0") != NULL)
		let_go(0);
}

static void block_without_memory(void *arg)
{
	wf_fault_arm(1);
	handler_that_blocks(arg);
}

static int post_without_memory(void *unused)
{
	return weft_post(STUCK, block_without_memory, unused);
}

TEST(a_stand_in_that_cannot_be_started_is_reported)
{
	weft_options opt = { .workers = 1 };

	open_pipes();
	weft_on_report(free_if_none_left, NULL);
	CHECK_EQ(weft_run(post_without_memory, NULL, &opt), 0);
	CHECK(wf_fault_site() != NULL);
	CHECK(atomic_load(&none_is_left));
}

static int rounds;
static atomic_int asked;

static void *free_each(void *unused)
{
	for (int i = 0; i < 10; i++) {
		WAIT_FOR(atomic_load(&asked) > i);
		WAIT_FOR(atomic_load(&others_ran) > i); /* queued behind it, ran elsewhere */
		let_go(0);
	}
	return unused;
}

static void block_again(void *unused)
{
	CHECK_EQ(weft_post(99, other, NULL), 0);
	atomic_fetch_add(&asked, 1);
	handler_that_blocks((void *)0);
	if (++rounds < 10)
		CHECK_EQ(weft_post(STUCK, block_again, unused), 0);
}

static int start_again(void *unused)
{
	return weft_post(STUCK, block_again, unused);
}

TEST(stalls_can_follow_each_other)
{
	weft_options opt = { .workers = 1, .stall_ms = 2 };
	pthread_t thread;

	open_pipes();
	thread = thread_start(free_each, NULL);
	CHECK_EQ(weft_run(start_again, NULL, &opt), 0);
	thread_join(thread);
	CHECK_EQ(atomic_load(&freed), 10);
}

/* A pinned color waits for its worker, whatever happens. */

static atomic_bool pinned_ran;

static void pinned(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_worker_current(), 0);
	CHECK_EQ(atomic_load(&freed), 1);
	atomic_store(&pinned_ran, true);
}

static int block_with_pinned(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_color_pin(STUCK, 0), 0);
	CHECK_EQ(weft_color_pin(STUCK + 1, 0), 0);
	CHECK_EQ(weft_post(STUCK, handler_that_blocks, (void *)0), 0);
	CHECK_EQ(weft_post(STUCK + 1, pinned, NULL), 0);
	for (int i = 0; i < OTHERS; i++)
		CHECK_EQ(weft_post((weft_color)(100 + i), other, NULL), 0);
	return 0;
}

TEST(a_color_pinned_to_a_stuck_worker_waits_for_it)
{
	weft_options opt = { .workers = 1 };
	pthread_t thread;

	open_pipes();
	thread = thread_start(free_after_others, NULL);
	CHECK_EQ(weft_run(block_with_pinned, NULL, &opt), 0);
	thread_join(thread);
	CHECK(atomic_load(&pinned_ran));
}

/* A run can be stopped while a worker is stuck, and ends when it is back. */

static void *stop_and_free(void *unused)
{
	WAIT_FOR(atomic_load(&others_ran) == OTHERS);
	CHECK_EQ(weft_stop(), 0);
	let_go(0);
	return unused;
}

TEST(a_run_with_a_stuck_worker_can_be_stopped)
{
	weft_options opt = { .workers = 1 };
	pthread_t thread;

	open_pipes();
	thread = thread_start(stop_and_free, NULL);
	CHECK_EQ(weft_run(block_here, (void *)0, &opt), 0);
	thread_join(thread);
}

/* The timers of a stuck worker are served by its stand-in. */

static int block_with_timer(void *arg)
{
	for (int i = 0; i < OTHERS; i++)
		CHECK_EQ(weft_after((uint64_t)i * WEFT_MS, (weft_color)(100 + i), other, NULL), 0);
	handler_that_blocks(arg);
	return 0;
}

TEST(the_timers_of_a_stuck_worker_fire)
{
	weft_options opt = { .workers = 1 };
	pthread_t thread;

	open_pipes();
	thread = thread_start(free_after_others, NULL);
	CHECK_EQ(weft_run(block_with_timer, (void *)0, &opt), 0);
	thread_join(thread);
}

/* A foreign thread's timer is in the wheel of a regular worker, the only one: so
 * in that of the first of a row, each of which stands in for the one before. */
static void *time_behind_a_row(void *unused)
{
	WAIT_FOR(count_stuck() == to_block);
	CHECK_EQ(weft_after(0, 99, other, NULL), 0);
	WAIT_FOR(atomic_load(&others_ran) == 1);
	for (int i = 0; i < to_block; i++)
		let_go(i);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

TEST(the_timers_of_a_stuck_worker_fire_though_its_stand_in_is_stuck_too)
{
	run_blocked(1, 2, time_behind_a_row);
	run_blocked(1, 3, time_behind_a_row);
}

TEST_MAIN
