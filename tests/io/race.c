/* race.c - what happens between two steps of an operation: system calls that
 * Weft makes come through here first, so that it happens every time. */
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

#include "io/op.h"
#include "io/sync.h"
#include "io/watch.h"

/* A watch that is called, and armed again, between the look at its descriptor
 * and what follows from it. */

static struct {
	_Atomic bool armed;
	_Atomic int calls;
	int fd[2];
	weft_color color;
	sem_t third;
} looked;

static void on_looked(void *unused)
{
	(void)unused;
	if (++looked.calls == 3)
		sem_post(&looked.third);
}

static bool called_and_armed(void)
{
	struct wf_fd *f = wf_fd_peek(looked.fd[0]);
	bool called, armed;

	wf_lock_take(&f->lock);
	/* By an edge; or it was asked for before the watch was there, and only counts as a hint. */
	called = looked.calls > 0 || f->watch[WF_IN]->recheck;
	armed = f->watch[WF_IN]->state == WF_WATCH_ARMED;
	wf_lock_give(&f->lock);
	return armed && called;
}

int poll(struct pollfd *p, nfds_t n, int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };
	int r = ppoll(p, n, ms < 0 ? NULL : &ts, NULL);

	if (n > 0 && r == 0 && p[0].fd == looked.fd[0] && atomic_exchange(&looked.armed, false)) {
		CHECK_EQ(write(looked.fd[1], "x", 1), 1);
		while (!called_and_armed())
			sched_yield();
	}
	return r;
}

/* What a compiler makes of it if it does not see how much room there is. */
int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room);

int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room)
{
	CHECK(n <= room / sizeof *p);
	return poll(p, n, ms);
}

static int home_of(int fd)
{
	struct wf_fd *f = wf_fd_peek(fd);
	int home;

	wf_lock_take(&f->lock);
	home = f->home;
	wf_lock_give(&f->lock);
	return home;
}

/* This worker will look at it; the other one must hear of the byte. */
static void watch_looked(void *epoll)
{
	for (;;) {
		make_pair(looked.fd);
		CHECK_EQ(weft_on_fd(looked.fd[0], WEFT_READ, looked.color, on_looked, NULL), 0);
		if (home_of(looked.fd[0]) != weft_worker_current())
			break;
		CHECK_EQ(weft_fd_close(looked.fd[0]), 0);
		CHECK_EQ(weft_fd_close(looked.fd[1]), 0);
	}
	if (epoll != NULL)
		looked.armed = true;
	else
		CHECK_EQ(write(looked.fd[1], "x", 1), 1);
}

TEST(a_watch_armed_while_it_is_looked_at_is_looked_at_again)
{
	const char *io = getenv("WEFT_IO");
	bool epoll = io != NULL && strcmp(io, "epoll") == 0;

	looked.color = weft_color_new();
	sem_init(&looked.third, 0, 0);
	runtime_begin(2);
	CHECK_EQ(weft_post(weft_color_new(), watch_looked, epoll ? &looked : NULL), 0);
	sem_wait(&looked.third);
	CHECK(!looked.armed);
	CHECK_EQ(weft_fd_close(looked.fd[0]), 0);
	runtime_end();
}

/* A connection that another process takes first. */

static _Atomic int thief = -1;

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	if (fd == atomic_load(&thief)) {
		thief = -1;
		CHECK_EQ(close((int)syscall(SYS_accept4, fd, NULL, NULL, 0)), 0);
	}
	return (int)syscall(SYS_accept4, fd, addr, len, flags);
}

TEST(a_connection_that_somebody_else_took_blocks_no_worker)
{
	int ls = weft_listen_on("127.0.0.1:0"), cl[2], pair[2];
	struct sockaddr_in addr;
	socklen_t len = sizeof addr;
	struct call *c;
	int64_t fd;

	CHECK_EQ(fcntl(ls, F_SETFL, 0), 0);
	CHECK_EQ(getsockname(ls, (struct sockaddr *)&addr, &len), 0);
	make_pair(pair);
	sync_rt.opt.stall_ms = -1;
	runtime_begin(1);
	c = START(accept, ls, NULL, NULL);
	thief = ls;
	for (int i = 0; i < 2; i++) {
		cl[i] = socket(AF_INET, SOCK_STREAM, 0);
		CHECK_EQ(connect(cl[i], (struct sockaddr *)&addr, len), 0);
		CHECK_EQ(DO(send, pair[0], "x", 1, 0), 1);
	}
	fd = WAIT(c);
	CHECK(fd >= 0);
	runtime_stop();
}

/* A close that waits for what was sent. */

static _Atomic int lingering = -1;

int close(int fd)
{
	if (fd == atomic_load(&lingering))
		CHECK(weft_worker_current() < 0);
	return (int)syscall(SYS_close, fd);
}

