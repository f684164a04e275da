/* waits.c - names, offloaded calls, signals and children, waited for by threads. */
/* backends: both */
#include "threads/blocking.h"

#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>

/* Names */

THREAD_TEST(a_numeric_address_needs_no_lookup, 1)
{
	struct sockaddr_storage *addrs;

	CHECK_EQ(AT_ONCE(weft_resolve("127.0.0.1", 80, AF_UNSPEC, &addrs)), 1);
	CHECK_EQ(addrs->ss_family, AF_INET);
	CHECK_EQ(((struct sockaddr_in *)addrs)->sin_port, htons(80));
	free(addrs);
	CHECK_EQ(AT_ONCE(weft_resolve("::1", 80, AF_UNSPEC, &addrs)), 1);
	CHECK_EQ(addrs->ss_family, AF_INET6);
	free(addrs);
	CHECK_EQ(weft_resolve(NULL, 80, AF_UNSPEC, &addrs), -EINVAL);
	CHECK_EQ(weft_resolve("127.0.0.1", 80, AF_UNIX, &addrs), -EINVAL);
	CHECK_EQ(weft_resolve("localhost", 80, 99, &addrs), -EINVAL);
	return 0;
}

#ifdef WEFT_HAVE_CARES
THREAD_TEST(a_name_of_the_hosts_file_is_resolved, 1)
{
	struct sockaddr_storage *addrs;
	int n = weft_resolve("localhost", 80, AF_INET, &addrs);

	CHECK(n >= 1);
	CHECK_EQ(addrs->ss_family, AF_INET);
	free(addrs);
	return 0;
}

static int ask_the_silent(void *unused)
{
	struct sockaddr_storage *addrs;

	(void)unused;
	CHECK_EQ(weft_resolve_until("nobody.example", 1, AF_INET, &addrs, weft_now() + WEFT_MS),
		 -ETIMEDOUT);
	CHECK_EQ(weft_dial_until("nobody.example:1", weft_now() + WEFT_MS), -ETIMEDOUT);
	return 0;
}

/* Of a server that never answers. */
TEST(a_lookup_ends_at_its_deadline)
{
	int silent = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char server[32];

	CHECK_EQ(bind(silent, (struct sockaddr *)&addr, sizeof addr), 0);
	snprintf(server, sizeof server, "127.0.0.1:%d", ntohs(address_of(silent).sin_port));
	CHECK_EQ(weft_lookup_servers(server, "/dev/null"), 0);
	run_on(1, ask_the_silent, NULL);
	close(silent);
}
#endif

static int greet(void *arg)
{
	int fd = weft_accept((int)(intptr_t)arg, NULL);

	CHECK(fd >= 0);
	CHECK_EQ(weft_write_all(fd, "hi", 2), 2);
	return weft_close(fd);
}

THREAD_TEST(dialing_connects, 2)
{
	int ls = listener(), fd;
	char address[32], buf[2];

	snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(address_of(ls).sin_port));
	CHECK_EQ(weft_go_on(weft_color_new(), greet, (void *)(intptr_t)ls), 0);
	fd = weft_dial(address);
	CHECK(fd >= 0);
	CHECK_EQ(weft_read_exactly(fd, buf, 2), 2);
	CHECK_EQ(weft_close(fd), 0);
	CHECK_EQ(weft_close(ls), 0);
	CHECK_EQ(weft_dial(address), -ECONNREFUSED);
	CHECK_EQ(weft_dial("127.0.0.1"), -EINVAL);
	CHECK_EQ(weft_dial("127.0.0.1:x"), -EINVAL);
	CHECK_EQ(weft_dial("127.0.0.1:65536"), -EINVAL);
	CHECK_EQ(weft_dial(":80"), -EINVAL);
	CHECK_EQ(weft_dial("::1:80"), -EINVAL);
	CHECK_EQ(weft_dial(NULL), -EINVAL);
	return 0;
}

/* Offloaded calls */

static int block(void *arg)
{
	CHECK(weft_self() == NULL);
	while (sem_wait(arg) < 0)
		;
	return -ECANCELED;
}

