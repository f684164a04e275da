/* race.h - cancels that come around the moment of completion, from another color or
 * another kernel thread. WEFT_TEST_RACES=n sets how many races each test runs.
 */
#ifndef TESTS_ASYNC_RACE_H
#define TESTS_ASYNC_RACE_H

#include "threads/blocking.h"

#include <pthread.h>

/* Cancels the scope that it is shown, after a while; that adapts so that about half of the
 * cancels come first, mostly: cancel.c has both, for sure. */
struct racer {
	weft_scope *victim; /* NULL: the end */
	uint64_t delay;
	weft_sem shown, hit;
	bool foreign;
	pthread_t kernel_thread;
	weft_thread *thread;
	weft_color elsewhere;
	uint64_t random, span;
	int done, cancelled;
};

static inline int races(int usual)
{
	const char *wanted = getenv("WEFT_TEST_RACES");

	return wanted != NULL ? atoi(wanted) : TEST_SIZE(usual);
}

static inline int cancel_all(void *arg)
{
	struct racer *r = arg;

	while (weft_sem_wait(&r->shown) == 0 && r->victim != NULL) {
		uint64_t until = weft_now() + r->delay;

		while (weft_now() < until)
			;
		CHECK_EQ(weft_scope_cancel(r->victim), 0);
		CHECK_EQ(weft_sem_post(&r->hit), 0);
	}
	return 0;
}

static inline void *cancel_all_foreign(void *arg)
{
	(void)cancel_all(arg);
	return NULL;
}

static inline void racer_start(struct racer *r, bool foreign)
{
	weft_thread_attr attr = { .on = true, .color = weft_color_new() };

	*r = (struct racer){ .random = TEST_SEED, .span = 20 * WEFT_US, .foreign = foreign };
	r->elsewhere = weft_color_new();
	CHECK_EQ(weft_hold(), 0); /* it may sleep in the kernel */
	if (foreign)
		CHECK_EQ(pthread_create(&r->kernel_thread, NULL, cancel_all_foreign, r), 0);
	else
		CHECK_EQ(weft_thread_start(&r->thread, &attr, cancel_all, r), 0);
}

static inline void racer_end(struct racer *r, const char *what)
{
	r->victim = NULL;
	CHECK_EQ(weft_sem_post(&r->shown), 0);
	if (r->foreign)
		CHECK_EQ(pthread_join(r->kernel_thread, NULL), 0);
	else
		CHECK_EQ(weft_join(r->thread, NULL), 0);
	CHECK_EQ(weft_drop(), 0);
	printf("%s: %d done, %d cancelled\n", what, r->done, r->cancelled);
}

static inline void was(struct racer *r, bool cancelled)
{
	if (cancelled) {
		r->cancelled++;
		r->span += r->span / 16 + 1;
	} else {
		r->done++;
		if (r->span > 64)
			r->span -= r->span / 16;
	}
	if (r->span > WEFT_MS)
		r->span = WEFT_MS;
}

/* What is raced for: returns -ECANCELED or what it did. */
typedef ssize_t act(void *arg);

struct body {
	struct racer *racer;
	act *act;
	void *arg;
	bool hops;
	ssize_t result;
};

static inline int act_in_body(void *arg)
{
	struct body *b = arg;

	if (b->hops)
		CHECK_EQ(weft_hop(b->racer->elsewhere), 0);
	b->result = b->act(b->arg);
	return 0;
}

/* In the caller, in a body, or in a body that is in another color. */
static inline ssize_t race(struct racer *r, act *fn, void *arg)
{
	struct body b = { .racer = r, .act = fn, .arg = arg };
	unsigned how = (unsigned)(test_random(&r->random) % 3);
	weft_scope s, shield;

	b.hops = how == 2;
	weft_scope_begin(&s);
	r->delay = test_random(&r->random) % r->span;
	r->victim = &s;
	CHECK_EQ(weft_sem_post(&r->shown), 0);
	if (how == 0)
		(void)act_in_body(&b);
	else
		CHECK_EQ(weft_async_call(act_in_body, &b), 0);
	weft_shield_begin(&shield);
	CHECK_EQ(weft_sem_wait(&r->hit), 0);
	CHECK_EQ(weft_scope_end(&shield), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	was(r, b.result == -ECANCELED);
	return b.result;
}

static inline weft_thread *start_elsewhere(weft_thread_fn *fn, void *arg)
{
	weft_thread_attr attr = { .on = true, .color = weft_color_new() };
	weft_thread *t;

	CHECK_EQ(weft_thread_start(&t, &attr, fn, arg), 0);
	return t;
}

static inline void pause_somehow(uint64_t *random)
{
	uint64_t n = test_random(random) % 4;

	if (n == 0)
		CHECK_EQ(weft_sleep(test_random(random) % (20 * WEFT_US)), 0);
	else if (n == 1)
		CHECK_EQ(weft_yield(), 0);
}

#endif
