/* backend.c - which backend is chosen, and io_uring as older kernels have it. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "io/backend.h"
#include "io/sync.h"
#include "scheduler/runtime.h"

/* As many containers do. */
static void forbid_uring(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof code / sizeof *code, code };

	CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
}

static void echo_once(void)
{
	char buf[8];
	int fd[2];
	struct call *c;

	make_tcp(fd);
	c = START(recv, fd[0], buf, 8, 0);
	CHECK_EQ(DO(send, fd[1], "abc", 3, 0), 3);
	CHECK_EQ(WAIT(c), 3);
	CHECK_EQ(DO(close, fd[0]), 0);
	CHECK_EQ(DO(close, fd[1]), 0);
}

TEST(where_io_uring_is_forbidden_epoll_takes_its_place)
{
	forbid_uring();
	setenv("WEFT_IO", "auto", 1);
	runtime_begin(1);
	CHECK_STR(backend_name(), "epoll");
	echo_once();
	runtime_end();
	unsetenv("WEFT_IO");
	runtime_begin(1);
	CHECK_STR(backend_name(), "epoll");
	runtime_end();
}

static int nothing(void *unused)
{
	(void)unused;
	return 0;
}

TEST(who_insists_on_io_uring_is_told_that_it_is_forbidden)
{
	weft_options opt = { .io = "uring" };

	forbid_uring();
	expect_reports();
	unsetenv("WEFT_IO");
	CHECK_EQ(weft_run(nothing, NULL, &opt), -EINVAL);
	CHECK_EQ(sync_reports, 1);
	CHECK(strstr(sync_report, "uring") != NULL);
}

TEST(the_backend_asked_for_is_used)
{
	const char *wanted = getenv("WEFT_IO");

	runtime_begin(1);
	if (wanted != NULL)
		CHECK_STR(backend_name(), wanted);
	echo_once();
	runtime_end();
}

static void never_called(void *arg)
{
	(void)arg;
	test_fail(__FILE__, __LINE__, "called after the stop");
}

/* Uses what newer kernels do otherwise: waiting, cancelling, stopping. */
static void use_all(void)
{
	static weft_op left[3];
	char buf[8];
	int fd[2], p[2];
	struct call *c;

	make_tcp(fd);
	CHECK_EQ(pipe2(p, O_NONBLOCK), 0);
	runtime_begin(2);
	for (int i = 0; i < 20; i++)
		echo_once();
	c = START(recv, fd[0], buf, 8, 0);
	CHECK_EQ(weft_op_cancel(&c->op), 0);
	CHECK_EQ(WAIT(c), -ECANCELED);
	c = START(read, p[0], buf, 8);
	CHECK_EQ(DO(write, p[1], "abc", 3), 3);
	CHECK_EQ(WAIT(c), 3);
	for (int i = 0; i < 3; i++)
		weft_op_init(&left[i], WEFT_MAIN, never_called, NULL);
	CHECK_EQ(weft_op_recv(&left[0], fd[0], buf, 8, 0), 0);
	CHECK_EQ(weft_op_recv(&left[1], fd[0], buf, 8, 0), 0);
	CHECK_EQ(weft_op_read(&left[2], p[0], buf, 8), 0);
	CHECK_EQ(weft_on_fd(fd[1], WEFT_READ, WEFT_MAIN, never_called, NULL), 0);
	echo_once();
	runtime_stop();
	close(fd[0]);
	close(fd[1]);
}

TEST(the_features_of_newer_kernels_are_not_needed)
{
	for (unsigned modesty = 0; modesty < 3; modesty++) {
		wf_uring_modesty = modesty;
		use_all();
	}
}

/* io_uring then completes only when the worker asks. */
TEST(all_goes_on_where_nobody_looks_for_stuck_workers)
{
	setenv("WEFT_STALL_MS", "-1", 1);
	use_all();
	unsetenv("WEFT_STALL_MS");
}

/* Timers of a worker that sleeps, or soon will. */
static struct {
	weft_timer first, second;
	sem_t fired;
} alarms;

static void tell_fired(void *unused)
{
	(void)unused;
	sem_post(&alarms.fired);
}

static void no_call(void *unused)
{
	(void)unused;
}