static int post_it(void *arg)
{
	return sem_post(arg);
}

static int count(void *arg)
{
	return ++*(int *)arg;
}

THREAD_TEST(a_blocking_call_stops_only_its_thread, 1)
{
	int result = 0;
	sem_t sem;

	sem_init(&sem, 0, 0);
	CHECK_EQ(weft_go(post_it, &sem), 0);
	CHECK_EQ(weft_offload_until(block, &sem, &result, WEFT_FOREVER), 0);
	CHECK_EQ(result, -ECANCELED);
	CHECK_EQ(weft_offload(NULL, NULL), -EINVAL);
	CHECK_EQ(weft_offload(count, &result), -ECANCELED + 1);
	return 0;
}

static int fill_pool(void *arg)
{
	CHECK_EQ(weft_offload_until(block, arg, NULL, WEFT_FOREVER), 0);
	return 0;
}

static int crowd(void *arg)
{
	int calls = 0;

	CHECK_EQ(weft_go(fill_pool, arg), 0);
	weft_yield();
	CHECK_EQ(weft_offload_until(count, &calls, NULL, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(weft_offload_until(count, &calls, NULL, 0), -ETIMEDOUT);
	CHECK_EQ(calls, 0);
	sem_post(arg);
	CHECK_EQ(weft_offload(count, &calls), 1);
	return 0;
}

TEST(a_call_that_waits_for_the_pool_ends_at_its_deadline)
{
	weft_options opt = { .workers = 1, .offload_max = 1 };
	sem_t sem;

	sem_init(&sem, 0, 0);
	CHECK_EQ(weft_run(crowd, &sem, &opt), 0);
}

/* Signals */

static sigset_t set_of(int a, int b)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, a);
	sigaddset(&set, b);
	return set;
}

/* On this kernel thread: TSan keeps back what comes to one that sleeps in a call that it
 * does not know, as io_uring's is. */
static int raise_it(void *arg)
{
	return raise((int)(intptr_t)arg);
}

