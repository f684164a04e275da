/* sync.h - operations for tests that read like system calls.
 *
 * The runtime runs on its own thread and is held open; the test starts operations
 * from outside and waits for each. DO(recv, fd, buf, len, 0) is the result of
 * weft_op_recv. START and WAIT do the two halves.
 */
#ifndef TESTS_IO_SYNC_H
#define TESTS_IO_SYNC_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/weft.h>

#include "harness/test.h"

struct call {
	weft_op op;
	sem_t done;
};

static struct {
	pthread_t thread;
	sem_t up;
	weft_options opt;
	int rc;
} sync_rt;

static int sync_hold(void *unused)
{
	(void)unused;
	weft_hold();
	sem_post(&sync_rt.up);
	return 0;
}

static void *sync_main(void *unused)
{
	(void)unused;
	sync_rt.rc = weft_run(sync_hold, NULL, &sync_rt.opt);
	return NULL;
}

/* Unless a test says otherwise no worker is ever found stuck: on a slow machine a stand-in could
 * come, which has descriptors of its own. */
enum { AN_HOUR_MS = 3600000 };

static inline void runtime_begin(int workers)
{
	sem_init(&sync_rt.up, 0, 0);
	sync_rt.opt.workers = workers;
	if (sync_rt.opt.stall_ms == 0)
		sync_rt.opt.stall_ms = AN_HOUR_MS;
	CHECK_EQ(pthread_create(&sync_rt.thread, NULL, sync_main, NULL), 0);
	sem_wait(&sync_rt.up);
}

static inline void runtime_join(void)
{
	pthread_join(sync_rt.thread, NULL);
	CHECK_EQ(sync_rt.rc, 0);
}

static inline void runtime_end(void)
{
	CHECK_EQ(weft_drop(), 0);
	runtime_join();
}

static inline void runtime_stop(void)
{
	CHECK_EQ(weft_stop(), 0);
	runtime_join();
}

/* The backend that is in use. */
static inline const char *backend_name(void)
{
	weft_stats_all all;

	CHECK(weft_stats(&all, NULL, 0) >= 0);
	return all.io;
}

/* The only worker does nothing in between. */
static sem_t sync_held, sync_goes;

static inline void sync_hold_worker(void *unused)
{
	(void)unused;
	sem_post(&sync_held);
	while (sem_wait(&sync_goes) < 0)
		;
}

static inline void worker_hold(void)
{
	sem_init(&sync_held, 0, 0);
	sem_init(&sync_goes, 0, 0);
	CHECK_EQ(weft_post(WEFT_MAIN, sync_hold_worker, NULL), 0);
	while (sem_wait(&sync_held) < 0)
		;
}

static inline void worker_go(void)
{
	sem_post(&sync_goes);
}

static inline void call_done(void *arg)
{
	struct call *c = arg;

	sem_post(&c->done);
}

static inline struct call *call_new(void)
{
	struct call *c = calloc(1, sizeof *c);

	sem_init(&c->done, 0, 0);
	weft_op_init(&c->op, weft_color_new(), call_done, c);
	return c;
}

static inline int64_t call_wait(struct call *c)
{
	int64_t result;

	while (sem_wait(&c->done) < 0)
		;
	result = c->op.result;
	sem_destroy(&c->done);
	free(c);
	return result;
}

#define START(name, ...) \
	({ \
		struct call *c_ = call_new(); \
		CHECK_EQ(weft_op_##name(&c_->op, __VA_ARGS__), 0); \
		c_; \
	})
#define WAIT(call) call_wait(call)
#define DO(name, ...) WAIT(START(name, __VA_ARGS__))

static inline void make_pair(int fd[2])
{
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
}

/* Two ends of a TCP connection on loopback. */
static inline void make_tcp(int fd[2])
{
	int ls = weft_listen_on("127.0.0.1:0");
	struct sockaddr_storage addr;
	socklen_t len = sizeof addr;

	CHECK(ls >= 0);
	CHECK_EQ(getsockname(ls, (struct sockaddr *)&addr, &len), 0);
	fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(connect(fd[0], (struct sockaddr *)&addr, len), 0);
	fd[1] = accept4(ls, NULL, NULL, SOCK_CLOEXEC);
	CHECK(fd[1] >= 0);
	close(ls);
}

/* Whatever WEFT_DEBUG would abort for is counted instead. */
static _Atomic int sync_reports;
static char sync_report[512];

static inline void count_report(enum weft_report_kind kind, const char *text, void *arg)
{
	(void)kind;
	(void)arg;
	strncpy(sync_report, text, sizeof sync_report - 1);
	sync_reports++;
}

static inline void expect_reports(void)
{
	weft_on_report(count_report, NULL);
}

#endif
