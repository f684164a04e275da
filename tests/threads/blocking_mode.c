/* blocking_mode.c - O_NONBLOCK belongs to open file descriptions, which other programs share.
 * Descriptors that Weft opens can be given to any program, and Weft never blocks a worker, whatever
 * the setting and whoever changes it. There is one worker: if it blocked, the test would hang. */
/* backends: both */
#include "threads/blocking.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include "base/fault.h"
#include "threads/common.h"

static bool is_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	CHECK(flags >= 0);
	return !(flags & O_NONBLOCK);
}

static void set_blocking(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	CHECK_EQ(fcntl(fd, F_SETFL, on ? flags & ~O_NONBLOCK : flags | O_NONBLOCK), 0);
}

static bool on_epoll(void)
{
	weft_stats_all all;

	CHECK(weft_stats(&all, NULL, 0) >= 0);
	return strcmp(all.io, "epoll") == 0;
}

/* What Weft opens */

static int accept_later(void *ls)
{
	return weft_accept((int)(intptr_t)ls, NULL);
}

THREAD_TEST(what_weft_opens_is_blocking, 1)
{
	int ls = listener(), cl = knock(ls), late, fd[2];
	char address[32];
	weft_thread *t;

	CHECK(is_blocking(ls));
	CHECK_EQ(weft_pipe(fd), 0);
	CHECK(is_blocking(fd[0]) && is_blocking(fd[1]));
	CHECK_EQ(weft_close(fd[0]) + weft_close(fd[1]), 0);
	fd[0] = weft_accept(ls, NULL);
	CHECK(is_blocking(fd[0]));
	t = start(accept_later, (void *)(intptr_t)ls);
	CHECK_EQ(weft_yield(), 0);
	late = knock(ls);
	fd[1] = join(t);
	CHECK(is_blocking(fd[1]));
	CHECK_EQ(weft_close(fd[0]) + weft_close(fd[1]) + close(cl) + close(late), 0);
	snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(address_of(ls).sin_port));
	fd[0] = weft_dial(address);
	CHECK(is_blocking(fd[0]));
	fd[1] = weft_open("/dev/null", O_RDWR, 0);
	CHECK(is_blocking(fd[1]));
	CHECK_EQ(weft_close(fd[0]) + weft_close(fd[1]) + weft_close(ls), 0);
	return 0;
}

/* Children */

static char state_of(pid_t pid)
{
	char path[32], state = 'Z';
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f == NULL)
		return state;
	if (fscanf(f, "%*d %*s %c", &state) != 1)
		state = 'Z';
	fclose(f);
	return state;
}

/* A child copies what it reads from one descriptor of ours to another. Each time there is nothing
 * to read yet when it looks, so it has to wait. */
static void check_cat(int to, int from, int in, int out)
{
	char *argv[] = { "cat", NULL }, buf[4];
	int fds[3] = { in, out, -1 }, status;
	pid_t pid;

	CHECK_EQ(weft_child_run_until("cat", argv, NULL, fds, &pid, &status, weft_now() + WEFT_MS),
		 -ETIMEDOUT);
	for (int i = 0; i < 3; i++) {
		char state;

		YIELD_UNTIL((state = state_of(pid)) == 'S' || state == 'Z');
		CHECK_EQ(state, 'S');
		CHECK_EQ(weft_write(to, "abcd", 4), 4);
		CHECK_EQ(weft_read_exactly(from, buf, 4), 4);
	}
	CHECK_EQ(weft_close(to), 0);
	CHECK_EQ(weft_child_join(pid, &status), 0);
	CHECK_EQ(status, 0);
}

THREAD_TEST(a_child_reads_and_writes_pipes_of_ours, 1)
{
	int to[2], from[2];

	CHECK_EQ(weft_pipe(to) + weft_pipe(from), 0);
	check_cat(to[1], from[0], to[0], from[1]);
	CHECK_EQ(weft_close(to[0]) + weft_close(from[0]) + weft_close(from[1]), 0);
	return 0;
}