static void close_lingering(void *arg)
{
	struct call *c = arg;

	CHECK_EQ(weft_op_close(&c->op, lingering), 0);
}

TEST(closing_a_socket_that_lingers_blocks_no_worker)
{
	struct linger how = { 1, 1 };
	int fd[2];

	runtime_begin(1);
	for (int used = 0; used < 2; used++) {
		struct call *c = call_new();
		char byte;

		make_tcp(fd);
		CHECK_EQ(setsockopt(fd[0], SOL_SOCKET, SO_LINGER, &how, sizeof how), 0);
		if (used)
			CHECK_EQ(DO(send, fd[0], "x", 1, 0), 1);
		lingering = fd[0];
		CHECK_EQ(weft_post(WEFT_MAIN, close_lingering, c), 0);
		CHECK_EQ(WAIT(c), 0);
		lingering = -1;
		CHECK_EQ(read(fd[1], &byte, 1), used);
		CHECK_EQ(close(fd[1]), 0);
	}
	runtime_end();
}

/* A file that is sent to a reader who always keeps up. */
static struct {
	int in, out;
	int64_t at_once, most;
	bool done;
	weft_op op;
} fast = { .in = -1, .out = -1 };

/* A sendfile that is cancelled while its worker tries it, and then goes to the
 * offload pool: it must stay until its worker has seen the cancel. The second
 * one holds up the worker until the pool is done with the first. */

static struct {
	struct call *first, *second;
	int in[2], fd[2][2];
} sent;

static bool pool_has(weft_op *op)
{
	struct wf_fd *f = op->record_;
	bool has;

	wf_lock_take(&f->lock);
	has = wf_op_state(op) == WF_OP_GOING && !(op->flags_ & WF_OP_HELD);
	if (wf_op_state(op) == WF_OP_DONE)
		CHECK(!(op->flags_ & WF_OP_CANCEL_HANDED));
	wf_lock_give(&f->lock);
	return has;
}

ssize_t preadv2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
	if (sent.first != NULL && fd == sent.in[0]) {
		CHECK_EQ(weft_op_cancel(&sent.first->op), 0);
		errno = EAGAIN;
		return -1;
	}
	if (sent.second != NULL && fd == sent.in[1]) {
		while (pool_has(&sent.first->op))
			sched_yield();
	}
	if (fd == fast.in)
		return 1; /* it is in memory */
	return syscall(SYS_preadv2, fd, iov, (long)count, (long)offset, 0L, (long)flags);
}

static void send_both(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_op_sendfile(&sent.first->op, sent.fd[0][0], sent.in[0], 0, 1), 0);
	CHECK_EQ(weft_op_sendfile(&sent.second->op, sent.fd[1][0], sent.in[1], 0, 1), 0);
}

TEST(a_cancelled_sendfile_on_the_offload_pool_waits_for_its_cancel)
{
	for (int i = 0; i < 2; i++) {
		sent.in[i] = memfd_create("weft", 0);
		CHECK_EQ(ftruncate(sent.in[i], 4096), 0);
		make_pair(sent.fd[i]);
	}
	sync_rt.opt.stall_ms = -1;
	runtime_begin(1);
	sent.first = call_new();
	sent.second = call_new();
	CHECK_EQ(weft_post(WEFT_MAIN, send_both, NULL), 0);
	CHECK_EQ(WAIT(sent.second), 1);
	CHECK_EQ(WAIT(sent.first), -ECANCELED);
	runtime_end();
}

ssize_t sendfile(int out, int in, off_t *offset, size_t len)
{
	if (out != fast.out)
		return syscall(SYS_sendfile, out, in, offset, len);
	fast.at_once += (int64_t)len;
	if (fast.at_once > fast.most)
		fast.most = fast.at_once;
	return (ssize_t)len;
}

static void other_work(void *unused)
{
	(void)unused;
	fast.at_once = 0;
	if (!fast.done)
		CHECK_EQ(weft_post(7, other_work, NULL), 0);
}

static void all_sent(void *unused)
{
	(void)unused;
	fast.done = true;
}

static int send_all(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_post(7, other_work, NULL), 0);
	weft_op_init(&fast.op, WEFT_MAIN, all_sent, NULL);
	return weft_op_sendfile(&fast.op, fast.out, fast.in, 0, 32 << 20);
}

TEST(a_large_file_lets_others_run_while_it_is_sent)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };
	int fd[2];

	fast.in = memfd_create("weft", 0);
	CHECK_EQ(ftruncate(fast.in, 32 << 20), 0);
	make_pair(fd);
	CHECK_EQ(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
	fast.out = fd[0];
	CHECK_EQ(weft_run(send_all, NULL, &opt), 0);
	CHECK_EQ(fast.op.result, 32 << 20);
	CHECK(fast.most < 8 << 20);
}

TEST_MAIN
