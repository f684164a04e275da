/* Threads can be seen: in the dump, by their stacks, and in the reports of what went
 * wrong with them.
 */
#include "scheduler/common.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "threads/dump.h"

static char text[1 << 17];

static int run(int (*fn)(void *), int workers)
{
	weft_options opt = { .workers = workers };

	return weft_run(fn, NULL, &opt);
}

/* Reads what a descriptor has to say, to its end. */
static void read_text(int fd)
{
	size_t at = 0;
	ssize_t n;

	while ((n = read(fd, text + at, sizeof text - 1 - at)) > 0)
		at += (size_t)n;
	CHECK_EQ(n, 0);
	text[at] = '\0';
}

static void take_dump(void)
{
	int file = memfd_create("dump", 0);

	CHECK(file >= 0);
	CHECK_EQ(weft_dump(file), 0);
	CHECK_EQ(lseek(file, 0, SEEK_SET), 0);
	read_text(file);
	close(file);
}

static bool says(const char *what)
{
	if (strstr(text, what) != NULL)
		return true;
	fprintf(stderr, "no \"%s\" in:\n%s\n", what, text);
	return false;
}

/* Where `what` stands in the text, at `from` or later. */
static const char *find(const char *from, const char *what)
{
	const char *at = strstr(from, what);

	if (at == NULL)
		test_fail(__FILE__, __LINE__, "no \"%s\" in: %s", what, from);
	return at;
}

/* Frames that the compiler shall leave alone. */
#ifdef __clang__
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noinline, noclone))
#endif

static atomic_int sink;
static weft_mutex mutex;
static weft_sem never;

FRAME static int wait_inside(void)
{
	int rc = weft_sem_wait(&never);

	sink++;
	return rc;
}

FRAME static int go_deeper(int depth)
{
	volatile char frame[3000];
	int rc;

	memset((char *)frame, depth, sizeof frame);
	rc = depth > 0 ? go_deeper(depth - 1) : wait_inside();
	sink += frame[depth];
	return rc;
}

static int wait_deep(void *unused)
{
	int rc = go_deeper(3);

	(void)unused;
	sink++;
	return rc;
}

static void start(const char *name, weft_color color, weft_thread_fn *fn, void *arg)
{
	weft_thread_attr attr = { .name = name, .on = true, .color = color };

	CHECK_EQ(weft_thread_start(NULL, &attr, fn, arg), 0);
}

/* Until so many threads wait, and have left their stacks, which they do a little later;
 * the caller is a thread, and of no other's color. */
static void wait_until_parked(unsigned n)
{
	char wanted[64];

	snprintf(wanted, sizeof wanted, " %u waiting,", n);
	do {
		CHECK_EQ(weft_yield(), 0);
		take_dump();
	} while (strstr(text, wanted) == NULL || strstr(text, "(it runs)") != NULL);
}

/* Stacks */

static weft_thread *_Atomic parked;

static int be_seen(void *unused)
{
	int rc;

	parked = weft_self();
	rc = wait_deep(unused);
	sink++;
	return rc;
}

static int look_at_stack(void *unused)
{
	const char *at = text;

	(void)unused;
	start("deep", 7, be_seen, NULL);
	wait_until_parked(1);
	wf_thread_backtrace(parked, text, sizeof text);
	/* All of them, in order, and nothing but: the library's frames, the user's, and
	 * those below every thread. */
	at = find(at, "wf_park+");
	at = find(at, " wait_inside+");
	for (int i = 0; i < 4; i++)
		at = find(at + 1, " go_deeper+");
	CHECK(strstr(at + 2, "go_deeper+") == NULL);
	at = find(at, "be_seen+");
	at = find(at, "wf_switch_root+");
	CHECK(strchr(at, '\n') == NULL);
	CHECK_EQ(weft_sem_post(&never), 0);
	return 0;
}

TEST(the_stack_of_a_parked_thread_is_shown_from_end_to_end)
{
	CHECK_EQ(run(look_at_stack, 2), 0);
}

FRAME static void look_at_self(void)
{
	wf_thread_backtrace(weft_self(), text, sizeof text);
	sink++;
}