THREAD_TEST(a_child_serves_a_connection_that_we_accepted, 1)
{
	int ls = listener(), cl = knock(ls), fd = weft_accept(ls, NULL);

	check_cat(cl, cl, fd, fd);
	CHECK_EQ(weft_close(fd) + weft_close(ls), 0);
	return 0;
}

THREAD_TEST(a_child_uses_a_connection_that_we_made, 1)
{
	int ls = listener(), fd, peer;
	char address[32];

	snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(address_of(ls).sin_port));
	fd = weft_dial(address);
	peer = weft_accept(ls, NULL);
	check_cat(peer, peer, fd, fd);
	CHECK_EQ(weft_close(fd) + weft_close(ls), 0);
	return 0;
}

/* Either setting, and changes midway */

enum mode { BLOCKING, NON_BLOCKING, CLEARED, SET, MODES };

static const char *const modes[] = { "blocking", "non-blocking", "made blocking before each call",
				     "made non-blocking before each call" };

/* CLEARED and SET: another process changes it just before each system call. */
static _Atomic int changing = -1;
static _Atomic bool to_blocking;

static void change(const char *site)
{
	int fd = changing;

	(void)site;
	if (fd >= 0)
		set_blocking(fd, to_blocking);
}

enum kind { STREAM, DATAGRAMS, PACKETS, TCP, UDP, PIPE, WEFT_PIPE, EVENTS, TERMINAL, KINDS };

static const char *const kinds[] = { "stream", "datagrams",    "packets", "TCP",     "UDP",
				     "pipe",   "pipe of weft", "eventfd", "terminal" };

static void make_udp(int fd[2])
{
	for (int i = 0; i < 2; i++) {
		struct sockaddr_in any = { .sin_family = AF_INET,
					   .sin_addr = { htonl(INADDR_LOOPBACK) } };

		fd[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		CHECK_EQ(bind(fd[i], (struct sockaddr *)&any, sizeof any), 0);
	}
	for (int i = 0; i < 2; i++) {
		struct sockaddr_in to = address_of(fd[!i]);

		CHECK_EQ(connect(fd[i], (struct sockaddr *)&to, sizeof to), 0);
	}
}

static void make_terminal(int fd[2])
{
	fd[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	CHECK(fd[1] >= 0);
	CHECK_EQ(grantpt(fd[1]) + unlockpt(fd[1]), 0);
	fd[0] = open(ptsname(fd[1]), O_RDWR | O_NOCTTY | O_CLOEXEC);
	CHECK(fd[0] >= 0);
}

/* fd[0] is to be read from, fd[1] to be written to. */
static void make(enum kind kind, int fd[2])
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };

	if (kind <= PACKETS) {
		CHECK_EQ(socketpair(AF_UNIX, types[kind] | SOCK_CLOEXEC, 0, fd), 0);
	} else if (kind == TCP) {
		tcp_pair(fd);
	} else if (kind == UDP) {
		make_udp(fd);
	} else if (kind == PIPE) {
		make_pipe(fd);
	} else if (kind == WEFT_PIPE) {
		CHECK_EQ(weft_pipe(fd), 0);
	} else if (kind == EVENTS) {
		fd[0] = eventfd(0, EFD_CLOEXEC);
		fd[1] = fcntl(fd[0], F_DUPFD_CLOEXEC, 0);
	} else {
		make_terminal(fd);
	}
}

enum call { READ, READV, RECV, RECVMSG, POLL, WRITE, WRITEV, SEND, SENDMSG, CALLS };

static const char *const calls[] = { "read",  "readv",  "recv", "recvmsg", "poll",
				     "write", "writev", "send", "sendmsg" };

static struct {
	enum kind kind;
	enum call call;
	enum mode mode;
	int fd[2];
	_Atomic bool begun, over;
	ssize_t n;
} x;