static void start_first(void *after)
{
	CHECK_EQ(weft_timer_start(&alarms.first, (uint64_t)(uintptr_t)after), 0);
}

static void start_second(void *after)
{
	CHECK_EQ(weft_timer_start(&alarms.second, (uint64_t)(uintptr_t)after), 0);
}

static void cancel_first(void *unused)
{
	(void)unused;
	(void)weft_timer_cancel(&alarms.first); /* on a slow machine it has fired */
}

static void post_and_let_sleep(weft_fn *fn, uint64_t after)
{
	CHECK_EQ(weft_post(WEFT_MAIN, fn, (void *)(uintptr_t)after), 0);
	while (!wf_runtime_asleep(wf_rt))
		sched_yield();
}

static void begin_with_timers(void)
{
	sem_init(&alarms.fired, 0, 0);
	weft_timer_init(&alarms.first, WEFT_MAIN, no_call, NULL);
	weft_timer_init(&alarms.second, WEFT_MAIN, tell_fired, NULL);
	runtime_begin(1);
}

static void use_alarms(void)
{
	begin_with_timers();
	post_and_let_sleep(start_first, 3600 * WEFT_SEC);
	post_and_let_sleep(start_second, 20 * WEFT_MS); /* before the alarm that is set */
	CHECK_EQ(sem_wait(&alarms.fired), 0);
	post_and_let_sleep(cancel_first, 0);
	post_and_let_sleep(start_first, 25 * WEFT_MS);
	post_and_let_sleep(start_second, 40 * WEFT_MS);
	post_and_let_sleep(cancel_first, 0); /* its alarm goes off all the same */
	CHECK_EQ(sem_wait(&alarms.fired), 0);
	runtime_end();
}

TEST(a_sleeper_wakes_for_its_first_timer_whatever_alarm_was_set_before)
{
	for (unsigned modesty = 0; modesty < 3; modesty++) {
		wf_uring_modesty = modesty;
		use_alarms();
	}
	wf_uring_modesty = 0;
	setenv("WEFT_STALL_MS", "-1", 1);
	use_alarms();
	unsetenv("WEFT_STALL_MS");
}

static atomic_bool enough;

static void post_again(void *unused)
{
	if (!atomic_load(&enough))
		CHECK_EQ(weft_post(5, post_again, unused), 0);
}

/* The worker asks only in passing. What comes is sent by others, when the kernel has been
 * asked for it and nothing else: behind a recv, a send of another socket is done. */
static void receive_beside_a_busy_color(void)
{
	int fd[2], other[2];
	char buf[8];

	make_tcp(fd);
	make_tcp(other);
	atomic_store(&enough, false);
	runtime_begin(1);
	CHECK_EQ(weft_post(5, post_again, NULL), 0);
	for (int i = 0; i < 20; i++) {
		struct call *c = START(recv, fd[0], buf, 8, 0);

		CHECK_EQ(DO(send, other[1], "abc", 3, 0), 3);
		CHECK_EQ(send(fd[1], "abcd", 4, 0), 4);
		CHECK_EQ(WAIT(c), 4);
	}
	atomic_store(&enough, true);
	runtime_end();
	for (int i = 0; i < 2; i++) {
		close(fd[i]);
		close(other[i]);
	}
}

TEST(a_worker_that_never_sleeps_gets_what_the_kernel_has)
{
	receive_beside_a_busy_color();
	setenv("WEFT_STALL_MS", "-1", 1);
	receive_beside_a_busy_color();
	unsetenv("WEFT_STALL_MS");
}

static uint64_t polls(void)
{
	weft_worker_stats one;

	CHECK(weft_stats(NULL, &one, 1) >= 1);
	return one.polls;
}

TEST(a_sleeper_sleeps_however_far_its_timer_is)
{
	for (uint64_t after = (uint64_t)1 << 40; after != 0; after <<= 1) {
		uint64_t before;

		begin_with_timers();
		post_and_let_sleep(start_first, after + after / 2);
		do { /* it may have been on its way to sleep */
			before = polls();
			for (int i = 0; i < 100; i++)
				sched_yield();
		} while (polls() != before);
		post_and_let_sleep(cancel_first, 0);
		runtime_end();
	}
}

TEST_MAIN
