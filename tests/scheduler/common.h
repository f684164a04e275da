/* common.h - what tests of the scheduler share: runs, other threads, waiting for
 * a state, and a net that catches reports.
 */
#ifndef TESTS_SCHEDULER_COMMON_H
#define TESTS_SCHEDULER_COMMON_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "harness/test.h"

/* Waits for a state that somebody else brings about. In vain: until the
 * harness's time limit. */
#define WAIT_FOR(cond) \
	do { \
		while (!(cond)) \
			sched_yield(); \
	} while (0)

#define UNUSED __attribute__((unused))

static void nothing(void *unused) UNUSED;
static void nothing(void *unused)
{
	(void)unused;
}

static int nothing_to_do(void *unused) UNUSED;
static int nothing_to_do(void *unused)
{
	(void)unused;
	return 0;
}

static pthread_t thread_start(void *(*fn)(void *), void *arg) UNUSED;
static pthread_t thread_start(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, fn, arg), 0);
	return thread;
}

static void thread_join(pthread_t thread) UNUSED;
static void thread_join(pthread_t thread)
{
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* A number below n. */
static uint64_t random_below(uint64_t *state, uint64_t n) UNUSED;
static uint64_t random_below(uint64_t *state, uint64_t n)
{
	return test_random(state) % n;
}

/* The reports of this process, once catch_reports was called. */
static struct {
	pthread_mutex_t lock;
	atomic_int count[4]; /* of each kind */
	char last[4][8192];
} caught UNUSED = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void catch_report(enum weft_report_kind kind, const char *text, void *unused) UNUSED;
static void catch_report(enum weft_report_kind kind, const char *text, void *unused)
{
	(void)unused;
	pthread_mutex_lock(&caught.lock);
	strncpy(caught.last[kind], text, sizeof caught.last[kind] - 1);
	pthread_mutex_unlock(&caught.lock);
	atomic_fetch_add(&caught.count[kind], 1);
}

static void catch_reports(void) UNUSED;
static void catch_reports(void)
{
	weft_on_report(catch_report, NULL);
}

/* Whether the last report of this kind says `text`. */
static bool reported(enum weft_report_kind kind, const char *text) UNUSED;
static bool reported(enum weft_report_kind kind, const char *text)
{
	bool found;

	pthread_mutex_lock(&caught.lock);
	found = strstr(caught.last[kind], text) != NULL;
	pthread_mutex_unlock(&caught.lock);
	return found;
}

#endif