static bool writes(enum call call)
{
	return call >= WRITE;
}

static char bytes[1 << 18];

/* As much as can be at once: less than that fits, or one message. */
static size_t amount(void)
{
	if (!writes(x.call))
		return 8;
	return x.kind == DATAGRAMS || x.kind == PACKETS ? 8 : sizeof bytes;
}

static ssize_t make_call(void)
{
	struct iovec iov = { bytes, amount() };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct pollfd p = { .fd = x.fd[0], .events = POLLIN };

	switch (x.call) {
	case READ:
		return weft_read(x.fd[0], bytes, amount());
	case READV:
		return weft_readv(x.fd[0], &iov, 1);
	case RECV:
		return weft_recv(x.fd[0], bytes, amount(), 0);
	case RECVMSG:
		return weft_recvmsg(x.fd[0], &msg, 0);
	case POLL:
		return weft_poll(&p, 1);
	case WRITE:
		return weft_write(x.fd[1], bytes, amount());
	case WRITEV:
		return weft_writev(x.fd[1], &iov, 1);
	case SEND:
		return weft_send(x.fd[1], bytes, amount(), 0);
	default:
		return weft_sendmsg(x.fd[1], &msg, 0);
	}
}

static int caller(void *unused)
{
	(void)unused;
	x.begun = true;
	x.n = make_call();
	x.over = true;
	return 0;
}

static void drain(void)
{
	static char some[65536];
	struct pollfd p = { .fd = x.fd[0], .events = POLLIN };

	while (poll(&p, 1, 0) == 1)
		CHECK(read(x.fd[0], some, sizeof some) > 0);
}

/* The call waits, until there is what it waits for. */
static void run_line(void)
{
	int fd;
	weft_thread *t;

	make(x.kind, x.fd);
	fd = x.fd[writes(x.call)];
	x.begun = x.over = false;
	if (writes(x.call))
		fill(fd);
	set_blocking(fd, x.mode == BLOCKING || x.mode == SET);
	to_blocking = x.mode == CLEARED;
	changing = x.mode == CLEARED || x.mode == SET ? fd : -1;
	t = start(caller, NULL);
	YIELD_UNTIL(x.begun);
	CHECK(!x.over);
	if (writes(x.call))
		while (!x.over) {
			drain();
			CHECK_EQ(weft_yield(), 0);
		}
	else
		CHECK_EQ(write(x.fd[1], "\1\0\0\0\0\0\0\n", 8), 8);
	CHECK_EQ(join(t), 0);
	changing = -1;
	if (x.n <= 0)
		test_fail(__FILE__, __LINE__, "%s, %s, %s: %zd", kinds[x.kind], calls[x.call],
			  modes[x.mode], x.n);
	if (x.mode <= NON_BLOCKING && is_blocking(fd) != (x.mode == BLOCKING))
		test_fail(__FILE__, __LINE__, "%s, %s, %s: it was changed", kinds[x.kind],
			  calls[x.call], modes[x.mode]);
	CHECK_EQ(weft_close(x.fd[0]) + weft_close(x.fd[1]), 0);
}

static bool fits(enum kind kind, enum call call)
{
	bool socket_call = call == RECV || call == RECVMSG || call == SEND || call == SENDMSG;

	if (socket_call && kind >= PIPE)
		return false;
	/* Datagrams are never refused for want of room on loopback; the rest is for reading. */
	return !writes(call) || (kind != UDP && kind != EVENTS && kind != TERMINAL);
}

static int run_kind(enum kind kind)
{
	int lines = 0;

	wf_fault_on_visit(change);
	for (int call = 0; call < CALLS; call++)
		for (int mode = 0; mode < MODES && fits(kind, (enum call)call); mode++) {
			x.kind = kind;
			x.call = (enum call)call;
			x.mode = (enum mode)mode;
			run_line();
			lines++;
		}
	return lines;
}

