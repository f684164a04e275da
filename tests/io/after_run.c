/* Lookups, children, calls, operations and timers that were under way when the run was stopped are
 * the user's again: in the next run they count as never started, and can be started.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>

#include <weft/weft.h>

#include "harness/test.h"
#include "scheduler/scheduler.h"

static const weft_options one = { .workers = 1, .stall_ms = -1 };

static _Atomic int done;

static void count_done(void *unused)
{
	(void)unused;
	atomic_fetch_add(&done, 1);
}

/* What is started in the first run, and how it goes on in the second. */
struct thing {
	int (*start)(void);
	int (*cancel)(void);
	int (*begun)(void); /* waits until it is under way; NULL: the run is stopped before */
};

/* Others have a turn. */
static int yield_often(void)
{
	for (int i = 0; i < 100; i++)
		CHECK_EQ(weft_yield(), 0);
	return 0;
}

static void no_report(enum weft_report_kind kind, const char *text, void *unused)
{
	(void)kind;
	(void)text;
	(void)unused;
}

static int start_and_stop(void *arg)
{
	const struct thing *thing = arg;

	CHECK_EQ(thing->start(), 0);
	CHECK_EQ(thing->start(), -EALREADY);
	if (thing->begun != NULL)
		CHECK_EQ(thing->begun(), 0);
	return weft_stop();
}

static int start_cancelled_and_stop(void *arg)
{
	const struct thing *thing = arg;

	CHECK_EQ(thing->start(), 0);
	CHECK_EQ(thing->cancel(), 0);
	return weft_stop();
}

static int cancel_and_start(void *arg)
{
	const struct thing *thing = arg;
	int rc = thing->cancel();

	CHECK(rc == -ENOENT || rc == -EALREADY); /* the latter if it was cancelled before */
	CHECK_EQ(thing->start(), 0);
	CHECK_EQ(thing->cancel(), 0);
	return 0;
}

static void check_again(struct thing thing, int (*first)(void *))
{
	int before = atomic_load(&done);

	weft_on_report(no_report, NULL); /* of starting twice */
	CHECK_EQ(weft_run(first, &thing, &one), 0);
	CHECK_EQ(atomic_load(&done), before);
	CHECK_EQ(thing.cancel(), -ESHUTDOWN);
	CHECK_EQ(thing.start(), -ESHUTDOWN);
	CHECK_EQ(weft_run(cancel_and_start, &thing, &one), 0);
	CHECK_EQ(atomic_load(&done), before + 1);
}

/* Before anything has come of it, when it waits, and when it was cancelled and nobody told. */
static void check_thing(int (*start)(void), int (*cancel)(void), int (*begun)(void))
{
	check_again((struct thing){ start, cancel, NULL }, start_and_stop);
	check_again((struct thing){ start, cancel, begun }, start_and_stop);
	check_again((struct thing){ start, cancel, NULL }, start_cancelled_and_stop);
}

/* Names */

static weft_lookup lookup;

static int start_lookup(void)
{
	return weft_lookup_start(&lookup, "nobody.answers.example", 80, AF_INET, 0);
}

static int cancel_lookup(void)
{
	return weft_lookup_cancel(&lookup);
}

/* A server that never answers. */
static int server;

static int wait_until_asked(void)
{
	char query[512];

	CHECK(weft_recv(server, query, sizeof query, 0) > 0);
	return 0;
}

static void ask_nobody(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t size = sizeof at;
	char text[64];

	server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK_EQ(bind(server, (struct sockaddr *)&at, size), 0);
	CHECK_EQ(getsockname(server, (struct sockaddr *)&at, &size), 0);
	snprintf(text, sizeof text, "127.0.0.1:%d", ntohs(at.sin_port));
	CHECK_EQ(weft_lookup_servers(text, "/dev/null"), 0);
}

#ifdef WEFT_HAVE_CARES
TEST(a_lookup_that_a_stopped_run_forgot_can_be_started_in_the_next)
{
	ask_nobody();
	weft_lookup_init(&lookup, 5, count_done, NULL);
	check_thing(start_lookup, cancel_lookup, wait_until_asked);
	weft_lookup_fini(&lookup);
}