static int own_stack(void *unused)
{
	(void)unused;
	look_at_self();
	CHECK_EQ(strncmp(text, "\n  #0 look_at_self+", 19), 0);
	find(find(text, "own_stack+"), "wf_switch_root+");
	return 0;
}

TEST(a_thread_can_show_its_own_stack)
{
	CHECK_EQ(run(own_stack, 1), 0);
}

static int not_begun(void *unused)
{
	weft_thread *t;
	weft_thread_attr attr = { 0 };

	(void)unused;
	CHECK_EQ(weft_thread_start(&t, &attr, wait_deep, NULL), 0);
	wf_thread_backtrace(t, text, sizeof text);
	CHECK_EQ(strncmp(text, "\n  #0 wait_deep+", 16), 0);
	CHECK_EQ(weft_sem_post(&never), 0);
	CHECK_EQ(weft_join(t, NULL), 0);
	return 0;
}

TEST(a_thread_that_has_not_begun_shows_its_function)
{
	CHECK_EQ(run(not_begun, 1), 0);
}

/* Others run, park and end while one looks at them. */
#ifdef WF_TSAN
enum { RESTLESS = 4, LOOKS = 20 };
#else
enum { RESTLESS = 10, LOOKS = 200 };
#endif
static atomic_bool enough;
static weft_thread *_Atomic restless[RESTLESS];

static int be_restless(void *slot)
{
	atomic_store((weft_thread * _Atomic *)slot, weft_self());
	while (!atomic_load(&enough)) {
		CHECK_EQ(go_deeper((int)(slot != NULL)), 0);
		CHECK_EQ(weft_yield(), 0); /* they may be fed faster than they eat */
	}
	return 0;
}

static int feed(void *unused)
{
	(void)unused;
	while (!atomic_load(&enough)) {
		CHECK_EQ(weft_sem_post(&never), 0);
		CHECK_EQ(weft_yield(), 0);
	}
	for (int i = 0; i < RESTLESS; i++)
		CHECK_EQ(weft_sem_post(&never), 0);
	return 0;
}

static int look_at_restless(void *unused)
{
	int looks = TEST_SIZE(LOOKS), shown = 0;

	(void)unused;
	start("feeder", 1000, feed, NULL);
	for (int i = 0; i < RESTLESS; i++)
		start("restless", 2000 + (weft_color)i, be_restless, &restless[i]);
	/* They may take their time to begin. */
	for (int i = 0; i < looks || shown == 0; i++) {
		wf_thread_backtrace(weft_self(), text, sizeof text);
		for (int k = 0; k < RESTLESS; k++) {
			if (restless[k] == NULL)
				continue;
			wf_thread_backtrace(restless[k], text, 2000);
			shown += strstr(text, "be_restless+") != NULL;
			wf_thread_waits_for(restless[k], text, sizeof text);
		}
		CHECK_EQ(weft_yield(), 0);
	}
	atomic_store(&enough, true);
	return 0;
}

TEST(threads_may_be_looked_at_while_they_go_on)
{
	CHECK_EQ(run(look_at_restless, 2), 0);
}

/* The dump */

static int read_pipe(void *fd)
{
	char byte;

	CHECK_EQ(weft_read(*(int *)fd, &byte, 1), 1);
	return 0;
}

static int want_mutex(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	return weft_mutex_unlock(&mutex);
}

