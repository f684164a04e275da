/* fault.c - the nth call to the outside world fails, for every n, while bodies and threads
 * are started, cancelled and waited for: a start that fails says so, what has begun comes
 * to its end, every finish is left, and nothing leaks (which is for ASan to see). */
#include "base/fault.h"

#include "scheduler/common.h"

#include <stdio.h>

enum { MANY = 70, DEEP = 10 }; /* more than a slab of stacks has */

static atomic_long accepted, ran, refused;
static long nth; /* that shall fail, from when the first thread runs */

static bool is_lack(int rc)
{
	return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE || rc == -EAGAIN;
}

static void try_start(int rc)
{
	if (rc == 0)
		atomic_fetch_add(&accepted, 1);
	else
		CHECK(is_lack(rc));
	atomic_fetch_add(&refused, rc < 0);
}

static int wait_for_sem(void *sem)
{
	int rc = weft_sem_wait(sem);

	CHECK(rc == 0 || rc == -ECANCELED);
	atomic_fetch_add(&ran, 1);
	return 0;
}

static int count(void *unused)
{
	(void)unused;
	atomic_fetch_add(&ran, 1);
	return 0;
}

static int check_copy(void *args)
{
	const unsigned char *bytes = args;

	for (int i = 0; i < 5000; i++)
		CHECK_EQ(bytes[i], 7);
	return count(NULL);
}

static int start_deep(void *arg)
{
	intptr_t n = (intptr_t)arg;
	weft_scope s;

	weft_scope_begin(&s);
	if (n > 0)
		try_start(weft_async_call(start_deep, (void *)(n - 1)));
	else
		CHECK_EQ(weft_yield(), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	return count(NULL);
}

/* All forms of starting, with so many waiting at once that there are no stacks left over. */
static void start_all(weft_sem *sem)
{
	static unsigned char args[5000];

	memset(args, 7, sizeof args);
	for (int i = 0; i < MANY; i++) {
		try_start(weft_async_call(wait_for_sem, sem));
		if (i % 10 != 0)
			continue;
		try_start(weft_async_call(count, NULL));
		try_start(weft_async_copy(check_copy, args, sizeof args));
	}
	try_start(weft_go_on(weft_color_new(), wait_for_sem, sem));
	try_start(weft_go(wait_for_sem, sem));
	try_start(weft_async_call(start_deep, (void *)DEEP));
}

static int use_scopes(void *unused)
{
	weft_sem sem = WEFT_SEM_INIT(0);
	weft_scope s;
	int rc;

	(void)unused;
	wf_fault_arm(nth);
	weft_scope_begin(&s);
	start_all(&sem);
	for (int i = 0; i < MANY + 2; i++)
		CHECK_EQ(weft_sem_post(&sem), 0);
	CHECK_EQ(weft_scope_end(&s), 0);

	weft_sem_init(&sem, 0);
	weft_scope_begin(&s);
	try_start(weft_async_call(wait_for_sem, &sem));
	try_start(weft_go_on(weft_color_new(), wait_for_sem, &sem));
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);

	weft_scope_begin(&s);
	rc = weft_scope_deadline(&s, weft_now() + WEFT_US);
	if (rc < 0) {
		CHECK(is_lack(rc));
		CHECK_EQ(weft_scope_cancel(&s), 0);
	}
	try_start(weft_async_call(wait_for_sem, &sem));
	rc = weft_scope_end(&s);
	CHECK(rc == -ETIMEDOUT || rc == 0);
	return 11;
}

static void start_in_handler(void *sem)
{
	try_start(weft_async_call(wait_for_sem, sem));
}

static void let_go(void *sem)
{
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(weft_sem_post(sem), 0);
}

static int use_handlers(void *unused)
{
	static weft_sem sem;

	(void)unused;
	weft_sem_init(&sem, 0);
	wf_fault_arm(nth);
	for (int i = 0; i < MANY; i++) {
		int rc = weft_post(WEFT_MAIN, start_in_handler, &sem);

		CHECK(rc == 0 || is_lack(rc));
	}
	while (weft_post(WEFT_MAIN, let_go, &sem) < 0)
		;
	return 11;
}

static void fail_each(int (*fn)(void *), const weft_options *opt)
{
	const char *site;

	nth = 0;
	atomic_store(&refused, 0);
	do {
		atomic_store(&accepted, 0);
		atomic_store(&ran, 0);
		nth++;
		CHECK_EQ(weft_run(fn, NULL, opt), 11);
		site = wf_fault_site();
		wf_fault_arm(0);
		if (site != NULL)
			printf("%ld: %s\n", nth, site);
		CHECK_EQ(atomic_load(&ran), atomic_load(&accepted));
	} while (site != NULL);
}

TEST(a_body_that_cannot_be_started_is_an_error_and_finish_still_ends)
{
	for (int workers = 1; workers <= (test_quick() ? 1 : 2); workers++) {
		weft_options opt = { .workers = workers, .stall_ms = -1 };

		fail_each(use_scopes, &opt);
		/* With two workers the nth call is not the same one each time. */
		CHECK(workers > 1 || atomic_load(&refused) > 0);
		/* Between two handlers a worker may get the stack that it did not get before: mostly
		 * one is refused at the first time. */
		do
			fail_each(use_handlers, &opt);
		while (workers == 1 && atomic_load(&refused) == 0);
	}
}

TEST_MAIN