THREAD_TEST(signals_are_waited_for_and_kept, 1)
{
	sigset_t both = set_of(SIGUSR1, SIGUSR2), one = set_of(SIGUSR1, SIGUSR1);
	sigset_t none, bad = set_of(SIGUSR1, SIGKILL);

	CHECK_EQ(weft_signal_wait_until(&both, weft_now() + WEFT_MS), -ETIMEDOUT);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(weft_go(raise_it, (void *)(intptr_t)(i % 2 ? SIGUSR1 : SIGUSR2)), 0);
		CHECK_EQ(weft_signal_wait(&both), i % 2 ? SIGUSR1 : SIGUSR2);
	}
	raise_it((void *)(intptr_t)SIGUSR2);
	CHECK_EQ(weft_signal_wait_until(&one, weft_now() + 5 * WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(weft_signal_wait(&both), SIGUSR2);
	sigemptyset(&none);
	CHECK_EQ(weft_signal_wait(&none), -EINVAL);
	CHECK_EQ(weft_signal_wait(&bad), -EINVAL);
	CHECK_EQ(weft_off_signal(SIGUSR1), 0);
	CHECK_EQ(weft_go(raise_it, (void *)(intptr_t)SIGUSR1), 0);
	CHECK_EQ(weft_signal_wait(&one), SIGUSR1);
	return 0;
}

static void never(void *unused)
{
	(void)unused;
	CHECK(false);
}

THREAD_TEST(a_signal_that_is_watched_is_refused, 1)
{
	sigset_t both = set_of(SIGUSR1, SIGUSR2);
	struct sigaction now;

	CHECK_EQ(weft_on_signal(SIGUSR2, WEFT_MAIN, never, NULL), 0);
	CHECK_EQ(weft_signal_wait(&both), -EEXIST);
	CHECK_EQ(sigaction(SIGUSR1, NULL, &now), 0);
	CHECK(now.sa_handler == SIG_DFL);
	CHECK_EQ(weft_off_signal(SIGUSR2), 0);
	return 0;
}

static int wait_in_vain(void *set)
{
	return weft_signal_wait_until(set, weft_now() + 10 * WEFT_US);
}

/* None takes the watch that another makes at the same time for a stranger's. */
THREAD_TEST(several_threads_may_begin_to_wait_for_a_signal_at_once, 4)
{
	sigset_t set = set_of(SIGUSR1, SIGUSR2);
	weft_thread *t[4];
	int result;

	for (int i = 0; i < TEST_SIZE(200); i++) {
		for (int k = 0; k < 4; k++) {
			weft_thread_attr attr = { .on = true, .color = weft_color_new() };

			CHECK_EQ(weft_thread_start(&t[k], &attr, wait_in_vain, &set), 0);
		}
		for (int k = 0; k < 4; k++) {
			CHECK_EQ(weft_join(t[k], &result), 0);
			CHECK_EQ(result, -ETIMEDOUT);
		}
		CHECK_EQ(weft_off_signal(SIGUSR1), 0);
		CHECK_EQ(weft_off_signal(SIGUSR2), 0);
	}
	return 0;
}

/* A wait that fails for one signal gives up the others, if nobody else wants them. */
static int wait_and_fail(void *unused)
{
	sigset_t bad = set_of(SIGUSR1, SIGUSR2);

	(void)unused;
	CHECK_EQ(weft_signal_wait(&bad), -EEXIST);
	return 0;
}

static int wait_for_first(void *set)
{
	return weft_signal_wait(set);
}

THREAD_TEST(a_wait_that_fails_leaves_the_signals_that_others_wait_for, 4)
{
	sigset_t set = set_of(SIGUSR1, SIGUSR1);
	weft_thread_attr attr = { .on = true };
	weft_thread *fails, *waits_for_it;
	int result, rc;

	CHECK_EQ(weft_on_signal(SIGUSR2, WEFT_MAIN, never, NULL), 0);
	for (int i = 0; i < TEST_SIZE(200); i++) {
		attr.color = weft_color_new();
		CHECK_EQ(weft_thread_start(&fails, &attr, wait_and_fail, NULL), 0);
		attr.color = weft_color_new();
		CHECK_EQ(weft_thread_start(&waits_for_it, &attr, wait_for_first, &set), 0);
		CHECK_EQ(weft_join(fails, NULL), 0);
		while (atomic_load(&waits_for_it->wait) == NULL)
			weft_yield();
		raise_it((void *)(intptr_t)SIGUSR1);
		CHECK_EQ(weft_join(waits_for_it, &result), 0);
		CHECK_EQ(result, SIGUSR1);
		rc = weft_off_signal(SIGUSR1);
		CHECK(rc == 0 || rc == -EINPROGRESS);
	}
	CHECK_EQ(weft_off_signal(SIGUSR2), 0);
	return 0;
}

struct fans {
	sigset_t set;
	_Atomic int served;
};

static int wait_for_signal(void *arg)
{
	struct fans *f = arg;

	CHECK_EQ(weft_signal_wait(&f->set), SIGUSR1);
	f->served++;
	return 0;
}

THREAD_TEST(of_several_threads_each_signal_serves_one, 2)
{
	struct fans f = { .set = set_of(SIGUSR1, SIGUSR1) };

	for (int i = 0; i < 5; i++)
		CHECK_EQ(weft_go_on(weft_color_new(), wait_for_signal, &f), 0);
	weft_signal_wait_until(&f.set, 0);
	for (int i = 0; i < 5; i++) {
		raise_it((void *)(intptr_t)SIGUSR1);
		while (f.served <= i)
			weft_yield();
	}
	CHECK_EQ(f.served, 5);
	return 0;
}

/* Children */

THREAD_TEST(a_child_is_run_to_its_end, 1)
{
	char *argv[] = { (char *)(intptr_t) "sh", (char *)(intptr_t) "-c",
			 (char *)(intptr_t) "exit 7", NULL };
	int status = 0;
	pid_t pid;

	CHECK_EQ(weft_child_run("sh", argv, NULL, NULL, &status), 0);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 7);
	CHECK_EQ(weft_child_run_until("/no/such", argv, NULL, NULL, &pid, &status, WEFT_FOREVER),
		 -ENOENT);
	CHECK_EQ(pid, -1);
	CHECK_EQ(weft_child_join(getpid(), &status), -ECHILD);
	return 0;
}

