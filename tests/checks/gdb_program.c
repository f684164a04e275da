/* A program for tests/checks/gdb: threads that wait in known places, one that has not
 * begun, a body that has waited, and two that run on top of who started them: of their stacks one
 * lies higher than that, and one lower. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft/blocking.h>
#include <weft/sync.h>
#include <weft/weft.h>

#define FRAME __attribute__((noinline))

static weft_mutex mutex;
static int fds[2];
static volatile int sink;

FRAME static int read_message(int fd, int depth)
{
	char byte;
	int rc = depth > 0 ? read_message(fd, depth - 1) : (int)weft_read(fd, &byte, 1);

	sink++;
	return rc;
}

static int reader(void *unused)
{
	(void)unused;
	return read_message(fds[0], 2) + sink;
}

static int locker(void *unused)
{
	int rc = weft_mutex_lock(&mutex);

	(void)unused;
	sink++;
	return rc;
}

static int sleeper(void *unused)
{
	int rc = weft_sleep(1000000000000);

	(void)unused;
	sink++;
	return rc;
}

static int late(void *unused)
{
	(void)unused;
	return 0;
}

FRAME static void all_parked(void)
{
	abort();
}

static void start(const char *name, weft_thread_fn *fn, weft_thread **joinable)
{
	weft_thread_attr attr = { .name = name };

	if (weft_thread_start(joinable, &attr, fn, NULL) < 0)
		abort();
}

static int body(void *unused)
{
	int rc;

	(void)unused;
	weft_thread_set_name(NULL, "body");
	rc = weft_sleep(1000000000000);
	sink++;
	return rc;
}

static uintptr_t below[2];

static int on_top(void *unused)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	(void)unused;
	if ((below[0] < below[1]) == (below[1] < here))
		puts("the stacks lie in one order");
	else
		all_parked();
	sink++;
	return 0;
}

static int between(void *unused)
{
	below[1] = (uintptr_t)__builtin_frame_address(0);
	weft_async_call(on_top, unused);
	sink++;
	return 0;
}

static int yields(void *unused)
{
	(void)unused;
	return weft_yield();
}

/* The stacks that ended last are used first: so they are now in another order than that in which
 * they were made. */
static void turn_stacks_round(void)
{
	weft_scope s;

	weft_scope_begin(&s);
	for (int i = 0; i < 3; i++)
		weft_async_call(yields, NULL);
	weft_scope_end(&s);
}

/* All are of one color: they take turns, in this order. */
static int first(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	weft_mutex_lock(&mutex);
	start("reader", reader, NULL);
	start("locker", locker, NULL);
	start(NULL, sleeper, NULL); /* it is called by its function */
	turn_stacks_round();
	start("late", late, NULL);
	weft_async_call(body, NULL);
	below[0] = (uintptr_t)__builtin_frame_address(0);
	weft_async_call(between, NULL);
	sink++;
	return weft_scope_end(&s);
}

int main(void)
{
	weft_options opt = { .workers = 1 };

	if (pipe(fds) != 0)
		return 1;
	return weft_run(first, NULL, &opt);
}
