/* server.c - a desk for each worker, all in one finish block. To stop is to cancel it. */
#include "server.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "common/places.h"
#include "common/socket.h"
#include "desk.h"
#include "settings.h"

/* What a client sends is never read, and need not be kept. Some descriptors are the runtime's. */
enum { RECEIVE_BUFFER = 8192, DESCRIPTORS_KEPT = 64 };

static struct {
	int listener;
	uint64_t most; /* clients */
	_Atomic uint64_t clients;
	_Atomic int error; /* 0, or why it could not go on */
	weft_scope *scope; /* while it serves */
	struct desk *desks;
	int count;
} server;

bool server_admit(void)
{
	if (atomic_fetch_add(&server.clients, 1) < server.most)
		return true;
	atomic_fetch_sub(&server.clients, 1);
	return false;
}

void server_release(void)
{
	atomic_fetch_sub(&server.clients, 1);
}

/* Clients have the options of the socket that they came by. What has not gone is limited, so
 * that quotes are fresh: who does not read gets none that are an hour old. (A small send buffer
 * would do the same, and make the kernel slower for all.) */
static void limit_buffers(int fd)
{
	int in = RECEIVE_BUFFER, unsent = (int)settings.max_unsent;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &in, sizeof in);
	socket_limit_silence(fd, settings.patience);
	if (unsent > 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

static int open_listener(const char *address)
{
	char *end;
	long fd;

	if (strncmp(address, "fd:", 3) != 0)
		return socket_listen(address);
	errno = 0;
	fd = strtol(address + 3, &end, 10);
	if (end == address + 3 || *end != '\0' || errno != 0 || fd < 0 || fd > INT32_MAX)
		return -EINVAL;
	return socket_port((int)fd) < 0 ? -ENOTSOCK : socket_without_delay((int)fd);
}

int server_listen(void)
{
	uint64_t numbers;
	int rc = socket_room(DESCRIPTORS_KEPT, &numbers, &server.most);

	if (rc < 0)
		return rc;
	if (settings.max_clients != 0)
		server.most = settings.max_clients;
	places_init(0, settings.max_per_address);
	server.listener = open_listener(settings.listen);
	if (server.listener < 0)
		return server.listener;
	limit_buffers(server.listener);
	return 0;
}

int server_address(char *out, size_t size)
{
	return socket_name(server.listener, out, size);
}

static int make_desks(void)
{
	int rc = weft_fd_adopt(server.listener);

	server.count = weft_workers();
	server.desks =
		aligned_alloc(_Alignof(struct desk), (size_t)server.count * sizeof(struct desk));
	if (rc < 0 || server.desks == NULL)
		return rc < 0 ? rc : -ENOMEM;
	memset(server.desks, 0, (size_t)server.count * sizeof(struct desk));
	for (int i = 0; i < server.count; i++) {
		weft_color color = weft_color_new();

		weft_color_pin(color, i);
		desk_init(&server.desks[i], color, server.listener);
	}
	return 0;
}

int server_run(void)
{
	int rc = make_desks();

	if (rc < 0)
		return rc;
	weft_finish (all) {
		server.scope = &all;
		for (int i = 0; i < server.count; i++) {
			weft_async_own (i) {
				desk_run(&server.desks[i]);
			};
		}
	}
	server.scope = NULL;
	weft_close(server.listener);
	return atomic_load(&server.error);
}

void server_stop(void *unused)
{
	(void)unused;
	if (server.scope == NULL || weft_scope_cancel(server.scope) < 0)
		weft_stop();
}

void server_fail(int error)
{
	/* Each desk fails, and a second call of server_stop would end the run in the middle. */
	if (atomic_exchange(&server.error, error) != 0)
		return;
	if (weft_post(WEFT_MAIN, server_stop, NULL) < 0)
		weft_stop();
}

static void add(struct counters *sum, const struct counters *c)
{
	sum->accepted += c->accepted;
	sum->refused += c->refused;
	sum->left += c->left;
	sum->dropped += c->dropped;
	sum->quotes += c->quotes;
	sum->skipped += c->skipped;
}

void server_report(const char *title)
{
	struct counters sum = { 0 };

	for (int i = 0; i < server.count; i++)
		add(&sum, &server.desks[i].counters);
	printf("weft-quotes: %s%" PRIu64 " clients, %" PRIu64 " quotes, %" PRIu64
	       " skipped; %" PRIu64 " accepted, %" PRIu64 " refused, %" PRIu64 " left, %" PRIu64
	       " dropped\n",
	       title, server.clients, sum.quotes, sum.skipped, sum.accepted, sum.refused, sum.left,
	       sum.dropped);
	fflush(stdout);
}