/* The same of threads that wait for names. */
static int resolve(void *unused)
{
	struct sockaddr_storage *addrs;

	(void)unused;
	return weft_resolve("nobody.answers.example", 80, AF_INET, &addrs);
}

static int resolve_and_stop(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(weft_go(resolve, NULL), 0);
	CHECK_EQ(wait_until_asked(), 0);
	return weft_stop();
}

static int resolve_in_time(void *unused)
{
	struct sockaddr_storage *addrs;

	(void)unused;
	CHECK_EQ(weft_resolve_until("nobody.answers.example", 80, AF_INET, &addrs,
				    weft_now() + WEFT_MS),
		 -ETIMEDOUT);
	return 0;
}

TEST(a_thread_discarded_while_it_waited_for_a_name_leaves_the_resolver_whole)
{
	ask_nobody();
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(weft_run(resolve_and_stop, NULL, &one), 0);
		CHECK_EQ(weft_run(resolve_in_time, NULL, &one), 0);
	}
}
#endif

/* Children */

static weft_child child;
static pid_t pid;

static int start_child(void)
{
	return weft_child_wait(&child, pid);
}

static int cancel_child(void)
{
	return weft_child_cancel(&child);
}

TEST(a_child_that_a_stopped_run_waited_for_can_be_waited_for_in_the_next)
{
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		for (;;)
			pause();
	}
	weft_child_init(&child, 5, count_done, NULL);
	check_thing(start_child, cancel_child, yield_often);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

/* Blocking calls: the pool's only thread is busy, so that what is queued behind it waits. */

static weft_work busy, queued;
static sem_t go_on;

static int wait_in_kernel(void *unused)
{
	(void)unused;
	while (sem_wait(&go_on) < 0)
		;
	return 0;
}

static int call_nothing(void *unused)
{
	(void)unused;
	return 0;
}

/* The call that is under way returns when nobody can be told any more. */
static void *let_return(void *unused)
{
	while (wf_enter() == 0) {
		wf_leave();
		sched_yield();
	}
	CHECK_EQ(sem_post(&go_on), 0);
	return unused;
}

static pthread_t poster;

static int queue_call(void *unused)
{
	CHECK_EQ(weft_work_start(&busy, wait_in_kernel), 0);
	CHECK_EQ(weft_work_start(&queued, call_nothing), 0);
	CHECK_EQ(pthread_create(&poster, NULL, let_return, unused), 0);
	return weft_stop();
}

static int call_again(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_work_cancel(&queued), -ENOENT);
	CHECK_EQ(weft_work_cancel(&busy), -ENOENT);
	CHECK_EQ(weft_work_start(&queued, call_nothing), 0);
	CHECK_EQ(weft_work_start(&busy, call_nothing), 0);
	return 0;
}

TEST(a_blocking_call_that_a_stopped_run_forgot_can_be_started_in_the_next)
{
	const weft_options narrow = { .workers = 1, .stall_ms = -1, .offload_max = 1 };

	CHECK_EQ(sem_init(&go_on, 0, 0), 0);
	weft_work_init(&busy, 5, count_done, NULL);
	weft_work_init(&queued, 5, count_done, NULL);
	CHECK_EQ(weft_run(queue_call, NULL, &narrow), 0);
	CHECK_EQ(pthread_join(poster, NULL), 0);
	CHECK_EQ(weft_run(call_again, NULL, &narrow), 0);
	CHECK_EQ(atomic_load(&done), 2);
}

/* Operations and timers */

static weft_op op;
static int ends[2];
static char byte;

static int start_op(void)
{
	return weft_op_read(&op, ends[0], &byte, 1);
}

static int cancel_op(void)
{
	return weft_op_cancel(&op);
}

TEST(an_operation_that_a_stopped_run_forgot_can_be_started_in_the_next)
{
	CHECK_EQ(pipe(ends), 0);
	weft_op_init(&op, 5, count_done, NULL);
	check_thing(start_op, cancel_op, yield_often);
}

TEST_MAIN
