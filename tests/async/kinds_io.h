/* kinds_io.h - the kinds of waits that are for the world outside (see kinds.h). */
#ifndef TESTS_ASYNC_KINDS_IO_H
#define TESTS_ASYNC_KINDS_IO_H

#include "async/kinds.h"

#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

extern char **environ;

/* Streams */

static inline void pipe_make(struct thing *x)
{
	make_pipe(x->fd);
}

static inline void full_pipe_make(struct thing *x)
{
	make_pipe(x->fd);
	x->filled = fill(x->fd[1]);
}

static inline void sockets_make(struct thing *x)
{
	socket_pair(x->fd);
}

static inline void full_sockets_make(struct thing *x)
{
	socket_pair(x->fd);
	x->filled = fill(x->fd[1]);
}

static inline int bytes_in(const struct thing *x)
{
	int n;

	CHECK_EQ(ioctl(x->fd[0], FIONREAD, &n), 0);
	return n;
}

static inline void stream_intact(struct thing *x)
{
	CHECK_EQ(bytes_in(x), x->filled);
}

static inline void stream_end(struct thing *x)
{
	CHECK_EQ(weft_close(x->fd[0]), 0);
	CHECK_EQ(weft_close(x->fd[1]), 0);
}

static inline int read_call(struct thing *x)
{
	char byte = 0;
	ssize_t n = weft_read(x->fd[0], &byte, 1);

	CHECK_EQ(byte, n == 1 ? 'x' : 0);
	return (int)n;
}

static inline int readv_call(struct thing *x)
{
	char byte[2];
	struct iovec iov[2] = { { byte, 1 }, { byte + 1, 1 } };

	return (int)weft_readv(x->fd[0], iov, 2);
}

static inline int recv_call(struct thing *x)
{
	char byte[4];

	return (int)weft_recv(x->fd[0], byte, sizeof byte, 0);
}

static inline int recv_all_call(struct thing *x)
{
	char byte;

	return (int)weft_recv(x->fd[0], &byte, 1, MSG_WAITALL);
}

static inline int recvmsg_call(struct thing *x)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	return (int)weft_recvmsg(x->fd[0], &msg, 0);
}

static inline int read_exactly_call(struct thing *x)
{
	char byte;

	return (int)weft_read_exactly(x->fd[0], &byte, 1);
}

static inline void read_let(struct thing *x)
{
	CHECK_EQ(write(x->fd[1], "x", 1), 1);
}

static inline int write_call(struct thing *x)
{
	return (int)weft_write(x->fd[1], "x", 1);
}

static inline int writev_call(struct thing *x)
{
	struct iovec iov = { (void *)(uintptr_t) "x", 1 };

	return (int)weft_writev(x->fd[1], &iov, 1);
}

static inline int send_bytes_call(struct thing *x)
{
	return (int)weft_send(x->fd[1], "x", 1, 0);
}