static int see_all(void *unused)
{
	int fds[2];
	char wanted[64];

	(void)unused;
	CHECK_EQ(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	start("reader", 21, read_pipe, &fds[0]);
	start("locker", 22, want_mutex, NULL);
	start("", 23, wait_deep, NULL);
	wait_until_parked(3);
	CHECK(says("threads: 1 running, 0 ready, 3 waiting, 0 ended and not joined; 4 started\n"));
	CHECK(says("runs thread \"main\" ("));
	snprintf(wanted, sizeof wanted, "read of descriptor %d; color 0x15, started at ", fds[0]);
	find(find(find(text, "thread \"reader\" ("), wanted), "read_pipe+");
	snprintf(wanted, sizeof wanted, "): waits for mutex %p; color 0x16", (void *)&mutex);
	find(find(find(text, "thread \"locker\" ("), wanted), "want_mutex+");
	snprintf(wanted, sizeof wanted, ": waits for semaphore %p; color 0x17", (void *)&never);
	find(find(text, wanted), "bytes of stack used\n  #0 ");
	CHECK(says(__FILE__));
	CHECK_EQ(write(fds[1], "x", 1), 1);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(weft_sem_post(&never), 0);
	return 0;
}

TEST(a_dump_tells_of_each_thread_what_it_waits_for)
{
	CHECK_EQ(run(see_all, 2), 0);
}

enum { MANY = 130 };

static int see_many(void *unused)
{
	(void)unused;
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(weft_go_on(30, wait_deep, NULL), 0);
	wait_until_parked(MANY);
	CHECK(says("and 31 more threads\n"));
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(weft_sem_post(&never), 0);
	return 0;
}

TEST(a_dump_of_many_threads_has_a_limit)
{
	CHECK_EQ(run(see_many, 2), 0);
}

/* Counters */

static int count_threads(void *unused)
{
	weft_thread *t;
	weft_thread_attr attr = { 0 };
	weft_stats_all all;

	(void)unused;
	for (int i = 0; i < 5; i++)
		CHECK_EQ(weft_go(nothing_to_do, NULL), 0);
	CHECK_EQ(weft_thread_start(&t, &attr, nothing_to_do, NULL), 0);
	CHECK_EQ(weft_stats(&all, NULL, 0), 0);
	CHECK_EQ(all.threads, 7);
	CHECK_EQ(all.threads_started, 7);
	CHECK_EQ(all.stacks_used, 7);
	CHECK(all.stacks >= 7);
	CHECK(all.stack_most < 3 * 3000);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(weft_yield(), 0);
	CHECK_EQ(weft_stats(&all, NULL, 0), 0);
	CHECK_EQ(all.threads, 1);
	CHECK_EQ(all.stacks_used, 2);
	CHECK_EQ(weft_join(t, NULL), 0);
	CHECK_EQ(weft_go_on(7, wait_deep, NULL), 0);
	wait_until_parked(1);
	CHECK_EQ(weft_stats(&all, NULL, 0), 0);
	CHECK_EQ(all.threads_started, 8);
	CHECK_EQ(all.stacks_used, 2);
	/* wait_deep has four frames of 3000 bytes. */
	CHECK(all.stack_most > 4 * 3000);
	CHECK(all.stack_most < all.stack_room);
	CHECK_EQ(weft_sem_post(&never), 0);
	return 0;
}

TEST(threads_and_the_depth_of_their_stacks_are_counted)
{
	CHECK_EQ(run(count_threads, 1), 0);
}

/* Reports */

static int lock_both(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	start("reader", 5, want_mutex, NULL);
	return weft_sem_wait(&never) + sink;
}

TEST(a_deadlock_is_told_with_what_each_thread_waits_for)
{
	char wanted[64];

	catch_reports();
	CHECK_EQ(run(lock_both, 2), -EDEADLK);
	strcpy(text, caught.last[WEFT_REPORT_MISUSE]);
	CHECK(says("deadlock: 2 threads wait and nothing is left"));
	snprintf(wanted, sizeof wanted, "waits for semaphore %p\n", (void *)&never);
	find(find(find(text, "thread \"main\" ("), wanted), "lock_both+");
	snprintf(wanted, sizeof wanted, "waits for mutex %p\n", (void *)&mutex);
	find(find(find(text, "thread \"reader\" ("), wanted), "want_mutex+");
}

static int wait_in_crowd(void *unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++)
		CHECK_EQ(weft_go(wait_deep, NULL), 0);
	return weft_sem_wait(&never);
}

TEST(a_deadlock_of_many_is_told_in_short)
{
	catch_reports();
	CHECK_EQ(run(wait_in_crowd, 2), -EDEADLK);
	CHECK(reported(WEFT_REPORT_MISUSE, "deadlock: 21 threads"));
	CHECK(reported(WEFT_REPORT_MISUSE, "\nand 13 more"));
}

/* Runs `fn` in a child that leaves no core; its standard error is in `text` then.
 * Returns how it ended. */
