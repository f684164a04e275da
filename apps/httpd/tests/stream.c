/* stream.c - sending, from a disk that takes its time. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/weft.h>

#include "harness/test.h"

/* The disk takes so long to find a part of a file, and starts anew after a call that ended before. */
#define DISK_TIME WEFT_SEC
enum { PART = 128 << 10 };

static uint64_t clock_now;
static int64_t found = -1;

static uint64_t look_at_clock(void)
{
	return clock_now;
}

static ssize_t send_slowly(int fd, int in, int64_t offset, size_t size, uint64_t deadline)
{
	size_t left = PART - (size_t)offset % PART;

	(void)fd;
	(void)in;
	if (offset / PART != found) {
		if (deadline < clock_now + DISK_TIME) {
			clock_now = deadline;
			return -ETIMEDOUT;
		}
		clock_now += DISK_TIME;
		found = offset / PART;
	}
	return (ssize_t)(size < left ? size : left);
}

static unsigned waits;

static int wait_for_client(struct pollfd *p, nfds_t count, uint64_t deadline)
{
	(void)deadline;
	waits++;
	return poll(p, count, 0);
}

#define weft_now look_at_clock
#define weft_sendfile_until send_slowly
#define weft_poll_until wait_for_client
#include "../stream.c"

struct settings settings = { .send_time = 30000 };

/* Nothing is encrypted here. */

ssize_t tls_recv(struct tls *tls, void *buf, size_t size, uint64_t deadline)
{
	(void)tls;
	(void)buf;
	(void)size;
	(void)deadline;
	return -ENOTSUP;
}

ssize_t tls_send(struct tls *tls, const void *buf, size_t size, uint64_t deadline)
{
	(void)tls;
	(void)buf;
	(void)size;
	(void)deadline;
	return -ENOTSUP;
}

int tls_has_more(const struct tls *tls)
{
	(void)tls;
	return 0;
}

void tls_end(struct tls *tls)
{
	(void)tls;
}

/* A connection whose other end is the second. */
static struct stream open_stream(int fds[2])
{
	struct stream s = { .last = true };

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	s.fd = fds[0];
	return s;
}

TEST(a_slow_disk_is_not_taken_for_a_slow_client)
{
	int fds[2];
	struct stream s = open_stream(fds);

	CHECK_EQ(stream_write_file(&s, -1, 0, 3 * SLICE), 0);
	CHECK_EQ(s.sent, 3 * SLICE);
	CHECK_EQ(waits, 0);
	close(fds[0]);
	close(fds[1]);
}

TEST(a_client_that_has_no_room_is_waited_for)
{
	static const char much[1 << 16];
	int fds[2];
	struct stream s = open_stream(fds);

	while (send(fds[0], much, sizeof much, 0) > 0)
		;
	waits = 0;
	CHECK(stream_write_file(&s, -1, 0, SLICE) < 0); /* it has no place */
	CHECK_EQ(s.sent, 0);
	CHECK_EQ(waits, 1);
	close(fds[0]);
	close(fds[1]);
}

TEST_MAIN
