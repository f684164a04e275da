/* stuck.c - a worker that does not come back: its descriptors are served by
 * another (decision 7). */
#include "io/sync.h"

enum { FDS = 8 };

static struct {
	struct call *waiting[FDS];
	int fd[FDS][2];
	char buf[FDS][8];
	sem_t stuck, go_on;
} st;

static void ignore_report(enum weft_report_kind kind, const char *text, void *arg)
{
	(void)arg;
	CHECK(kind == WEFT_REPORT_STALL);
	(void)text;
}

static void start_all(void *unused)
{
	(void)unused;
	for (int i = 0; i < FDS; i++) {
		st.waiting[i] = call_new();
		CHECK_EQ(weft_op_recv(&st.waiting[i]->op, st.fd[i][0], st.buf[i], 8, 0), 0);
	}
	sem_post(&st.stuck);
}

static void get_stuck(void *unused)
{
	(void)unused;
	sem_post(&st.stuck);
	while (sem_wait(&st.go_on) < 0)
		;
}

static void start_and_get_stuck(void *unused)
{
	start_all(unused);
	while (sem_wait(&st.go_on) < 0)
		;
}

/* One worker gets stuck; operations that it started are with the kernel already,
 * or not yet. */
static void begin(int workers, bool with_kernel)
{
	weft_on_report(ignore_report, NULL);
	sem_init(&st.stuck, 0, 0);
	sem_init(&st.go_on, 0, 0);
	for (int i = 0; i < FDS; i++)
		make_pair(st.fd[i]);
	sync_rt.opt.stall_ms = 10;
	runtime_begin(workers);
	if (with_kernel) {
		CHECK_EQ(weft_post(77, start_all, NULL), 0);
		sem_wait(&st.stuck);
		/* When the worker has done this, it has given the others away. */
		CHECK_EQ(DO(recv, st.fd[0][1], st.buf[0], 1, MSG_DONTWAIT), -EAGAIN);
		CHECK_EQ(weft_post(77, get_stuck, NULL), 0);
	} else {
		CHECK_EQ(weft_post(77, start_and_get_stuck, NULL), 0);
	}
	sem_wait(&st.stuck);
}

TEST(what_a_stuck_worker_started_is_done_all_the_same)
{
	for (int how = 0; how < 4; how++) {
		begin(1 + how / 2, how % 2);
		for (int i = 0; i < FDS; i++)
			CHECK_EQ(write(st.fd[i][1], "abc", 3), 3);
		for (int i = 0; i < FDS; i++)
			CHECK_EQ(WAIT(st.waiting[i]), 3);
		sem_post(&st.go_on);
		runtime_end();
	}
}

TEST(what_is_handed_to_a_stuck_worker_is_done_all_the_same)
{
	char buf[FDS][8];

	begin(1, true);
	for (int i = 0; i < FDS; i++) {
		CHECK_EQ(DO(send, st.fd[i][1], "abcd", 4, 0), 4);
		CHECK_EQ(WAIT(st.waiting[i]), 4);
		CHECK_EQ(DO(send, st.fd[i][0], "xyz", 3, 0), 3);
		CHECK_EQ(DO(recv, st.fd[i][1], buf[i], 8, 0), 3);
	}
	sem_post(&st.go_on);
	runtime_end();
}

TEST(what_a_stuck_worker_started_can_be_cancelled)
{
	for (int with_kernel = 0; with_kernel < 2; with_kernel++) {
		begin(1, with_kernel);
		for (int i = 0; i < FDS; i++)
			CHECK_EQ(weft_op_cancel(&st.waiting[i]->op), 0);
		for (int i = 0; i < FDS; i++)
			CHECK_EQ(WAIT(st.waiting[i]), -ECANCELED);
		sem_post(&st.go_on);
		runtime_end();
	}
}

static _Atomic int watch_calls;
static sem_t watch_done;

static void on_fd(void *arg)
{
	char byte;

	CHECK_EQ(read(*(int *)arg, &byte, 1), 1);
	watch_calls++;
	sem_post(&watch_done);
}

TEST(watches_of_a_stuck_worker_call_all_the_same)
{
	sem_init(&watch_done, 0, 0);
	begin(1, true);
	for (int i = 0; i < FDS; i++)
		CHECK_EQ(weft_on_fd(st.fd[i][1], WEFT_READ, 5, on_fd, &st.fd[i][1]), 0);
	for (int i = 0; i < FDS; i++)
		CHECK_EQ(write(st.fd[i][0], "ab", 2), 2);
	for (int i = 0; i < 2 * FDS; i++)
		sem_wait(&watch_done);
	for (int i = 0; i < FDS; i++)
		CHECK_EQ(weft_off_fd(st.fd[i][1], WEFT_READ) == -ENOENT, 0);
	for (int i = 0; i < FDS; i++)
		CHECK_EQ(weft_fd_close(st.fd[i][0]), 0);
	for (int i = 0; i < FDS; i++)
		CHECK_EQ(WAIT(st.waiting[i]), -ECANCELED);
	sem_post(&st.go_on);
	runtime_end();
}

TEST_MAIN
