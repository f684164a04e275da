/* close_soak.c - many threads use descriptors that other threads close, and whose numbers are used
 * again. Every call must end, and none may touch memory that is not its own: the sanitizers check
 * that.
 *
 * A user may begin a call with a number that was closed a moment ago, and that another thread gets for
 * a new descriptor just then. These two have a race in any program, whatever the library does. So that
 * ThreadSanitizer does not report it, it does not see how descriptors are made. */
/* backends: both */
#include "threads/blocking.h"

#include <poll.h>
#include <sys/syscall.h>

#include "threads/common.h"

int socket(int domain, int type, int protocol)
{
	return (int)syscall(SYS_socket, domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int fd[2])
{
	return (int)syscall(SYS_socketpair, domain, type, protocol, fd);
}

int pipe2(int fd[2], int flags)
{
	return (int)syscall(SYS_pipe2, fd, flags);
}

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	return (int)syscall(SYS_accept4, fd, addr, len, flags);
}

enum { SLOTS = 6, USERS = 8, CLOSERS = 2, WORKERS = 4 };

/* Where a descriptor is, and its other end; -1 while it is replaced. */
static _Atomic int slots[SLOTS][2];
static _Atomic int users_left;

static void open_slot(int at)
{
	int fd[2] = { -1, -1 };

	switch (at % 4) {
	case 0:
		socket_pair(fd);
		break;
	case 1:
		fd[0] = temp_file(64);
		break;
	case 2:
		fd[0] = listener();
		fd[1] = knock(fd[0]);
		break;
	default:
		CHECK_EQ(weft_pipe(fd), 0);
		break;
	}
	slots[at][1] = fd[1];
	slots[at][0] = fd[0];
}

static void close_slot(int at)
{
	for (int end = 0; end < 2; end++) {
		int fd = atomic_exchange(&slots[at][end], -1);

		if (fd >= 0)
			CHECK_EQ(weft_close(fd), 0);
	}
}

static void use(int fd, int other, uint64_t *seed)
{
	uint64_t soon = weft_now() + test_random(seed) % (200 * WEFT_US);
	char buf[16] = { 0 };
	struct iovec iov = { buf, sizeof buf };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int got = -1;

	switch (test_random(seed) % 9) {
	case 0:
		(void)weft_read_until(fd, buf, sizeof buf, soon);
		break;
	case 1:
		(void)weft_pread_until(fd, buf, sizeof buf, 0, soon);
		break;
	case 2:
		(void)weft_preadv_until(fd, &iov, 1, 8, soon);
		break;
	case 3:
		(void)weft_pwrite_until(fd, buf, sizeof buf, 0, soon);
		break;
	case 4:
		(void)weft_recv_until(fd, buf, sizeof buf, 0, soon);
		break;
	case 5:
		got = weft_accept_until(fd, NULL, soon);
		break;
	case 6:
		(void)weft_poll_until(&p, 1, soon);
		break;
	case 7:
		(void)weft_read_exactly_until(fd, buf, sizeof buf, NULL, soon);
		break;
	default:
		(void)weft_write_until(other, buf, 1, soon);
		break;
	}
	if (got >= 0)
		CHECK_EQ(weft_close(got), 0);
}

static int user(void *number)
{
	uint64_t seed = test_seed() + (uintptr_t)number;
	int rounds = TEST_SIZE(2000);

	for (int i = 0; i < rounds; i++) {
		int at = (int)(test_random(&seed) % SLOTS);
		int fd = slots[at][0];

		if (fd >= 0)
			use(fd, slots[at][1], &seed);
		if (i % 16 == 0)
			CHECK_EQ(weft_yield(), 0);
	}
	users_left--;
	return 0;
}

/* Each has slots of its own to replace. */
static int closer(void *number)
{
	uint64_t seed = test_seed() + 100 + (uintptr_t)number;

	while (users_left > 0) {
		int at = (int)(test_random(&seed) % (SLOTS / CLOSERS)) * CLOSERS +
			 (int)(uintptr_t)number;

		close_slot(at);
		open_slot(at);
		CHECK_EQ(weft_yield(), 0);
	}
	return 0;
}

THREAD_TEST_WITHOUT_STAND_INS(descriptors_are_closed_while_all_kinds_of_calls_use_them, WORKERS)
{
	weft_thread *t[USERS + CLOSERS];

	many_colors = true;
	users_left = USERS;
	for (int i = 0; i < SLOTS; i++)
		open_slot(i);
	for (int i = 0; i < USERS + CLOSERS; i++)
		t[i] = i < USERS ? start(user, (void *)(uintptr_t)i)
				 : start(closer, (void *)(uintptr_t)(i - USERS));
	for (int i = 0; i < USERS + CLOSERS; i++)
		CHECK_EQ(join(t[i]), 0);
	for (int i = 0; i < SLOTS; i++)
		close_slot(i);
	return 0;
}

TEST_MAIN
