/* listen.c - listening sockets, and how many connections there may be. */
#include "listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/socket.h"
#include "settings.h"

enum { USUAL_PORT = 8080, PORTS_TRIED = 100, DESCRIPTORS_KEPT = 400 };

/* Clients speak first; one that is silent this long is accepted all the same. */
enum { SILENCE_SECONDS = 1 };

/* By so many connections one kind must be ahead. */
enum { AHEAD = 32 };

static int listen_on(const char *address)
{
	int fd = socket_listen(address);

	if (fd < 0)
		fprintf(stderr, "weft-httpd: cannot listen on %s: %s\n", address, strerror(-fd));
	return fd;
}

static int listen_on_some_port(void)
{
	int port = USUAL_PORT, fd;
	char address[32];

	do {
		snprintf(address, sizeof address, "127.0.0.1:%d", port);
		fd = socket_listen(address);
	} while (fd == -EADDRINUSE && ++port <= USUAL_PORT + PORTS_TRIED);
	if (fd >= 0 && port != USUAL_PORT)
		fprintf(stderr, "weft-httpd: port %d is taken, using %d\n", USUAL_PORT, port);
	return fd >= 0 ? fd : listen_on(settings.listen);
}

static int with_limits(int fd)
{
	if (fd >= 0)
		socket_limit_silence(fd, settings.send_time);
	return fd;
}

int listen_plain(void)
{
	return with_limits(settings.port_given ? listen_on(settings.listen)
					       : listen_on_some_port());
}

int listen_tls(void)
{
	return with_limits(listen_on(settings.listen_tls));
}

static void accept_late(int fd, bool late)
{
	int silence = late ? SILENCE_SECONDS : 0;

	setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silence, sizeof silence);
}

/* Workers may overwrite each other's notes: it is the many that count. */
void listen_learn(struct listen_habit *h, int fd, bool one_request)
{
	int ahead = atomic_load_explicit(&h->ahead, memory_order_relaxed) + (one_request ? 1 : -1);
	bool late;

	if (ahead < -AHEAD || ahead > AHEAD)
		return;
	atomic_store_explicit(&h->ahead, ahead, memory_order_relaxed);
	late = ahead > 0;
	if ((ahead == AHEAD || ahead == -AHEAD) && atomic_exchange(&h->late, late) != late)
		accept_late(fd, late);
}

int listen_room(uint64_t *numbers, uint64_t *most)
{
	int rc = socket_room(DESCRIPTORS_KEPT, numbers, most);

	if (rc == 0 && settings.max_connections != 0)
		*most = settings.max_connections;
	return rc;
}
