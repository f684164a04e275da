/* channel_foreign.c - channels between threads, plain handlers, foreign kernel
 * threads and the offload pool; and without a runtime.
 */
#include "channels.h"

enum { MANY = 2000 };

static weft_channel *there, *back;

static void make(size_t capacity)
{
	CHECK((there = weft_channel_new(sizeof(int), capacity)) != NULL);
	CHECK((back = weft_channel_new(sizeof(int), capacity)) != NULL);
}

static void unmake(void)
{
	CHECK_EQ(weft_channel_free(there), 0);
	CHECK_EQ(weft_channel_free(back), 0);
}

/* Answers each number with the next one, until the channel is closed. */
static int answer(void *arg)
{
	int value;

	(void)arg;
	while ((value = receive_int(there)) >= 0)
		CHECK_EQ(send_int(back, value + 1), 0);
	CHECK_EQ(value, -EPIPE);
	return weft_channel_close(back);
}

static int ask(void *arg)
{
	int n = TEST_SIZE(MANY);

	(void)arg;
	for (int i = 0; i < n; i++) {
		CHECK_EQ(send_int(there, i), 0);
		CHECK_EQ(receive_int(back), i + 1);
	}
	CHECK_EQ(weft_channel_close(there), 0);
	CHECK_EQ(receive_int(back), -EPIPE);
	return 0;
}

static void *foreign_answer(void *arg)
{
	CHECK_EQ(answer(arg), 0);
	return NULL;
}

