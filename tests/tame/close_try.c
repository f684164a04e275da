/* A descriptor is closed while another thread is about to make a system call on it, and its number is
 * given to a new descriptor as soon as possible. The system call must not reach the new descriptor:
 * tested for each call, and each way to make it. */
/* backends: both */
#include "tame/primitives.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include "base/fault.h"
#include "io/op.h"
#include "scheduler/poller.h"

enum what {
	READ,
	READV,
	RECV,
	RECVMSG,
	ACCEPT,
	PREAD,
	PREADV,
	POLL,
	WRITE,
	WRITEV,
	SEND,
	SENDMSG,
	PWRITE,
	PWRITEV,
	SENDFILE,
	SENDFILE_FROM, /* the file is closed */
	CONNECT,
	WHATS
};

static const char *const names[] = { "read",          "readv",   "recv",   "recvmsg", "accept",
				     "pread",         "preadv",  "poll",   "write",   "writev",
				     "send",          "sendmsg", "pwrite", "pwritev", "sendfile",
				     "sendfile from", "connect" };

enum way { THREAD, OPERATION, BLOCK_EVENT, RENDEZVOUS_EVENT, WAYS };

static const char *const ways[] = { "thread", "operation", "event of a block",
				    "event of a rendezvous" };

enum kind { SOCKETS, TCP, PIPE, LISTENER, FILE_AND_NULL, FRESH, KINDS };

static const char *const kinds[] = { "sockets", "TCP", "pipe", "listener", "file", "fresh" };

/* One line of the table. */
struct line {
	enum what what;
	enum way way;
	enum kind kind;
	bool full;  /* the descriptor has what the call asks for */
	bool known; /* Weft has seen it before, which makes calls take their shortest ways */
};

/* What a thread does meanwhile. `other` is the other end of fd. */
static struct {
	struct line line;
	int fd, other, from;
	_Atomic bool ready, armed, stopped, begun, over, reused;
	_Atomic int worker;
	int64_t result;
	char got;
} x;

/* Another worker may be looking whether it is to stop. */
static void reset(void)
{
	x.ready = x.armed = x.stopped = x.begun = x.over = x.reused = false;
	x.worker = -1;
	x.fd = x.other = x.from = -1;
	x.result = 0;
	x.got = 0;
}

static bool reads(enum what what)
{
	return what <= POLL;
}

/* Descriptors of a kind: fd[0] is the one to be used, fd[1] its other end, or a client. */

static void make(enum kind kind, enum what what, char c, bool full, int fd[2])
{
	switch (kind) {
	case SOCKETS:
		socket_pair(fd);
		break;
	case TCP:
		tcp_pair(fd);
		break;
	case PIPE:
		make_pipe(fd);
		if (!reads(what)) {
			int end = fd[0];

			fd[0] = fd[1];
			fd[1] = end;
		}
		break;
	case LISTENER:
		fd[0] = listener();
		fd[1] = full ? knock(fd[0]) : -1;
		return;
	case FRESH:
		fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		fd[1] = -1;
		return;
	default:
		fd[0] = temp_file(0);
		fd[1] = -1;
		if (full && (reads(what) || what == SENDFILE_FROM))
			CHECK_EQ(pwrite(fd[0], &c, 1, 0), 1);
		return;
	}
	if (full && reads(what))
		CHECK_EQ(write(fd[1], &c, 1), 1);
}

/* Stops the thread that calls, just before the system call, until another has begun to close. */

static bool is_try(const char *site)
{
	static const char *const files[] = { "/now.c", "/try.c", "/try.h", "/io.h", "/poll.c" };

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (strstr(site, files[i]) != NULL)
			return true;
	return false;
}

static uint32_t use_of(int fd)
{
	const struct wf_fd *f = wf_fd_peek(fd);

	return f != NULL ? __atomic_load_n(&f->use, __ATOMIC_SEQ_CST) : 0;
}

static int closed_fd(void)
{
	return x.line.what == SENDFILE_FROM ? x.from : x.fd;
}

static void stop_here(const char *site)
{
	if (!x.armed || weft_worker_current() != x.worker || !is_try(site))
		return;
	x.armed = false;
	x.stopped = true;
	while (!x.reused && !(use_of(closed_fd()) & WF_FD_CLOSING))
		sched_yield();
}

/* The calls */

static struct sockaddr_in nowhere;

