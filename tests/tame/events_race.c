/* Primitive events that are begun in other colors than where they are waited for, cancelled at any
 * time; and that none of them leaves anything behind. */
/* backends: both */
#include "tame/primitives.h"

#include <poll.h>

#include "tame/tame.h"

enum { JOBS = 4 };

/* What is to be begun in another color. */
struct job {
	weft_event post;
	int kind, fd;
	uint64_t delay;
	none_event none;
	int_event one;
	two_event two;
};

static weft_channel *channel;
static weft_mutex mutex = WEFT_MUTEX_INIT;

static int give_delay(void *unused)
{
	(void)unused;
	return 0;
}

static int sleeps(weft_scope *scope, void *unused)
{
	(void)scope;
	(void)unused;
	(void)weft_sleep_until(weft_now() + 20 * WEFT_US);
	return 0;
}

static void begin_job(void *arg)
{
	struct job *j = arg;
	int x = 1;

	switch (j->kind) {
	case 0:
		weft_sleep_ev(j->delay, j->none);
		break;
	case 1:
		weft_fd_ev(j->fd, j->delay % 2 ? POLLIN : POLLOUT, j->one);
		break;
	case 2:
		weft_channel_send_ev(channel, &x, j->one);
		break;
	case 3:
		weft_offload_ev(give_delay, NULL, j->one);
		break;
	default:
		weft_scope_ev(sleeps, NULL, j->one);
		break;
	}
}

/* Begins some jobs in color `elsewhere`, and waits for some of them. */
static void one_round(struct fn *f, struct job *jobs, weft_color elsewhere, int fd, uint64_t *state)
{
	uint64_t wait = random_below(state, JOBS + 1);
	int rc;

	for (int i = 0; i < JOBS; i++) {
		struct job *j = &jobs[i];

		j->kind = (int)random_below(state, random_below(state, 8) == 0 ? 5 : 3);
		j->fd = fd;
		j->delay = random_below(state, 100000);
		if (j->kind == 0)
			j->none = of_none(f, i);
		else
			j->one = of_int(f, i, &rc);
		weft_event_init(&j->post, elsewhere, begin_job, j);
		CHECK_EQ(weft_event_post(&j->post), 0);
	}
	for (uint64_t i = 0; i < wait; i++) {
		if (!has_next(f) && random_below(state, 2))
			weft_yield();
		else if (has_next(f))
			(void)next(f);
	}
	cancel(f);
}

static uint64_t seed;

/* All that was posted to that color before has run. */
static int hop_there_and_back(weft_color color)
{
	weft_color here = weft_color_current();

	CHECK_EQ(weft_hop(color), 0);
	return weft_hop(here);
}

static int race(void *arg)
{
	uint64_t state = seed + (uintptr_t)arg;
	weft_color elsewhere = weft_color_new();
	struct job jobs[JOBS];
	struct fn f;
	int fd[2];

	fn_begin(&f);
	socket_pair(fd);
	for (int i = 0; i < TEST_SIZE(1000); i++) {
		one_round(&f, jobs, elsewhere, fd[0], &state);
		CHECK_EQ(hop_there_and_back(elsewhere), 0);
	}
	settle();
	CHECK_EQ(weft_close(fd[0]), 0);
	CHECK_EQ(weft_close(fd[1]), 0);
	fn_end(&f);
	return 0;
}

static int drain(void *unused)
{
	int x;

	(void)unused;
	while (weft_channel_receive(channel, &x) == 0)
		;
	return 0;
}

THREAD_TEST(events_are_cancelled_while_other_colors_begin_and_end_them, 2)
{
	weft_thread *t[3], *drains;

	seed = TEST_SEED;
	many_colors = true;
	channel = weft_channel_new(sizeof(int), 2);
	drains = start(drain, NULL);
	for (intptr_t i = 0; i < 3; i++)
		t[i] = start(race, (void *)i);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(join(t[i]), 0);
	CHECK_EQ(weft_channel_close(channel), 0);
	CHECK_EQ(join(drains), 0);
	YIELD_UNTIL(wf_tame_events_in_use == 0);
	return 0;
}

/* In the color where they are waited for: all kinds, cancelled or not. */
static void use_all(struct fn *f, int fd[2], uint64_t *state)
{
	static weft_tame_lock lock;
	static char buf[8];
	static ssize_t n;
	static int rc, x;

	weft_sleep_ev(random_below(state, 20000), of_none(f, 1));
	weft_read_ev(fd[0], buf, sizeof buf, of_size(f, 2, &n));
	weft_fd_ev(fd[0], POLLIN, of_int(f, 3, &rc));
	weft_channel_receive_ev(channel, &x, of_int(f, 4, &rc));
	CHECK_EQ(weft_trylock(&lock), 0);
	weft_lock_ev(&lock, of_none(f, 5));
	CHECK_EQ(weft_mutex_trylock(&mutex), 0);
	weft_mutex_lock_ev(&mutex, of_int(f, 6, &rc));
	if (random_below(state, 2)) {
		CHECK_EQ(weft_channel_try_send(channel, &x), 0);
		CHECK_EQ(write(fd[1], "x", 1), 1);
	}
	if (random_below(state, 2) && has_next(f))
		(void)next(f);
	for (uint64_t i = random_below(state, 4); i > 0; i--)
		weft_yield();
	cancel(f);
	settle();
	CHECK_EQ(weft_unlock(&lock), 0);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	(void)weft_channel_try_receive(channel, &x);
	while (recv(fd[0], buf, sizeof buf, MSG_DONTWAIT) > 0)
		;
}

THREAD_TEST(what_was_cancelled_leaves_no_memory_in_use, 1)
{
	uint64_t state = TEST_SEED;
	struct fn f;
	int fd[2];

	fn_begin(&f);
	socket_pair(fd);
	channel = weft_channel_new(sizeof(int), 4);
	for (int i = 0; i < TEST_SIZE(2000); i++)
		use_all(&f, fd, &state);
	YIELD_UNTIL(wf_tame_events_in_use == 0);
	CHECK_EQ(weft_channel_free(channel), 0);
	CHECK_EQ(weft_close(fd[0]), 0);
	CHECK_EQ(weft_close(fd[1]), 0);
	fn_end(&f);
	return 0;
}

TEST_MAIN
