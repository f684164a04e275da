/* sealed_load.c - clients of apps/sealed-files that cost as little as can be.
 *
 * The clients share the CPUs with the server that they load, so whatever they use the server
 * lacks. They keep several requests under way, and throw replies away without copying them
 * (MSG_TRUNC), still sealed: all but one of 256, which is opened and compared with the file.
 */
#include "sealed_files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bytes.h"
#include "client.h"
#include "remote.h"

enum { CLIENTS_MAX = 64, UNDER_WAY = 16, BATCH = UNDER_WAY / 2, LOOK_AT = 256 };
enum { REPLY_SIZE = SEAL_HEAD + REPLY_HEAD + MESSAGE_PIECE + SEAL_TAG };

struct client {
	struct remote remote;
	uint32_t handle;
	uint64_t next;  /* where the next request reads */
	uint64_t first; /* the number of the seal that the first reply has */
	uint64_t done;  /* replies that came */
	size_t have;    /* bytes of the next one */
	uint8_t looked_at[REPLY_SIZE];
};

static struct {
	struct client *clients;
	int epoll, count;
} now;

static int fail(const char *what, int rc)
{
	return bench_fail("%s: %s", what, strerror(-rc));
}

static int enter(struct client *c, int port, const uint8_t *key)
{
	struct request ask = { .type = REQUEST_OPEN, .path = SEALED_FILE };
	int lowest = BATCH * REPLY_SIZE, rc;
	char address[32];
	struct reply reply;

	snprintf(address, sizeof address, "127.0.0.1:%d", port);
	rc = remote_open(&c->remote, address, SEALED_CLIENT, key);
	if (rc == 0)
		rc = remote_ask(&c->remote, &ask, &reply);
	if (rc < 0)
		return fail("a client was not let in", rc);
	c->handle = reply.handle;
	c->first = c->remote.channel.in.number;
	/* It need not be woken for less than it will answer. */
	setsockopt(c->remote.channel.fd, SOL_SOCKET, SO_RCVLOWAT, &lowest, sizeof lowest);
	return 0;
}

/* Sends several requests at once. */
static int ask(struct client *c, int count)
{
	enum { SIZE = SEAL_HEAD + REQUEST_HEAD + SEAL_TAG };
	uint8_t messages[UNDER_WAY * SIZE];

	for (int i = 0; i < count; i++) {
		struct request ask = { .type = REQUEST_READ,
				       .handle = c->handle,
				       .offset = c->next,
				       .size = MESSAGE_PIECE };

		request_write(&ask, messages + i * SIZE + SEAL_HEAD);
		seal_close(&c->remote.channel.out, messages + i * SIZE, REQUEST_HEAD);
		c->next = (c->next + MESSAGE_PIECE) % SEALED_FILE_SIZE;
	}
	if (send(c->remote.channel.fd, messages, (size_t)count * SIZE, MSG_NOSIGNAL) !=
	    (ssize_t)count * SIZE)
		return fail("send", -errno);
	return 0;
}

static bool is_looked_at(const struct client *c)
{
	return c->done % LOOK_AT == 0;
}

static int look_at(struct client *c)
{
	uint64_t offset = c->done * MESSAGE_PIECE % SEALED_FILE_SIZE;
	const uint8_t *data = c->looked_at + SEAL_HEAD + REPLY_HEAD;

	c->remote.channel.in.number = c->first + c->done;
	if (seal_open(&c->remote.channel.in, c->looked_at, REPLY_SIZE) !=
		    REPLY_HEAD + MESSAGE_PIECE ||
	    get_32(c->looked_at + SEAL_HEAD) != 0)
		return bench_fail("a reply does not open");
	for (uint64_t i = 0; i < MESSAGE_PIECE; i += 997)
		if (data[i] != sealed_byte(offset + i))
			return bench_fail("a reply has other data than the file");
	return 0;
}

/* Takes what has come of one reply, or of several that are not looked at. 1: there may be
 * more. */
static int take(struct client *c)
{
	bool look = is_looked_at(c);
	size_t left = LOOK_AT - c->done % LOOK_AT;
	size_t want = (look ? REPLY_SIZE : left * REPLY_SIZE) - c->have;
	ssize_t n = recv(c->remote.channel.fd, look ? c->looked_at + c->have : NULL, want,
			 MSG_DONTWAIT | (look ? 0 : MSG_TRUNC));
	int rc = 0;

	if (n <= 0)
		return n < 0 && errno == EAGAIN ? 0 : fail("a server went away", -errno);
	c->have += (size_t)n;
	if (look && c->have == REPLY_SIZE)
		rc = look_at(c);
	c->done += c->have / REPLY_SIZE;
	c->have %= REPLY_SIZE;
	return rc < 0 ? rc : (size_t)n == want;
}

/* Answers each batch of replies with as many requests. */
static int serve(struct client *c)
{
	uint64_t before = c->done / BATCH;
	int rc;

	while ((rc = take(c)) > 0)
		;
	for (uint64_t i = before; i < c->done / BATCH && rc == 0; i++)
		rc = ask(c, BATCH);
	return rc;
}

static int run_for(double seconds)
{
	uint64_t end = bench_now() + (uint64_t)(seconds * 1e9);
	struct epoll_event ev[CLIENTS_MAX];
	int rc = 0;

	while (rc == 0 && bench_now() < end) {
		int n = epoll_wait(now.epoll, ev, CLIENTS_MAX, 100);

		for (int i = 0; i < n && rc == 0; i++)
			rc = serve(ev[i].data.ptr);
	}
	return rc;
}

static uint64_t all_done(void)
{
	uint64_t n = 0;

	for (int i = 0; i < now.count; i++)
		n += now.clients[i].done;
	return n;
}

static int enter_all(const struct sealed_load *loads, int servers, const uint8_t *key)
{
	for (int s = 0; s < servers; s++)
		for (int i = 0; i < loads[s].clients; i++) {
			struct client *c = &now.clients[now.count++];
			struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
			int rc = enter(c, loads[s].port, key);

			if (rc == 0 &&
			    epoll_ctl(now.epoll, EPOLL_CTL_ADD, c->remote.channel.fd, &ev) < 0)
				rc = -errno;
			if (rc == 0)
				rc = ask(c, UNDER_WAY);
			if (rc < 0)
				return rc;
		}
	return 0;
}

static double cpu_of(const int *pids, int servers)
{
	double sum = 0;

	for (int s = 0; s < servers; s++)
		sum += bench_cpu_ns(pids[s]);
	return sum;
}

int sealed_load_run(const struct sealed_load *loads, const int *pids, int servers,
		    const uint8_t *key, struct sealed_result *result)
{
	double cpu, own;
	uint64_t done;
	int rc;

	now.clients = calloc(CLIENTS_MAX, sizeof *now.clients);
	now.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (now.clients == NULL || now.epoll < 0)
		return -ENOMEM;
	rc = enter_all(loads, servers, key);
	if (rc == 0)
		rc = run_for(0.3);
	if (rc < 0)
		return rc;
	cpu = cpu_of(pids, servers);
	own = bench_cpu_ns(getpid());
	done = all_done();
	rc = run_for(loads[0].seconds);
	result->bytes = (double)(all_done() - done) * MESSAGE_PIECE;
	result->server_cpu = cpu_of(pids, servers) - cpu;
	result->client_cpu = bench_cpu_ns(getpid()) - own;
	return rc;
}