static int in_child(void (*fn)(void))
{
	int status = 0, fds[2];
	pid_t pid;

	CHECK_EQ(pipe(fds), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_DUMPABLE, 0);
		dup2(fds[1], STDERR_FILENO);
		fn();
		_exit(0);
	}
	close(fds[1]);
	read_text(fds[0]);
	close(fds[0]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static int overflow(void *unused)
{
	(void)unused;
	return go_deeper(100000) + sink;
}

static int start_overflow(void *unused)
{
	(void)unused;
	start("endless", 5, overflow, NULL);
	return 0;
}

static void run_overflow(void)
{
	run(start_overflow, 2);
}

TEST(a_stack_overflow_is_told_as_such)
{
	int status = in_child(run_overflow);
	const char *at;

	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGSEGV);
	CHECK(says("weft: stack overflow: thread \"endless\" ("));
	CHECK(says("started at " __FILE__ ":"));
	CHECK(says("weft_thread_attr.stack_size or WEFT_STACK_SIZE\n"));
	at = find(find(text, "  #0 "), "go_deeper+");
	at = find(at, "\n  ...\n");
	at = find(at, "go_deeper+");
	find(find(at, "overflow+"), "wf_switch_root+");
}

static int sleep_and_look(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_sleep(WEFT_US), 0);
	take_dump();
	CHECK(strstr(text, "src/threads/sleep.c") == NULL);
	return 0;
}

TEST(a_thread_that_slept_is_still_started_by_the_user)
{
	run(sleep_and_look, 1);
	CHECK(says("started at "));
}

/* A thread that does not come back is named by the watcher, and stays until it was. */
FRAME static void compute(void)
{
	while (atomic_load(&caught.count[WEFT_REPORT_STALL]) == 0)
		sink++;
}

static int hog(void *unused)
{
	(void)unused;
	compute();
	return weft_yield();
}

static int start_hog(void *unused)
{
	(void)unused;
	start("hog", 5, hog, NULL);
	return 0;
}

static int blocked[2];

static void free_by_report(enum weft_report_kind kind, const char *what, void *unused)
{
	catch_report(kind, what, unused);
	CHECK_EQ(write(blocked[1], "x", 1), 1);
}

/* The time is so long that nothing else is taken for stuck on a busy machine. */
static void run_hog(int (*fn)(void *), const char *frame, const char *caller)
{
	weft_options opt = { .workers = 1, .stall_ms = 100 };

	CHECK_EQ(pipe(blocked), 0);
	weft_on_report(free_by_report, NULL);
	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_STALL]), 1);
	strcpy(text, caught.last[WEFT_REPORT_STALL]);
	find(text, "is stuck: thread \"hog\" (");
	find(find(text, frame), caller);
}

TEST(a_worker_stuck_in_a_thread_is_told_by_the_threads_name)
{
	run_hog(start_hog, "compute+", "hog+");
}

/* A body belongs to who started it, until it waits. */
static int yields(void *unused)
{
	(void)unused;
	return weft_yield();
}

static int starts_one(void *unused)
{
	(void)unused;
	return weft_async_call(yields, NULL);
}

FRAME static int block(void *unused)
{
	char byte;

	(void)unused;
	CHECK_EQ(read(blocked[0], &byte, 1), 1);
	sink++;
	return 0;
}

static int blocks_in_body(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_async_call(starts_one, NULL), 0);
	CHECK_EQ(weft_async_call(block, NULL), 0);
	return weft_yield();
}

static int start_blocking(void *unused)
{
	(void)unused;
	start("hog", 5, blocks_in_body, NULL);
	return 0;
}

static int dumps(void *unused)
{
	(void)unused;
	take_dump();
	return 0;
}

static int dumps_in_body(void *unused)
{
	weft_scope s;

	weft_scope_begin(&s); /* somebody else uses the stack before, and waits there */
	CHECK_EQ(weft_async_call(yields, unused), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	return weft_async_call(dumps, unused);
}

TEST(where_a_body_was_started_is_told_once_it_has_waited)
{
	CHECK_EQ(run(dumps_in_body, 1), 0);
	CHECK(says("started at (a body that has not waited)"));
}

TEST(a_worker_stuck_in_a_body_is_told_by_the_name_of_who_started_it)
{
	run_hog(start_blocking, "block+", "");
}

TEST_MAIN