THREAD_TEST_WITHOUT_STAND_INS(sockets_block_no_worker_with_either_setting, 1)
{
	int lines = 0;

	for (int kind = STREAM; kind <= UDP; kind++)
		lines += run_kind((enum kind)kind);
	CHECK_EQ(lines, 4 * MODES * CALLS + MODES * POLL + MODES);
	return 0;
}

THREAD_TEST_WITHOUT_STAND_INS(pipes_block_no_worker_with_either_setting, 1)
{
	CHECK_EQ(run_kind(PIPE), 5 * MODES);
	CHECK_EQ(run_kind(WEFT_PIPE), 5 * MODES);
	return 0;
}

THREAD_TEST_WITHOUT_STAND_INS(other_descriptors_block_no_worker_with_either_setting, 1)
{
	CHECK_EQ(run_kind(EVENTS), 3 * MODES);
	CHECK_EQ(run_kind(TERMINAL), 3 * MODES);
	return 0;
}

/* A listening socket cannot be asked not to wait, except on io_uring. */
THREAD_TEST_WITHOUT_STAND_INS(accepting_blocks_no_worker_with_either_setting, 1)
{
	for (int blocking = 0; blocking < 2; blocking++) {
		int ls = listener(), cl, fd;
		weft_thread *t;

		set_blocking(ls, blocking);
		t = start(accept_later, (void *)(intptr_t)ls);
		CHECK_EQ(weft_yield(), 0);
		cl = knock(ls);
		fd = join(t);
		CHECK(fd >= 0);
		CHECK_EQ(is_blocking(ls), blocking && !on_epoll());
		CHECK_EQ(close(cl) + weft_close(fd) + weft_close(ls), 0);
	}
	return 0;
}

/* A socket is as it was when it has been connected, or not. */
THREAD_TEST_WITHOUT_STAND_INS(connecting_leaves_the_setting_as_it_was, 1)
{
	for (int blocking = 0; blocking < 2; blocking++) {
		int ls = listener(), fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct sockaddr_in addr = address_of(ls);

		set_blocking(fd, blocking);
		CHECK_EQ(weft_connect(fd, (struct sockaddr *)&addr, sizeof addr), 0);
		CHECK_EQ(is_blocking(fd), blocking);
		CHECK_EQ(weft_close(fd) + weft_close(ls), 0);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		set_blocking(fd, blocking);
		CHECK_EQ(weft_connect(fd, (struct sockaddr *)&addr, sizeof addr), -ECONNREFUSED);
		CHECK_EQ(is_blocking(fd), blocking);
		CHECK_EQ(weft_close(fd), 0);
	}
	return 0;
}

/* A file goes to a socket that takes a part of it, and more later. */
static int send_file(void *in)
{
	return (int)weft_sendfile(x.fd[1], (int)(intptr_t)in, 0, sizeof bytes * 4);
}

THREAD_TEST_WITHOUT_STAND_INS(sending_a_file_blocks_no_worker_with_either_setting, 1)
{
	int in = temp_file(0);

	CHECK_EQ(ftruncate(in, sizeof bytes * 4), 0);
	for (int blocking = 0; blocking < 2; blocking++) {
		weft_thread *t;

		tcp_pair(x.fd);
		set_blocking(x.fd[1], blocking);
		t = start(send_file, (void *)(intptr_t)in);
		for (size_t got = 0; got < sizeof bytes * 4;) {
			ssize_t n = recv(x.fd[0], bytes, sizeof bytes, MSG_DONTWAIT);

			CHECK(n > 0 || errno == EAGAIN);
			got += n > 0 ? (size_t)n : 0;
			CHECK_EQ(weft_yield(), 0);
		}
		CHECK_EQ(join(t), sizeof bytes * 4);
		CHECK_EQ(is_blocking(x.fd[1]), blocking);
		CHECK_EQ(close(x.fd[0]) + weft_close(x.fd[1]), 0);
	}
	CHECK_EQ(weft_close(in), 0);
	return 0;
}

TEST_MAIN
