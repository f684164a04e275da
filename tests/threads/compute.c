/* backends: both */
/* Threads that compute without a wait. However many there are, what the kernel and other threads
 * bring must still run. The threads compute until it has: otherwise the test never ends. */
#include "common.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/capacity.h"

enum { BEATS = 20, STORMS = 3 };

/* A beat is something that is due again and again, such as a timer, a read or a connection. It
 * counts only while all computing threads compute at the same time. */
static atomic_int computing, beats, enough;
static int at_once; /* how many threads compute at the same time */

static void beat(void)
{
	if (atomic_load(&computing) >= at_once)
		atomic_fetch_add(&beats, 1);
}

/* Relaxed: ThreadSanitizer takes a lock for each ordered load, and the computing threads would keep
 * that lock from the thread that counts a beat. */
static bool seen(void)
{
	return atomic_load_explicit(&beats, memory_order_relaxed) >= BEATS;
}

static void compute(void)
{
	atomic_fetch_add(&computing, 1);
	while (!seen())
		continue;
	atomic_fetch_add(&enough, 1);
}

/* Ways to compute */

static int in_a_thread(void *unused)
{
	(void)unused;
	compute();
	return 0;
}

static void in_a_callback(void *unused)
{
	(void)unused;
	compute();
}

static int in_a_body(void *unused)
{
	return weft_async_call(in_a_thread, unused);
}

/* All wait for one pipe, so that the kernel wakes them at the same time. */
static int gate[2];
static atomic_int waiting;

static int when_woken(void *unused)
{
	struct pollfd p = { .fd = gate[0], .events = POLLIN };

	atomic_fetch_add(&waiting, 1);
	CHECK_EQ(weft_poll(&p, 1), 1);
	return in_a_thread(unused);
}

static void start_threads(int count, weft_thread_fn *fn)
{
	for (int i = 0; i < count; i++)
		CHECK_EQ(weft_go_on(weft_color_new(), fn, NULL), 0);
}

static void start_in_threads(int count)
{
	start_threads(count, in_a_thread);
}

static void start_in_bodies(int count)
{
	start_threads(count, in_a_body);
}

static void start_in_callbacks(int count)
{
	for (int i = 0; i < count; i++)
		CHECK_EQ(weft_post(weft_color_new(), in_a_callback, NULL), 0);
}

static void start_woken(int count)
{
	start_threads(count, when_woken);
	YIELD_UNTIL(atomic_load(&waiting) == count);
	CHECK_EQ(write(gate[1], "x", 1), 1);
}

/* Beats. Each says that it is ready, so that nobody computes before it was in its place. */

static atomic_bool ready;

static int by_sleep(void *unused)
{
	(void)unused;
	while (!seen()) {
		atomic_store(&ready, true);
		CHECK_EQ(weft_sleep(WEFT_MS), 0);
		beat();
	}
	return 0;
}

static int fds[2];

static int by_pipe(void *unused)
{
	char byte;

	(void)unused;
	atomic_store(&ready, true);
	while (weft_read(fds[0], &byte, 1) == 1)
		beat();
	return 0;
}

/* One byte for each beat, so that each is a wait of its own. */
static void *write_pipe(void *unused)
{
	WAIT_FOR(atomic_load(&computing) >= at_once);
	for (int i = 0; i < BEATS; i++) {
		CHECK_EQ(write(fds[1], "x", 1), 1);
		WAIT_FOR(atomic_load(&beats) > i);
	}
	CHECK_EQ(close(fds[1]), 0);
	return unused;
}

static struct sockaddr_in address;