static int64_t call_thread(void)
{
	struct iovec iov = { &x.got, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct pollfd p = { .fd = x.fd, .events = POLLIN };
	int64_t n;

	switch (x.line.what) {
	case READ:
		return weft_read(x.fd, &x.got, 1);
	case READV:
		return weft_readv(x.fd, &iov, 1);
	case RECV:
		return weft_recv(x.fd, &x.got, 1, 0);
	case RECVMSG:
		return weft_recvmsg(x.fd, &msg, 0);
	case ACCEPT:
		return weft_accept(x.fd, NULL);
	case PREAD:
		return weft_pread(x.fd, &x.got, 1, 0);
	case PREADV:
		return weft_preadv(x.fd, &iov, 1, 0);
	case POLL:
		n = weft_poll(&p, 1);
		return n == 1 && p.revents & POLLNVAL ? -EBADF : n;
	case WRITE:
		return weft_write(x.fd, &x.got, 1);
	case WRITEV:
		return weft_writev(x.fd, &iov, 1);
	case SEND:
		return weft_send(x.fd, &x.got, 1, 0);
	case SENDMSG:
		return weft_sendmsg(x.fd, &msg, 0);
	case PWRITE:
		return weft_pwrite(x.fd, &x.got, 1, 0);
	case PWRITEV:
		return weft_pwritev(x.fd, &iov, 1, 0);
	case SENDFILE:
	case SENDFILE_FROM:
		return weft_sendfile(x.fd, x.from, 0, 1);
	default:
		return weft_connect(x.fd, (struct sockaddr *)&nowhere, sizeof nowhere);
	}
}

struct operation {
	weft_op op;
	_Atomic bool done;
};

static void operation_done(void *arg)
{
	((struct operation *)arg)->done = true;
}

static int start_operation(weft_op *op, const struct iovec *iov, struct msghdr *msg)
{
	switch (x.line.what) {
	case READ:
		return weft_op_read(op, x.fd, &x.got, 1);
	case READV:
		return weft_op_readv(op, x.fd, iov, 1, -1);
	case RECV:
		return weft_op_recv(op, x.fd, &x.got, 1, 0);
	case RECVMSG:
		return weft_op_recvmsg(op, x.fd, msg, 0);
	case ACCEPT:
		return weft_op_accept(op, x.fd, NULL, NULL);
	case PREAD:
		return weft_op_pread(op, x.fd, &x.got, 1, 0);
	case PREADV:
		return weft_op_readv(op, x.fd, iov, 1, 0);
	case POLL:
		return weft_op_poll(op, x.fd, POLLIN);
	case WRITE:
		return weft_op_write(op, x.fd, &x.got, 1);
	case WRITEV:
		return weft_op_writev(op, x.fd, iov, 1, -1);
	case SEND:
		return weft_op_send(op, x.fd, &x.got, 1, 0);
	case SENDMSG:
		return weft_op_sendmsg(op, x.fd, msg, 0);
	case PWRITE:
		return weft_op_pwrite(op, x.fd, &x.got, 1, 0);
	case PWRITEV:
		return weft_op_writev(op, x.fd, iov, 1, 0);
	case SENDFILE:
	case SENDFILE_FROM:
		return weft_op_sendfile(op, x.fd, x.from, 0, 1);
	default:
		return weft_op_connect(op, x.fd, (struct sockaddr *)&nowhere, sizeof nowhere);
	}
}

static int64_t call_operation(void)
{
	struct iovec iov = { &x.got, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct operation o = { 0 };

	weft_op_init(&o.op, weft_color_current(), operation_done, &o);
	CHECK_EQ(start_operation(&o.op, &iov, &msg), 0);
	x.begun = true;
	YIELD_UNTIL(o.done);
	return o.op.result;
}

/* False: there is no such event. */
static bool start_event(int_event i, size_event s)
{
	switch (x.line.what) {
	case READ:
		weft_read_ev(x.fd, &x.got, 1, s);
		break;
	case RECV:
		weft_recv_ev(x.fd, &x.got, 1, 0, s);
		break;
	case ACCEPT:
		weft_accept_ev(x.fd, NULL, i);
		break;
	case PREAD:
		weft_pread_ev(x.fd, &x.got, 1, 0, s);
		break;
	case POLL:
		weft_fd_ev(x.fd, POLLIN, i);
		break;
	case WRITE:
		weft_write_ev(x.fd, &x.got, 1, s);
		break;
	case SEND:
		weft_send_ev(x.fd, &x.got, 1, 0, s);
		break;
	case PWRITE:
		weft_pwrite_ev(x.fd, &x.got, 1, 0, s);
		break;
	case SENDFILE:
	case SENDFILE_FROM:
		weft_sendfile_ev(x.fd, x.from, 0, 1, s);
		break;
	default:
		weft_connect_ev(x.fd, (struct sockaddr *)&nowhere, sizeof nowhere, i);
		break;
	}
	x.begun = true;
	return true;
}

static bool gives_int(enum what what)
{
	return what == ACCEPT || what == POLL || what == CONNECT;
}

static bool is_event(enum what what)
{
	return gives_int(what) || what == READ || what == RECV || what == PREAD || what == WRITE ||
	       what == SEND || what == PWRITE || what == SENDFILE || what == SENDFILE_FROM;
}

static int64_t call_event(void)
{
	bool is_int = gives_int(x.line.what);
	struct fn f;
	ssize_t s = 0;
	int i = 0;

	fn_begin(&f);
	if (x.line.way == RENDEZVOUS_EVENT) {
		start_event(is_int ? of_int(&f, 1, &i) : NULL, is_int ? NULL : of_size(&f, 1, &s));
		CHECK_EQ(next(&f), 1);
	} else {
		BLOCK (&f)
			start_event(is_int ? in_int(&f, &i) : NULL,
				    is_int ? NULL : in_size(&f, &s));
	}
	fn_end(&f);
	return is_int ? i : s;
}

static int caller(void *unused)
{
	(void)unused;
	x.got = 'w';
	x.worker = weft_worker_current();
	x.armed = true;
	x.ready = true;
	if (x.line.way == THREAD)
		x.result = call_thread();
	else if (x.line.way == OPERATION)
		x.result = call_operation();
	else
		x.result = call_event();
	x.armed = false;
	x.over = true;
	return 0;
}

/* What became of it */

static void describe(const char *what, int64_t n)
{
	test_fail(__FILE__, __LINE__, "%s: %s by %s, %s, %s: %lld", what, names[x.line.what],
		  ways[x.line.way], kinds[x.line.kind], x.line.full ? "full" : "empty",
		  (long long)n);
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

static off_t size_of(int fd)
{
	return lseek(fd, 0, SEEK_END);
}

/* The descriptor that has the number now is as it was made. */
static void check_untouched(int other)
{
	char c = 0;

	switch (x.line.what) {
	case PREAD:
	case PREADV:
		break;
	case PWRITE:
	case PWRITEV:
		if (size_of(closed_fd()) != 0)
			describe("the next file was written to", size_of(closed_fd()));
		break;
	case CONNECT:
		if (getpeername(closed_fd(), (struct sockaddr *)&(struct sockaddr_storage){ 0 },
				&(socklen_t){ sizeof(struct sockaddr_storage) }) == 0)
			describe("the next socket was connected", x.result);
		break;
	case SENDFILE_FROM:
		if (x.result == 1 && (read(x.other, &c, 1) != 1 || c != 'o'))
			describe("the next file was sent", c);
		break;
	default:
		if (reads(x.line.what) && !readable(closed_fd()))
			describe("what belongs to the next descriptor was taken", x.result);
		if (!reads(x.line.what) && readable(other))
			describe("the next descriptor was written to", x.result);
		break;
	}
}

/* Of the old one: what was there, or an error that says that it is closed. */
static void check_result(void)
{
	int64_t n = x.result;
	bool closed = n == -EBADF || (x.line.way == OPERATION && n == -ECANCELED);

	if (closed)
		return;
	if (!x.line.full && (reads(x.line.what) || x.line.what == CONNECT))
		describe("it did not end as closed", n);
	if (n < 0)
		describe("it failed", n);
	if (x.line.what <= RECVMSG || x.line.what == PREAD || x.line.what == PREADV)
		if (n > 0 && x.got != 'o')
			describe("it got a stranger's byte", x.got);
	if (x.line.what == ACCEPT)
		CHECK_EQ(close((int)n), 0);
}

/* The caller is in the call, or has left it. */
static bool is_inside(weft_thread *t)
{
	return x.stopped || x.begun || x.over ||
	       (x.ready && atomic_load(&t->wait) != NULL &&
		atomic_load(&t->state) == WF_THREAD_PARKED);
}

static void run_line(struct line line)
{
	int fd[2], next[2];
	weft_thread_attr attr = { .on = true, .color = weft_color_new() };
	weft_thread *t;

	reset();
	x.line = line;
	make(line.kind, line.what, 'o', line.full, fd);
	x.fd = fd[0];
	x.other = fd[1];
	if (line.what == SENDFILE)
		x.from = temp_file(1);
	if (line.what == SENDFILE_FROM) {
		x.from = fd[0];
		socket_pair(fd);
		x.fd = fd[0];
		x.other = fd[1];
	}
	if (line.known) { /* a pipe that is written to by write(2) */
		CHECK_EQ(fcntl(x.fd, F_SETFL, fcntl(x.fd, F_GETFL) | O_NONBLOCK), 0);
		CHECK_EQ(weft_fd_adopt(x.fd), 0);
	}
	CHECK_EQ(weft_color_pin(attr.color, 1), 0);
	CHECK_EQ(weft_thread_start(&t, &attr, caller, NULL), 0);
	while (!is_inside(t))
		sched_yield();
	CHECK_EQ(weft_close(closed_fd()), 0);
	CHECK_EQ(fcntl(closed_fd(), F_GETFD), -1);
	CHECK_EQ(dup3(STDERR_FILENO, closed_fd(), O_CLOEXEC), closed_fd());
	make(line.kind, line.what, 'n', true, next);
	CHECK_EQ(dup3(next[0], closed_fd(), O_CLOEXEC), closed_fd());
	CHECK_EQ(close(next[0]), 0);
	x.reused = true;
	CHECK_EQ(join(t), 0);
	check_result();
	check_untouched(next[1]);
	CHECK_EQ(weft_close(closed_fd()), 0);
	for (int i = 0; i < 3; i++) {
		int left = i == 0                         ? next[1]
			   : i == 1                       ? x.other
			   : x.line.what == SENDFILE_FROM ? x.fd
							  : x.from;

		if (left >= 0)
			CHECK_EQ(close(left), 0);
	}
}

static bool fits(enum kind kind, enum what what)
{
	switch (what) {
	case READ:
	case READV:
	case POLL:
	case WRITE:
	case WRITEV:
		return kind == SOCKETS || kind == TCP || kind == PIPE;
	case RECV:
	case RECVMSG:
	case SEND:
	case SENDMSG:
	case SENDFILE:
		return kind == SOCKETS || kind == TCP;
	case ACCEPT:
		return kind == LISTENER;
	case CONNECT:
		return kind == FRESH;
	default:
		return kind == FILE_AND_NULL;
	}
}

/* The same with a descriptor that has what is asked for and one that has not, and with one that is
 * new to Weft and one that is not. Of an empty file there is nothing to wait for. */
static int run_kind(struct line line)
{
	bool waits = line.kind != FILE_AND_NULL && line.kind != FRESH;
	int lines = 0;

	for (int full = waits ? 0 : 1; full < 2; full++)
		for (int known = 0; known < 2; known++) {
			line.full = full;
			line.known = known;
			run_line(line);
			lines++;
		}
	return lines;
}

static void run_way(enum way way)
{
	int lines = 0;

	CHECK_EQ(weft_color_pin(weft_color_current(), 0), 0);
	CHECK_EQ(weft_yield(), 0);
	wf_fault_on_visit(stop_here);
	for (int what = 0; what < WHATS; what++)
		for (int kind = 0; kind < KINDS; kind++) {
			struct line line = { .what = (enum what)what,
					     .way = way,
					     .kind = (enum kind)kind };

			if (fits(line.kind, line.what) && (way <= OPERATION || is_event(line.what)))
				lines += run_kind(line);
		}
	CHECK(lines > 40);
}

THREAD_TEST_WITHOUT_STAND_INS(a_close_waits_for_the_try_of_a_thread, 2)
{
	run_way(THREAD);
	return 0;
}

THREAD_TEST_WITHOUT_STAND_INS(a_close_waits_for_the_try_of_an_operation, 2)
{
	run_way(OPERATION);
	return 0;
}

THREAD_TEST_WITHOUT_STAND_INS(a_close_waits_for_the_try_of_an_event, 2)
{
	run_way(BLOCK_EVENT);
	run_way(RENDEZVOUS_EVENT);
	return 0;
}

/* A call that has waited takes its next step later. Here the descriptor is closed, and its number
 * given away, between the end of a wait and what the caller does next. */

static char big[1 << 22];

static int64_t polled(void)
{
	struct pollfd p = { .fd = x.fd, .events = POLLIN };
	int n = weft_poll(&p, 1);

	return n == 1 && p.revents == POLLNVAL ? -EBADF : n;
}

static int64_t read_exactly(void)
{
	return weft_read_exactly(x.fd, &(char[2]){ 0 }, 2);
}

static int64_t write_all(void)
{
	return weft_write_all(x.fd, big, sizeof big);
}

#define STEP_BY_EVENT(name, type, how, call) \
	static int64_t name(void) \
	{ \
		struct fn f; \
		char c[2]; \
		type n = 0; \
\
		(void)c; \
		fn_begin(&f); \
		how(call); \
		fn_end(&f); \
		return n; \
	}
#define BY_BLOCK(call) \
	BLOCK (&f) \
	call
#define BY_RENDEZVOUS(call) \
	call; \
	CHECK_EQ(next(&f), 1)

STEP_BY_EVENT(read_exactly_block, ssize_t, BY_BLOCK,
	      weft_read_exactly_ev(x.fd, c, 2, in_size(&f, &n)))
STEP_BY_EVENT(read_exactly_rendezvous, ssize_t, BY_RENDEZVOUS,
	      weft_read_exactly_ev(x.fd, c, 2, of_size(&f, 1, &n)))
STEP_BY_EVENT(write_all_block, ssize_t, BY_BLOCK,
	      weft_write_all_ev(x.fd, big, sizeof big, in_size(&f, &n)))
STEP_BY_EVENT(write_all_rendezvous, ssize_t, BY_RENDEZVOUS,
	      weft_write_all_ev(x.fd, big, sizeof big, of_size(&f, 1, &n)))
STEP_BY_EVENT(read_rendezvous, ssize_t, BY_RENDEZVOUS, weft_read_ev(x.fd, c, 1, of_size(&f, 1, &n)))
STEP_BY_EVENT(recv_rendezvous, ssize_t, BY_RENDEZVOUS,
	      weft_recv_ev(x.fd, c, 1, 0, of_size(&f, 1, &n)))
STEP_BY_EVENT(accept_rendezvous, int, BY_RENDEZVOUS, weft_accept_ev(x.fd, NULL, of_int(&f, 1, &n)))

static const struct step {
	const char *name;
	int64_t (*call)(void);
	enum what what;
} steps[] = {
	{ "weft_poll", polled, POLL },
	{ "weft_read_exactly", read_exactly, READ },
	{ "weft_write_all", write_all, WRITE },
	{ "weft_read_exactly_ev of a block", read_exactly_block, READ },
	{ "weft_read_exactly_ev of a rendezvous", read_exactly_rendezvous, READ },
	{ "weft_write_all_ev of a block", write_all_block, WRITE },
	{ "weft_write_all_ev of a rendezvous", write_all_rendezvous, WRITE },
	{ "weft_read_ev of a rendezvous", read_rendezvous, READ },
	{ "weft_recv_ev of a rendezvous", recv_rendezvous, READ },
	{ "weft_accept_ev of a rendezvous", accept_rendezvous, ACCEPT },
};

static int step_caller(void *step)
{
	x.begun = true;
	x.result = ((const struct step *)step)->call();
	return 0;
}

static bool anything_waits(int fd)
{
	const struct wf_fd *f = wf_fd_peek(fd);

	return f != NULL && (wf_dir_head(&f->dir[WF_IN]) != NULL ||
			     wf_dir_head(&f->dir[WF_OUT]) != NULL || f->loose.head != NULL);
}

/* There is only one worker, so what was waited for ends here, and the caller goes on later. */
static void end_wait(const struct step *step)
{
	ssize_t n;

	if (step->what == ACCEPT)
		x.other = knock(x.fd);
	else if (step->what == WRITE)
		while ((n = recv(x.other, big, sizeof big, MSG_DONTWAIT)) > 0)
			;
	else
		CHECK_EQ(write(x.other, "o", 1), 1);
	while (anything_waits(x.fd))
		wf_pollers.poll(wf_worker_self(), 0);
}

static void check_step(const struct step *step, int next)
{
	if (x.result != -EBADF)
		test_fail(__FILE__, __LINE__, "%s: %lld", step->name, (long long)x.result);
	if (step->what == WRITE ? readable(next) : !readable(x.fd))
		test_fail(__FILE__, __LINE__, "%s: it reached the next descriptor", step->name);
}

static void run_step(const struct step *step)
{
	enum kind kind = step->what == ACCEPT ? LISTENER : SOCKETS;
	weft_thread *t;
	int fd[2], next[2];

	reset();
	make(kind, step->what, 'o', false, fd);
	x.fd = fd[0];
	x.other = fd[1];
	CHECK_EQ(weft_thread_start(&t, NULL, step_caller, (void *)(uintptr_t)step), 0);
	YIELD_UNTIL(x.begun && anything_waits(x.fd));
	end_wait(step);
	CHECK_EQ(weft_fd_close(x.fd), 0);
	CHECK_EQ(dup3(STDERR_FILENO, x.fd, O_CLOEXEC), x.fd);
	make(kind, step->what, 'n', true, next);
	CHECK_EQ(dup3(next[0], x.fd, O_CLOEXEC), x.fd);
	CHECK_EQ(close(next[0]), 0);
	CHECK_EQ(join(t), 0);
	check_step(step, next[1]);
	CHECK_EQ(weft_fd_close(x.fd), 0);
	CHECK_EQ(close(x.other), 0);
	CHECK_EQ(close(next[1]), 0);
}

THREAD_TEST_WITHOUT_STAND_INS(a_call_that_has_waited_ends_if_its_descriptor_was_closed_meanwhile, 1)
{
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		run_step(&steps[i]);
	return 0;
}

/* A call may begin while close(2) is under way. It ends, and waits for nothing that is not there any
 * more. */

static struct {
	_Atomic int fd; /* to be closed slowly */
	_Atomic bool under_way;
	ssize_t result;
} slow = { .fd = -1 };

static struct {
	_Atomic int fd; /* its number is free long before close(2) returns */
	_Atomic bool freed, over;
} late = { .fd = -1 };

int close(int fd)
{
	int rc;

	if (fd == slow.fd) {
		slow.under_way = true;
		for (int i = 0; i < 300; i++)
			sched_yield();
	}
	rc = (int)syscall(SYS_close, fd);
	if (fd == late.fd) {
		late.fd = -1;
		late.freed = true;
		while (!late.over)
			sched_yield();
	}
	return rc;
}

static int receive_when_closing(void *unused)
{
	char c;

	(void)unused;
	while (!slow.under_way)
		sched_yield();
	slow.result = weft_recv(slow.fd, &c, 1, 0);
	return 0;
}

THREAD_TEST_WITHOUT_STAND_INS(a_call_that_begins_while_a_descriptor_is_closed_ends, 2)
{
	weft_thread_attr attr = { .on = true, .color = weft_color_new() };
	weft_thread *t;
	int fd[2];

	CHECK_EQ(weft_color_pin(weft_color_current(), 0), 0);
	CHECK_EQ(weft_color_pin(attr.color, 1), 0);
	CHECK_EQ(weft_yield(), 0);
	for (int i = 0; i < 20; i++) {
		socket_pair(fd);
		CHECK_EQ(weft_send(fd[0], "x", 1, 0), 1);
		slow.under_way = false;
		slow.fd = fd[0];
		CHECK_EQ(weft_thread_start(&t, &attr, receive_when_closing, NULL), 0);
		CHECK_EQ(weft_close(fd[0]), 0);
		CHECK_EQ(join(t), 0);
		CHECK_EQ(slow.result, -EBADF);
		slow.fd = -1;
		CHECK_EQ(close(fd[1]), 0);
	}
	return 0;
}

/* close(2) of what is neither a socket nor a pipe may take long. Whoever gets the number meanwhile
 * does not wait for it. */

static int open_when_freed(void *unused)
{
	int fd;

	(void)unused;
	while (!late.freed && !late.over)
		sched_yield();
	fd = weft_open("/dev/null", O_RDONLY, 0);
	late.over = true;
	CHECK(fd >= 0);
	return weft_close(fd);
}

THREAD_TEST_WITHOUT_STAND_INS(a_close_that_takes_long_keeps_nobody_from_the_number, 2)
{
	weft_thread_attr attr = { .on = true, .color = weft_color_new() };
	uint64_t one = 1;
	int fd = eventfd(0, EFD_CLOEXEC);
	weft_thread *t;

	CHECK_EQ(weft_color_pin(weft_color_current(), 0), 0);
	CHECK_EQ(weft_color_pin(attr.color, 1), 0);
	CHECK_EQ(weft_yield(), 0);
	CHECK_EQ(weft_write(fd, &one, sizeof one), sizeof one);
	CHECK_EQ(weft_thread_start(&t, &attr, open_when_freed, NULL), 0);
	late.fd = fd;
	CHECK_EQ(weft_close(fd), 0);
	late.over = true; /* the ring has closed it */
	CHECK_EQ(join(t), 0);
	return 0;
}

TEST_MAIN