THREAD_TEST(a_child_outlives_the_deadline, 1)
{
	char *argv[] = { (char *)(intptr_t) "sleep", (char *)(intptr_t) "100", NULL };
	int status = 0;
	pid_t pid;

	CHECK_EQ(weft_child_run_until("sleep", argv, NULL, NULL, &pid, &status,
				      weft_now() + WEFT_MS),
		 -ETIMEDOUT);
	CHECK(pid > 0);
	CHECK_EQ(weft_child_join_until(pid, &status, 0), -ETIMEDOUT);
	CHECK_EQ(kill(pid, SIGTERM), 0);
	CHECK_EQ(weft_child_join(pid, &status), 0);
	CHECK(WIFSIGNALED(status));
	return 0;
}

/* The end of the run */

enum { CALLS = 9 };

static struct {
	int pair[2], ls;
	sem_t sem;
	_Atomic int begun;
} stuck;

static int wait_for_ever(void *arg)
{
	char *argv[] = { (char *)(intptr_t) "sleep", (char *)(intptr_t) "600", NULL };
	struct pollfd p[2] = { { .fd = stuck.pair[0], .events = POLLIN },
			       { .fd = stuck.ls, .events = POLLIN } };
	struct sockaddr_storage *addrs;
	sigset_t set = set_of(SIGUSR1, SIGUSR2);
	int64_t n = 0;
	char byte;

	stuck.begun++;
	switch ((int)(intptr_t)arg) {
	case 0:
		n = weft_read(stuck.pair[0], &byte, 1);
		break;
	case 1:
		n = weft_read_until(stuck.pair[0], &byte, 1, weft_now() + 1000 * WEFT_SEC);
		break;
	case 2:
		n = weft_accept(stuck.ls, NULL);
		break;
	case 3:
		n = weft_poll(p, 2);
		break;
	case 4:
		n = weft_poll_until(p, 2, weft_now() + 1000 * WEFT_SEC);
		break;
	case 5:
		n = weft_signal_wait(&set);
		break;
	case 6:
		n = weft_child_run("sleep", argv, NULL, NULL, NULL);
		break;
	case 7:
		n = weft_offload(block, &stuck.sem);
		break;
	case 8:
		n = weft_resolve("nobody.example", 1, AF_INET, &addrs);
#ifndef WEFT_HAVE_CARES
		CHECK_EQ(n, -ENOSYS);
		return 0;
#endif
		break;
	}
	CHECK_EQ(n, -ESHUTDOWN);
	return 0;
}

static int start_all_and_stop(void *unused)
{
	(void)unused;
	for (int i = 0; i < CALLS; i++)
		CHECK_EQ(weft_go_on(weft_color_new(), wait_for_ever, (void *)(intptr_t)i), 0);
	while (stuck.begun < CALLS)
		weft_yield();
	weft_sleep(WEFT_MS); /* they have begun to wait, or are about to: both must do */
	CHECK_EQ(weft_stop(), 0);
	sem_post(&stuck.sem);
	return 0;
}

TEST(a_run_that_is_stopped_leaves_those_who_wait_behind)
{
	int silent = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char server[32];

	CHECK_EQ(bind(silent, (struct sockaddr *)&addr, sizeof addr), 0);
	snprintf(server, sizeof server, "127.0.0.1:%d", ntohs(address_of(silent).sin_port));
	CHECK_EQ(weft_lookup_servers(server, "/dev/null"), 0);
	socket_pair(stuck.pair);
	stuck.ls = listener();
	for (int i = 0; i < 3; i++) {
		stuck.begun = 0;
		sem_init(&stuck.sem, 0, 0);
		run_on(2, start_all_and_stop, NULL);
	}
}

TEST_MAIN