static void *foreign_ask(void *arg)
{
	CHECK_EQ(ask(arg), 0);
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

TEST(kernel_threads_talk_without_a_runtime)
{
	for (size_t capacity = 0; capacity < 3; capacity++) {
		pthread_t t;

		make(capacity);
		CHECK_EQ(pthread_create(&t, NULL, foreign_answer, NULL), 0);
		CHECK_EQ(ask(NULL), 0);
		CHECK_EQ(pthread_join(t, NULL), 0);
		unmake();
	}
}

static void *foreign_receive(void *unused)
{
	int value;

	CHECK_EQ(weft_channel_receive(there, &value), -EPIPE);
	return unused;
}

static void note_report(enum weft_report_kind kind, const char *text, void *count)
{
	(void)text;
	*(int *)count += kind == WEFT_REPORT_MISUSE;
}

TEST(a_channel_where_a_kernel_thread_waits_is_not_freed_without_a_runtime)
{
	pthread_t t;
	int reports = 0;

	make(0);
	weft_on_report(note_report, &reports);
	CHECK_EQ(pthread_create(&t, NULL, foreign_receive, NULL), 0);
	while (waiting(there, false) == 0)
		sched_yield();
	CHECK_EQ(weft_channel_free(there), -EBUSY);
	CHECK_EQ(reports, 1);
	CHECK_EQ(weft_channel_close(there), 0);
	CHECK_EQ(pthread_join(t, NULL), 0);
	unmake();
}

TEST(a_deadline_ends_the_wait_of_a_kernel_thread)
{
	weft_case cases[2];
	int value = 1;

	make(0);
	CHECK_EQ(weft_channel_receive_until(there, &value, 1), -ETIMEDOUT);
	CHECK_EQ(weft_channel_receive_until(there, &value, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(weft_channel_send_until(there, &value, weft_now() + WEFT_MS), -ETIMEDOUT);
	cases[0] = weft_case_receive(there, &value);
	cases[1] = weft_case_send(back, &value);
	CHECK_EQ(weft_select_until(cases, 2, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(waiting(there, true) + waiting(there, false), 0);
	CHECK_EQ(waiting(back, true) + waiting(back, false), 0);
	unmake();
}

static pthread_t other;

static int asks_foreign(void *arg)
{
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(pthread_create(&other, NULL, foreign_answer, NULL), 0);
	CHECK_EQ(ask(arg), 0);
	return weft_drop();
}

TEST(a_thread_asks_a_foreign_kernel_thread)
{
	for (size_t capacity = 0; capacity < 3; capacity++) {
		make(capacity);
		run_with(2, asks_foreign, NULL);
		CHECK_EQ(pthread_join(other, NULL), 0);
		unmake();
	}
}

static int answers_foreign(void *arg)
{
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(pthread_create(&other, NULL, foreign_ask, NULL), 0);
	return answer(arg);
}

TEST(a_foreign_kernel_thread_asks_a_thread)
{
	for (size_t capacity = 0; capacity < 3; capacity++) {
		make(capacity);
		run_with(2, answers_foreign, NULL);
		CHECK_EQ(pthread_join(other, NULL), 0);
		unmake();
	}
}

static void *foreign_close(void *arg)
{
	weft_channel *ch = arg;

	YIELD_UNTIL(waiting(ch, false) == 2);
	CHECK_EQ(weft_channel_close(ch), 0);
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static int closed_from_outside(void *arg)
{
	struct call a, b;

	(void)arg;
	CHECK_EQ(weft_hold(), 0);
	start_receive(&a, there, 0);
	start_receive(&b, there, 1);
	CHECK_EQ(pthread_create(&other, NULL, foreign_close, there), 0);
	CHECK_EQ(join(a.thread), -EPIPE);
	CHECK_EQ(join(b.thread), -EPIPE);
	return 0;
}

TEST(a_foreign_kernel_thread_closes_a_channel)
{
	make(2);
	for (int i = 0; i < 2; i++) {
		many_colors = i == 1;
		run_with(2, closed_from_outside, NULL);
		CHECK_EQ(pthread_join(other, NULL), 0);
		CHECK_EQ(weft_channel_free(there), 0);
		there = weft_channel_new(sizeof(int), 0);
	}
	unmake();
}

static int before_and_after(void *arg)
{
	(void)arg;
	CHECK_EQ(receive_int(there), 1);
	CHECK_EQ(receive_int(there), 2);
	CHECK_EQ(send_int(back, 3), 0);
	return 0;
}

TEST(messages_outlive_a_run)
{
	make(2);
	CHECK_EQ(send_int(there, 1), 0);
	CHECK_EQ(send_int(there, 2), 0);
	run_with(1, before_and_after, NULL);
	CHECK_EQ(receive_int(back), 3);
	unmake();
}

static int waits_for_ever(void *arg)
{
	(void)arg;
	(void)receive_int(there);
	return 1;
}

static int stops(void *arg)
{
	(void)arg;
	start(waits_for_ever, NULL);
	YIELD_UNTIL(waiting(there, false) == 1);
	return weft_stop();
}

TEST(a_channel_where_a_stopped_run_left_waiters_can_be_freed)
{
	weft_options opt = { .workers = 1 };

	make(0);
	CHECK_EQ(weft_run(stops, NULL, &opt), 0);
	unmake();
}

/* A function in the offload pool waits in the kernel; its worker does not. */

static weft_work work;
static atomic_int work_done;

static int pool_answer(void *arg)
{
	return answer(arg);
}

static void worked(void *arg)
{
	(void)arg;
	CHECK_EQ(work.result, 0);
	atomic_fetch_add(&work_done, 1);
}

static int asks_pool(void *arg)
{
	weft_work_init(&work, WEFT_MAIN, worked, NULL);
	CHECK_EQ(weft_work_start(&work, pool_answer), 0);
	CHECK_EQ(ask(arg), 0);
	YIELD_UNTIL(atomic_load(&work_done) == 1);
	return 0;
}

TEST(a_thread_asks_the_offload_pool)
{
	make(1);
	run_with(1, asks_pool, NULL);
	unmake();
}

/* Plain handlers send by the try form to threads of other colors. */

static atomic_int handler_sent;

static void handler_send(void *arg)
{
	int value = (int)(intptr_t)arg;

	if (try_send_int(there, value) == 0)
		atomic_fetch_add(&handler_sent, value);
	else
		CHECK_EQ(weft_post(weft_color_current(), handler_send, arg), 0);
}

static int sums_up(void *arg)
{
	int n = TEST_SIZE(MANY), sum = 0;
	weft_color color[2] = { weft_color_new(), weft_color_new() };

	(void)arg;
	for (int i = 0; i < n; i++)
		CHECK_EQ(weft_post(color[i % 2], handler_send, (void *)(intptr_t)(i + 1)), 0);
	for (int i = 0; i < n; i++)
		sum += receive_int(there);
	CHECK_EQ(sum, n * (n + 1) / 2);
	CHECK_EQ(try_receive_int(there), -EAGAIN);
	return 0;
}

TEST(plain_handlers_send_to_a_thread)
{
	make(3);
	run_with(2, sums_up, NULL);
	unmake();
}

TEST_MAIN
