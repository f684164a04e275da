/* shm_death.c - the other process dies in the midst of anything: nothing hangs, what it
 * had sent is received in order, and then there is an error.
 */
/* backends: both */
#include "processes.h"

#include <sys/mman.h>

enum { ROUNDS = 60 };

/* Shared by both processes: how far the one that will be killed has come. */
static struct {
	_Atomic int sent;
} * progress;

static int stream(void *channel)
{
	for (int i = 0;; i++) {
		if (send_int(channel, i) < 0)
			return 0;
		WF_STORE(&progress->sent, i + 1);
	}
}

/* Sends and receives as fast as it can, until it is killed. */
static int victim(void *unused)
{
	weft_channel *ch = open_ints(8);
	weft_thread *t = start(stream, ch);

	(void)unused;
	while (receive_int(ch) >= 0)
		;
	(void)join(t);
	return weft_channel_free(ch);
}

struct survivor {
	pid_t pid;
	int kill_at;
};

static int send_on(void *channel)
{
	int rc;

	do
		rc = send_int(channel, 1);
	while (rc == 0);
	return rc;
}

static int survive(void *arg)
{
	const struct survivor *s = arg;
	weft_channel *ch = open_ints(8);
	weft_thread *t = start(send_on, ch);
	int n = 0, rc;

	while ((rc = receive_int(ch)) >= 0) {
		CHECK_EQ(rc, n);
		n++;
		if (n == s->kill_at)
			CHECK_EQ(kill(s->pid, SIGKILL), 0);
	}
	CHECK_EQ(rc, -ECONNRESET);
	CHECK(n >= WF_LOAD(&progress->sent));
	CHECK_EQ(join(t), -ECONNRESET);
	CHECK_EQ(receive_int(ch), -ECONNRESET);
	CHECK_EQ(send_int(ch, 1), -ECONNRESET);
	CHECK_EQ(try_send_int(ch, 1), -ECONNRESET);
	return weft_channel_free(ch);
}

static void kill_one(int at)
{
	struct survivor s = { .kill_at = at };
	int status;

	fresh_name();
	WF_STORE(&progress->sent, 0);
	s.pid = other_process(victim, NULL);
	run_with(shm_workers, survive, &s);
	CHECK_EQ(waitpid(s.pid, &status, 0), s.pid);
	CHECK(WIFSIGNALED(status));
}

TEST(a_process_is_killed_while_both_send)
{
	uint64_t random = TEST_SEED;

	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(progress != MAP_FAILED);
	for (int i = 0; i < TEST_SIZE(ROUNDS); i++) {
		many_colors = i % 2;
		shm_workers = 1 + i / 2 % 2;
		kill_one(1 + (int)(test_random(&random) % 500));
	}
}

/* It is killed while it does nothing, and we wait. */

static int idle(void *unused)
{
	weft_channel *ch = open_ints(2);

	(void)unused;
	for (int i = 0; i < 2; i++)
		CHECK_EQ(send_int(ch, i), 0);
	(void)weft_sleep(WEFT_FOREVER / 2);
	return 0;
}

static int told(void *arg)
{
	pid_t pid = *(pid_t *)arg;
	weft_channel *ch = open_ints(2);
	struct call calls[2];
	int rc;

	for (int i = 0; i < 2; i++) {
		CHECK_EQ(send_int(ch, i), 0);
		CHECK_EQ(receive_int(ch), i);
	}
	start_send(&calls[0], ch, 2, 0);
	start_receive(&calls[1], ch, 0);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(join(calls[0].thread), -ECONNRESET);
	CHECK_EQ(join(calls[1].thread), -ECONNRESET);
	do
		rc = try_receive_int(ch);
	while (rc == -EAGAIN);
	CHECK_EQ(rc, -ECONNRESET);
	return weft_channel_free(ch);
}

static int found_by_trying(void *arg)
{
	pid_t pid = *(pid_t *)arg;
	weft_channel *ch = open_ints(2);
	int rc, n = 0;

	CHECK_EQ(kill(pid, SIGKILL), 0);
	while ((rc = try_receive_int(ch)) == -EAGAIN || rc >= 0)
		n += rc >= 0;
	CHECK_EQ(rc, -ECONNRESET);
	CHECK(n <= 2);
	CHECK_EQ(try_send_int(ch, 1), -ECONNRESET);
	return weft_channel_free(ch);
}

/* What it had sent is received even by one who knows that it is gone. */
static int received_after_death(void *arg)
{
	pid_t pid = *(pid_t *)arg;
	weft_channel *ch = open_ints(2);
	int rc;

	YIELD_UNTIL(weft_channel_length(ch) == 2);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	do
		rc = try_send_int(ch, 1);
	while (rc == 0 || rc == -EAGAIN);
	CHECK_EQ(rc, -ECONNRESET);
	CHECK_EQ(receive_int(ch), 0);
	CHECK_EQ(try_receive_int(ch), 1);
	CHECK_EQ(receive_int(ch), -ECONNRESET);
	return weft_channel_free(ch);
}

static void kill_idle(int (*fn)(void *))
{
	int status;
	pid_t pid;

	fresh_name();
	pid = other_process(idle, NULL);
	run_with(2, fn, &pid);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
}

TEST(who_waits_is_told_that_the_other_process_was_killed)
{
	kill_idle(told);
}

TEST(what_a_killed_process_had_sent_is_received)
{
	kill_idle(received_after_death);
}

TEST(who_only_tries_finds_out_too)
{
	kill_idle(found_by_trying);
}

/* It is killed while the two meet: another may come in its place. */

static int meet_and_wait(void *unused)
{
	weft_channel *ch = open_ints(2);

	(void)unused;
	(void)receive_int(ch);
	return weft_channel_free(ch);
}

static int meet_somebody(void *unused)
{
	uint64_t deadline = weft_now() + 5 * WEFT_MS;
	weft_channel *ch;
	int rc = weft_channel_open_until(&ch, shm_name, sizeof(int), NULL, deadline);

	(void)unused;
	if (rc < 0) {
		CHECK_EQ(rc, -ETIMEDOUT);
		return 0;
	}
	rc = receive_int(ch);
	CHECK_EQ(rc, -ECONNRESET);
	return weft_channel_free(ch);
}

static void *kill_later(void *arg)
{
	pid_t *pid = arg;

	usleep((useconds_t)pid[1]);
	CHECK_EQ(kill(pid[0], SIGKILL), 0);
	return NULL;
}

TEST(a_process_is_killed_while_the_two_meet)
{
	uint64_t random = TEST_SEED;

	for (int i = 0; i < TEST_SIZE(ROUNDS); i++) {
		pthread_t killer;
		pid_t pid[2];
		int status;

		fresh_name();
		pid[1] = (pid_t)(test_random(&random) % 4000);
		pid[0] = other_process(meet_and_wait, NULL);
		CHECK_EQ(pthread_create(&killer, NULL, kill_later, pid), 0);
		run_with(1, meet_somebody, NULL);
		CHECK_EQ(pthread_join(killer, NULL), 0);
		CHECK_EQ(waitpid(pid[0], &status, 0), pid[0]);
	}
}

TEST_MAIN
