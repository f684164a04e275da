/* Counters add up, and the dump says what is going on. */
#include "common.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "scheduler/handler.h"

enum { MOST = 16, EVENTS = 500 };

static weft_stats_all all;
static weft_worker_stats workers[MOST];
static atomic_long ran;
static weft_color mine;

static void count(void *unused)
{
	(void)unused;
	atomic_fetch_add(&ran, 1);
}

struct sums {
	uint64_t posted, run, dropped, steals, class_run, class_dropped, class_stolen, timers;
};

static struct sums add_up(int n)
{
	struct sums sum = { 0 };

	for (int i = 0; i < n; i++) {
		sum.posted += workers[i].posted;
		sum.run += workers[i].run;
		sum.dropped += workers[i].dropped;
		sum.steals += workers[i].steals;
		sum.timers += workers[i].timers_fired;
		for (int c = 0; c < WEFT_CLASSES; c++) {
			sum.class_run += workers[i].classes[c].run;
			sum.class_dropped += workers[i].classes[c].dropped;
			sum.class_stolen += workers[i].classes[c].stolen;
		}
	}
	return sum;
}

static uint64_t class_run(int n, int class)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += workers[i].classes[class].run;
	return sum;
}

static weft_event taken_back, dropped[10];

static void cancel_one(void *unused)
{
	(void)unused;
	weft_event_init(&taken_back, 300, count, NULL);
	CHECK_EQ(weft_event_post(&taken_back), 0);
	CHECK_EQ(weft_event_cancel(&taken_back), 0);
	count(NULL);
}

static void *post_and_count(void *unused)
{
	struct sums sum;
	int n;

	for (int i = 0; i < EVENTS; i++)
		CHECK_EQ(weft_post(200 + (weft_color)(i % 7), count, NULL), 0);
	/* All of these, cancel_one and the first function. */
	WAIT_FOR(atomic_load(&ran) == 3 * EVENTS + 10 + 1);
	n = weft_stats(&all, workers, MOST);
	sum = add_up(n);
	CHECK_EQ(n, 3);
	CHECK_EQ(all.workers, 3);
	CHECK_EQ(all.posted_foreign, EVENTS);
	CHECK_EQ(sum.run + sum.dropped, 3 * EVENTS + 10 + 2);
	/* One was posted and taken back. */
	CHECK_EQ(sum.posted + all.posted_foreign, sum.run + sum.dropped + 1);
	CHECK_EQ(all.queued, 0);
	CHECK_EQ(sum.class_run, sum.run);
	CHECK_EQ(sum.class_dropped, sum.dropped);
	CHECK(sum.class_stolen == sum.steals);
	CHECK_EQ(sum.dropped, 10 - 4);
	CHECK_EQ(class_run(n, WEFT_CLASS_FRESH), EVENTS);
	CHECK_EQ(class_run(n, 5), EVENTS);
	CHECK_STR(all.steal, "all");
	CHECK(all.io != NULL);
	CHECK_EQ(weft_stats(&all, workers, 1), 1);
	CHECK_EQ(all.workers, 3);
	CHECK_EQ(weft_stats(NULL, NULL, 5), 0);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static pthread_t counter;

static int start_counting(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	mine = weft_color_new_in(5);
	for (int i = 0; i < EVENTS; i++) {
		CHECK_EQ(weft_post(weft_color_new(), count, NULL), 0);
		CHECK_EQ(weft_post(mine, count, NULL), 0);
	}
	for (int i = 0; i < 10; i++) {
		weft_event_init(&dropped[i], WEFT_MAIN, count, NULL);
		dropped[i].drop = count;
		CHECK_EQ(weft_event_post(&dropped[i]), 0);
	}
	CHECK_EQ(weft_post(300, cancel_one, NULL), 0);
	counter = thread_start(post_and_count, unused);
	return 0;
}

TEST(counters_add_up)
{
	weft_options opt = { .workers = 3, .color_depth = 4, .stall_ms = -1 };

	CHECK_EQ(weft_stats(&all, workers, MOST), -ESHUTDOWN);
	CHECK_EQ(weft_run(start_counting, NULL, &opt), 0);
	thread_join(counter);
	CHECK_EQ(weft_stats(&all, workers, MOST), -ESHUTDOWN);
}

/* Queued events are counted while they are. */

static int count_queued(void *unused)
{
	(void)unused;
	for (int i = 0; i < 25; i++)
		CHECK_EQ(weft_post(400 + (weft_color)(i % 5), count, NULL), 0);
	CHECK_EQ(weft_stats(&all, workers, MOST), 1);
	CHECK_EQ(all.queued, 25);
	CHECK_EQ(workers[0].colors, 5);
	CHECK(!workers[0].parked && !workers[0].stuck && !workers[0].spare);
	CHECK(workers[0].cpu >= 0);
	return 0;
}

TEST(what_is_queued_is_counted)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(count_queued, NULL, &opt), 0);
}

/* The dump */

static char text[65536];

static void dump(void)
{
	char path[] = "/tmp/weft-dump-XXXXXX";
	int fd = mkstemp(path);
	ssize_t n;

	CHECK(fd >= 0);
	unlink(path);
	CHECK_EQ(weft_dump(fd), 0);
	n = pread(fd, text, sizeof text - 1, 0);
	CHECK(n > 0);
	text[n] = '\0';
	close(fd);
}

static bool says(const char *words)
{
	return strstr(text, words) != NULL;
}

static int dump_now(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_post(weft_color_new_in(7), count, NULL), 0);
	CHECK_EQ(weft_post(weft_color_new_in(8), count, NULL), 0);
	return 0;
}