static inline int sendmsg_call(struct thing *x)
{
	struct iovec iov = { (void *)(uintptr_t) "x", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	return (int)weft_sendmsg(x->fd[1], &msg, 0);
}

static inline int write_all_call(struct thing *x)
{
	return (int)weft_write_all(x->fd[1], "x", 1);
}

static inline void write_let(struct thing *x)
{
	static char buf[65536];
	size_t got = 0;

	while (got < x->filled) {
		size_t want = x->filled - got < sizeof buf ? x->filled - got : sizeof buf;
		ssize_t n = read(x->fd[0], buf, want);

		CHECK(n > 0);
		got += (size_t)n;
	}
}

static inline void poll_make(struct thing *x)
{
	make_pipe(x->fd);
	make_pipe(x->other);
}

static inline int poll_call(struct thing *x)
{
	struct pollfd p[] = { { x->other[0], POLLIN, 0 },
			      { -1, POLLIN, 0 },
			      { x->fd[0], POLLIN, 0 } };
	int rc = weft_poll(p, 3);

	CHECK_EQ(p[2].revents, rc == 1 ? POLLIN : 0);
	return rc;
}

static inline void poll_end(struct thing *x)
{
	stream_end(x);
	CHECK_EQ(weft_close(x->other[0]), 0);
	CHECK_EQ(weft_close(x->other[1]), 0);
}

/* Connections */

static inline void accept_make(struct thing *x)
{
	x->fd[0] = listener();
}

static inline int accept_call(struct thing *x)
{
	int fd = weft_accept(x->fd[0], NULL);

	if (fd < 0)
		return fd;
	CHECK_EQ(weft_close(fd), 0);
	return 0;
}

static inline void accept_let(struct thing *x)
{
	x->filled++;
	x->backlog[0] = knock(x->fd[0]);
}

static inline void accept_intact(struct thing *x)
{
	struct pollfd p = { .fd = x->fd[0], .events = POLLIN };

	CHECK_EQ(poll(&p, 1, 0), 0);
}

static inline void accept_end(struct thing *x)
{
	if (x->filled > 0)
		close(x->backlog[0]);
	CHECK_EQ(weft_close(x->fd[0]), 0);
}

enum { BACKLOG = 8 };

/* So many stand in the queue that the next gets no answer. */
static inline void connect_make(struct thing *x)
{
	weft_listen_options opt = { .backlog = 1 };
	struct sockaddr_in addr;

	x->fd[0] = weft_listen("127.0.0.1:0", &opt);
	CHECK(x->fd[0] >= 0);
	addr = address_of(x->fd[0]);
	for (int i = 0; i < BACKLOG; i++) {
		x->backlog[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		(void)connect(x->backlog[i], (struct sockaddr *)&addr, sizeof addr);
	}
}

static inline int connect_call(struct thing *x)
{
	struct sockaddr_in addr = address_of(x->fd[0]);
	int rc, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	CHECK(fd >= 0);
	rc = weft_connect(fd, (struct sockaddr *)&addr, sizeof addr);
	CHECK_EQ(weft_close(fd), 0);
	return rc;
}

static inline void connect_end(struct thing *x)
{
	for (int i = 0; i < BACKLOG; i++)
		close(x->backlog[i]);
	CHECK_EQ(weft_close(x->fd[0]), 0);
}

/* Names, blocking calls, signals, children */

#ifdef WEFT_HAVE_CARES
static int silent_server = -1;

static inline void servers_begin(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char server[32];

	silent_server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(bind(silent_server, (struct sockaddr *)&addr, sizeof addr), 0);
	snprintf(server, sizeof server, "127.0.0.1:%d", ntohs(address_of(silent_server).sin_port));
	CHECK_EQ(weft_lookup_servers(server, "/dev/null"), 0);
}

static inline int resolve_call(struct thing *x)
{
	struct sockaddr_storage *addrs;
	int rc = weft_resolve("nobody.example", 1, AF_INET, &addrs);

	atomic_store(&x->returned, true);
	return rc;
}

static inline void answer_one(void)
{
	unsigned char question[512];
	struct sockaddr_in from;
	socklen_t len = sizeof from;
	ssize_t n = recvfrom(silent_server, question, sizeof question, MSG_DONTWAIT,
			     (struct sockaddr *)&from, &len);

	if (n < 12)
		return;
	question[2] |= 0x84;
	question[3] = 0x83;
	(void)sendto(silent_server, question, (size_t)n, MSG_DONTWAIT, (struct sockaddr *)&from,
		     len);
}

/* To whatever is asked, by those who were cancelled too, the answer is: no such name. */
static inline void resolve_let(struct thing *x)
{
	atomic_store(&x->returned, false);
	while (!atomic_load(&x->returned)) {
		answer_one();
		CHECK_EQ(weft_yield(), 0);
	}
}

#define KIND_OF_NAME \
	{ \
		"name",       nothing_made, resolve_call, resolve_let, NULL, \
		nothing_made, -ENOENT,      true,         true \
	},
#else
static inline void servers_begin(void) {}
#define KIND_OF_NAME
#endif

static int block_on_pool(void *arg)
{
	while (sem_wait(arg) < 0)
		;
	return 0;
}

static int fill_pool(void *arg)
{
	CHECK_EQ(weft_offload(block_on_pool, &((struct thing *)arg)->blocker), 0);
	return 0;
}

/* The run is one whose pool has one kernel thread. */
static inline void offload_make(struct thing *x)
{
	sem_init(&x->blocker, 0, 0);
	x->helper = start_apart(fill_pool, x);
	yield_until_waits(x->helper);
}

static int count_call_made(void *arg)
{
	return ++((struct thing *)arg)->calls;
}

static inline int offload_call(struct thing *x)
{
	return weft_offload(count_call_made, x);
}

static inline void offload_let(struct thing *x)
{
	sem_post(&x->blocker);
	x->holds = true;
}

static inline void offload_intact(struct thing *x)
{
	CHECK_EQ(x->calls, 0);
}

static inline void offload_end(struct thing *x)
{
	if (!x->holds)
		sem_post(&x->blocker);
	CHECK_EQ(weft_join(x->helper, NULL), 0);
	sem_destroy(&x->blocker);
}

static inline int signal_call(struct thing *x)
{
	sigset_t set;

	(void)x;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return weft_signal_wait(&set);
}

static inline void signal_let(struct thing *x)
{
	(void)x;
	raise(SIGUSR1);
}

static inline void child_make(struct thing *x)
{
	char *argv[] = { (char *)(uintptr_t) "cat", NULL };
	posix_spawn_file_actions_t fds;

	make_pipe(x->fd);
	CHECK_EQ(posix_spawn_file_actions_init(&fds), 0);
	CHECK_EQ(posix_spawn_file_actions_adddup2(&fds, x->fd[0], 0), 0);
	CHECK_EQ(posix_spawnp(&x->child, "cat", &fds, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&fds);
}

static inline int child_call(struct thing *x)
{
	int status, rc = weft_child_join(x->child, &status);

	if (rc == 0)
		CHECK(WIFEXITED(status));
	return rc;
}

static inline void child_let(struct thing *x)
{
	close(x->fd[1]);
	x->fd[1] = -1;
}

static inline void child_intact(struct thing *x)
{
	siginfo_t info = { .si_pid = 0 };

	CHECK_EQ(waitid(P_PID, (id_t)x->child, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	CHECK_EQ(info.si_pid, 0);
}

static inline void child_end(struct thing *x)
{
	close(x->fd[0]);
	if (x->fd[1] >= 0)
		close(x->fd[1]);
	(void)waitpid(x->child, NULL, 0); /* where the test has not joined it */
}

#define KINDS_OF_IO \
	KIND_OF_NAME{ "read",     pipe_make, read_call, read_let, stream_intact, \
		      stream_end, 1,         true,      false }, \
		{ "readv",    pipe_make, readv_call, read_let, stream_intact, \
		  stream_end, 1,         true,       false }, \
		{ "recv", sockets_make, recv_call, read_let, stream_intact, stream_end, \
		  1,      true,         false }, \
		{ "recv all", sockets_make, recv_all_call, read_let, stream_intact, stream_end, \
		  1,          true,         false }, \
		{ "recvmsg", sockets_make, recvmsg_call, read_let, stream_intact, stream_end, \
		  1,         true,         false }, \
		{ "read exactly", \
		  pipe_make, \
		  read_exactly_call, \
		  read_let, \
		  stream_intact, \
		  stream_end, \
		  1, \
		  true, \
		  false }, \
		{ "write", full_pipe_make, write_call, write_let, stream_intact, stream_end, \
		  1,       true,           false }, \
		{ "writev", full_pipe_make, writev_call, write_let, stream_intact, stream_end, \
		  1,        true,           false }, \
		{ "send", \
		  full_sockets_make, \
		  send_bytes_call, \
		  write_let, \
		  stream_intact, \
		  stream_end, \
		  1, \
		  true, \
		  false }, \
		{ "sendmsg", \
		  full_sockets_make, \
		  sendmsg_call, \
		  write_let, \
		  stream_intact, \
		  stream_end, \
		  1, \
		  true, \
		  false }, \
		{ "write all", full_pipe_make, write_all_call, write_let, stream_intact, stream_end, \
		  1,           true,           false }, \
		{ "poll", poll_make, poll_call, read_let, NULL, poll_end, 1, true, false }, \
		{ "accept",   accept_make, accept_call, accept_let, accept_intact, \
		  accept_end, 0,           true,        false }, \
		{ "connect", connect_make, connect_call, NULL, NULL, connect_end, 0, true, false }, \
		{ "offload", offload_make, offload_call, offload_let, offload_intact, offload_end, \
		  1,         true,         true }, \
		{ "signal",     nothing_made, signal_call, signal_let, NULL, \
		  nothing_made, SIGUSR1,      true,        true }, \
	{ \
		"child", child_make, child_call, child_let, child_intact, child_end, 0, true, true \
	}

#endif