static int listen_here(void)
{
	socklen_t size = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address = (struct sockaddr_in){ .sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	CHECK(fd >= 0);
	CHECK_EQ(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	CHECK_EQ(listen(fd, 8), 0);
	return fd;
}

/* A thread for each connection, as servers have it. */
static int serve(void *fd)
{
	char byte;

	CHECK_EQ(weft_read((int)(intptr_t)fd, &byte, 1), 1);
	CHECK_EQ(weft_write((int)(intptr_t)fd, &byte, 1), 1);
	CHECK_EQ(weft_close((int)(intptr_t)fd), 0);
	beat();
	return 0;
}

static int by_accept(void *unused)
{
	(void)unused;
	atomic_store(&ready, true);
	for (int i = 0; i < BEATS; i++) {
		int fd = weft_accept(fds[0], NULL);

		CHECK(fd >= 0);
		CHECK_EQ(weft_go_on(weft_color_new(), serve, (void *)(intptr_t)fd), 0);
	}
	CHECK_EQ(weft_close(fds[0]), 0);
	return 0;
}

static void *connect_to_it(void *unused)
{
	char byte = 'x';

	WAIT_FOR(atomic_load(&computing) >= at_once);
	for (int i = 0; i < BEATS; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
		CHECK_EQ(write(fd, &byte, 1), 1);
		CHECK_EQ(read(fd, &byte, 1), 1);
		CHECK_EQ(close(fd), 0);
	}
	return unused;
}

static void posted(void *unused)
{
	(void)unused;
	beat();
}

static void *post_beats(void *unused)
{
	WAIT_FOR(atomic_load(&computing) >= at_once);
	for (int i = 0; i < BEATS; i++) {
		CHECK_EQ(weft_post(77, posted, NULL), 0);
		WAIT_FOR(atomic_load(&beats) > i);
	}
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static int by_post(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	atomic_store(&ready, true);
	return 0;
}

static void by_timer(void *unused)
{
	beat();
	if (!seen())
		CHECK_EQ(weft_after(WEFT_MS, 78, by_timer, unused), 0);
}

static int start_timer(void *unused)
{
	CHECK_EQ(weft_after(WEFT_MS, 78, by_timer, unused), 0);
	atomic_store(&ready, true);
	return 0;
}

/* Foreign threads wake a thread. */

WEFT_CHANNEL(messages, int);

static messages *line;

static int receive(void *unused)
{
	int message;

	(void)unused;
	atomic_store(&ready, true);
	while (messages_receive(line, &message) == 0)
		beat();
	messages_free(line);
	return 0;
}

static int by_message(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	line = messages_new(1);
	return receive(unused);
}

static void *send_messages(void *unused)
{
	WAIT_FOR(atomic_load(&computing) >= at_once);
	for (int i = 0; i < BEATS; i++) {
		CHECK_EQ(messages_send(line, i), 0);
		WAIT_FOR(atomic_load(&beats) > i);
	}
	CHECK_EQ(messages_close(line), 0);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

/* All of it */

static struct {
	int count;
	void (*start)(int count);
	weft_thread_fn *beat;
} storm;

static int run_storm(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_go_on(weft_color_new(), storm.beat, NULL), 0);
	YIELD_UNTIL(atomic_load(&ready));
	storm.start(storm.count);
	return 0;
}

static void begin(int workers, int count, void (*how)(int count), weft_thread_fn *by)
{
	int open = WF_WORKERS_OPEN(workers);

	catch_reports();
	storm.count = count;
	storm.start = how;
	storm.beat = by;
	/* Those that were woken have reserves too. */
	at_once = how == start_woken || count < open ? count : open;
	atomic_store(&computing, 0);
	atomic_store(&beats, 0);
	atomic_store(&enough, 0);
	atomic_store(&ready, false);
}

static void go_through(int workers, int count, void (*how)(int count), weft_thread_fn *by,
		       void *(*outside)(void *unused))
{
	weft_options opt = { .workers = workers };
	pthread_t thread = 0;

	begin(workers, count, how, by);
	if (outside != NULL)
		thread = thread_start(outside, NULL);
	CHECK_EQ(weft_run(run_storm, NULL, &opt), 0);
	if (outside != NULL)
		thread_join(thread);
	CHECK_EQ(atomic_load(&enough), count);
}

TEST(a_sleep_ends_while_6_or_12_or_24_threads_compute)
{
	for (int count = 6; count <= 24; count *= 2)
		go_through(2, count, start_in_threads, by_sleep, NULL);
	go_through(1, 24, start_in_threads, by_sleep, NULL);
}

TEST(a_timer_fires_while_24_callbacks_compute)
{
	go_through(2, 24, start_in_callbacks, start_timer, NULL);
}

TEST(a_pipe_is_read_while_24_threads_compute)
{
	CHECK_EQ(pipe(fds), 0);
	go_through(2, 24, start_in_threads, by_pipe, write_pipe);
	CHECK_EQ(close(fds[0]), 0);
}

TEST(connections_are_accepted_and_served_while_24_bodies_compute)
{
	fds[0] = listen_here();
	go_through(2, 24, start_in_bodies, by_accept, connect_to_it);
}

TEST(what_a_foreign_thread_posts_runs_while_24_threads_compute)
{
	go_through(2, 24, start_in_threads, by_post, post_beats);
}

TEST(a_thread_that_a_foreign_thread_wakes_runs_while_24_threads_compute)
{
	go_through(2, 24, start_in_threads, by_message, send_messages);
}

/* Beats that pass from color to color. A thread computes on each worker, so the beat runs on
 * stand-ins from its beginning. It starts the other computing threads itself: they are queued
 * where it then wakes its partner, or hops. */

enum { TAKEN = 2 };

static int by_channel(void *unused)
{
	(void)unused;
	line = messages_new(1);
	CHECK_EQ(weft_go_on(weft_color_new(), receive, NULL), 0);
	YIELD_UNTIL(atomic_load(&ready));
	storm.start(storm.count);
	while (!seen()) {
		CHECK_EQ(messages_send(line, 1), 0);
		CHECK_EQ(weft_sleep(WEFT_MS), 0);
	}
	return messages_close(line);
}

static int by_hop(void *unused)
{
	weft_color here = weft_color_current(), there = weft_color_new();

	(void)unused;
	storm.start(storm.count);
	while (!seen()) {
		CHECK_EQ(weft_hop(there), 0);
		CHECK_EQ(weft_hop(here), 0);
		beat();
		CHECK_EQ(weft_sleep(WEFT_MS), 0);
	}
	return 0;
}

static weft_mutex mutex = WEFT_MUTEX_INIT;
static const void *last_owner;

static int take_turns(void *who)
{
	atomic_store(&ready, true);
	while (!seen()) {
		CHECK_EQ(weft_mutex_lock(&mutex), 0);
		if (last_owner != who)
			beat();
		last_owner = who;
		CHECK_EQ(weft_sleep(WEFT_MS), 0);
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	}
	return 0;
}

static int by_mutex(void *unused)
{
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_go_on(weft_color_new(), take_turns, &mutex), 0);
	YIELD_UNTIL(atomic_load(&ready));
	storm.start(storm.count);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	return take_turns(unused);
}

static int take_workers(void *unused)
{
	for (int i = 0; i < TAKEN; i++) {
		weft_color color = (weft_color)(100 + i);

		CHECK_EQ(weft_color_pin(color, i), 0);
		CHECK_EQ(weft_go_on(color, in_a_thread, NULL), 0);
	}
	while (atomic_load(&computing) < TAKEN)
		CHECK_EQ(weft_sleep(WEFT_MS), 0);
	CHECK(weft_worker_current() >= TAKEN);
	return storm.beat(unused);
}

static void pass_on(weft_thread_fn *by)
{
	weft_options opt = { .workers = TAKEN };

	begin(TAKEN, 24, start_in_threads, by);
	CHECK_EQ(weft_run(take_workers, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&enough), 24 + TAKEN);
}

TEST(a_message_reaches_another_color_while_24_threads_compute)
{
	pass_on(by_channel);
}

TEST(a_thread_hops_while_24_threads_compute)
{
	pass_on(by_hop);
}

TEST(a_mutex_goes_to_another_color_while_24_threads_compute)
{
	pass_on(by_mutex);
}

/* The kernel brings them as it brings the beat, so that reserves begin to compute as well. */
TEST(a_sleep_ends_while_threads_compute_that_the_kernel_woke)
{
	int count = WF_WORKERS_LIMIT(2) - 3;

	CHECK_EQ(pipe(gate), 0);
	go_through(2, count < 24 ? count : 24, start_woken, by_sleep, NULL);
	CHECK_EQ(close(gate[0]), 0);
	CHECK_EQ(close(gate[1]), 0);
}

static int run_storms(void *unused)
{
	for (int i = 0; i < STORMS; i++) {
		atomic_store(&computing, 0);
		atomic_store(&beats, 0);
		atomic_store(&enough, 0);
		atomic_store(&ready, false);
		CHECK_EQ(run_storm(unused), 0);
		while (atomic_load(&enough) != storm.count)
			CHECK_EQ(weft_sleep(WEFT_MS), 0);
	}
	return 0;
}

TEST(it_goes_on_in_each_storm_of_a_run)
{
	weft_options opt = { .workers = 2 };

	catch_reports();
	storm.count = 12;
	storm.start = start_in_threads;
	storm.beat = by_sleep;
	at_once = WF_WORKERS_OPEN(2);
	CHECK_EQ(weft_run(run_storms, NULL, &opt), 0);
}

TEST_MAIN