static void *dump_after(void *unused)
{
	int fds[2];
	char start[64];

	WAIT_FOR(atomic_load(&ran) == 2);
	dump();
	CHECK(says("weft: 2 workers, io "));
	CHECK(says("steal locality"));
	CHECK(says("worker 0 on cpu "));
	CHECK(says("worker 1 on cpu "));
	CHECK(!says("worker 2"));
	CHECK(says("class 7 requests: 1 run"));
	CHECK(says("class 8"));
	CHECK(says("class 0 chosen: "));
	CHECK(says("offload: "));
	CHECK(says("\nhandler count"));
	/* To a pipe, and to what is not a descriptor. */
	CHECK_EQ(pipe(fds), 0);
	CHECK_EQ(weft_dump(fds[1]), 0);
	CHECK_EQ(read(fds[0], start, 5), 5);
	CHECK_EQ(strncmp(start, "weft:", 5), 0);
	close(fds[0]);
	close(fds[1]);
	CHECK_EQ(weft_dump(-1), -EBADF);
	CHECK_EQ(weft_dump(fds[1]), -EBADF);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static pthread_t dumper;

static int start_dump(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	dumper = thread_start(dump_after, NULL);
	return dump_now(unused);
}

TEST(a_dump_says_what_there_is)
{
	weft_options opt = { .workers = 2, .steal = "locality" };

	CHECK_EQ(weft_dump(1), -ESHUTDOWN);
	CHECK_EQ(weft_class_name(7, "requests"), 0);
	CHECK_EQ(weft_class_name(-1, "x"), -EINVAL);
	CHECK_EQ(weft_class_name(WEFT_CLASSES, "x"), -EINVAL);
	CHECK_EQ(weft_handler_time(count, 2000), 0); /* it is known before its first run is over */
	CHECK_EQ(weft_run(start_dump, NULL, &opt), 0);
	thread_join(dumper);
}

static void dump_itself(void *unused)
{
	(void)unused;
	dump();
	CHECK(says("runs handler dump_itself"));
	CHECK(says("stats.c:")); /* where it was posted */
}

static int start_dump_itself(void *unused)
{
	return weft_post(1, dump_itself, unused);
}

TEST(a_dump_shows_the_handler_that_runs_and_where_it_was_posted)
{
	CHECK_EQ(weft_run(start_dump_itself, NULL, NULL), 0);
}

/* The run ends while a foreign thread is in weft_dump and cannot go on. */

static int full_pipe[2];
static int pipe_holds;

/* One page is left, which is less than the dump with all these classes. */
static void fill_pipe(void)
{
	static char page[4096];
	int used = 0;

	CHECK_EQ(pipe(full_pipe), 0);
	pipe_holds = fcntl(full_pipe[1], F_GETPIPE_SZ);
	CHECK(pipe_holds >= 2 * (int)sizeof page);
	for (; used < pipe_holds - (int)sizeof page; used += (int)sizeof page)
		CHECK_EQ(write(full_pipe[1], page, sizeof page), sizeof page);
}

static void *dump_to_full_pipe(void *unused)
{
	WAIT_FOR(atomic_load(&ran) == WEFT_CLASSES - 2);
	CHECK_EQ(weft_dump(full_pipe[1]), 0);
	close(full_pipe[1]);
	return unused;
}

static void *end_the_run(void *unused)
{
	int used = 0;

	while (used < pipe_holds)
		CHECK_EQ(ioctl(full_pipe[0], FIONREAD, &used), 0);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static pthread_t ender;

static int start_long_dump(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	for (int i = 2; i < WEFT_CLASSES; i++)
		CHECK_EQ(weft_post(weft_color_new_in(i), count, NULL), 0);
	dumper = thread_start(dump_to_full_pipe, NULL);
	ender = thread_start(end_the_run, unused);
	return 0;
}

TEST(a_dump_that_nobody_reads_does_not_keep_the_run_from_ending)
{
	weft_options opt = { .workers = 2, .stall_ms = -1 };
	static char long_name[400];
	ssize_t n;

	memset(long_name, 'x', sizeof long_name - 1);
	for (int i = 2; i < WEFT_CLASSES; i++)
		CHECK_EQ(weft_class_name(i, long_name), 0);
	fill_pipe();
	CHECK_EQ(weft_run(start_long_dump, NULL, &opt), 0);
	thread_join(ender);
	do
		n = read(full_pipe[0], text, sizeof text);
	while (n > 0);
	thread_join(dumper);
}

/* What is measured of two handlers that take turns */

enum { EACH = 8000 };

static int tacks;

static void tock(void *unused);

static void tick(void *unused)
{
	tacks++;
	CHECK_EQ(weft_post(5, tock, unused), 0);
}

static void tock(void *unused)
{
	if (tacks < EACH)
		CHECK_EQ(weft_post(5, tick, unused), 0);
}

static int start_ticking(void *unused)
{
	return weft_post(5, tick, unused);
}

TEST(handlers_that_take_turns_are_measured_alike)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };
	const uint32_t fair = EACH / WF_SAMPLE_EVERY;
	uint32_t ticks, tocks;

	CHECK_EQ(weft_run(start_ticking, NULL, &opt), 0);
	ticks = wf_handler_find(tick)->samples;
	tocks = wf_handler_find(tock)->samples;
	CHECK(ticks > fair * 3 / 4 && ticks < fair * 5 / 4);
	CHECK(tocks > fair * 3 / 4 && tocks < fair * 5 / 4);
}

TEST_MAIN
