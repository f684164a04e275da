/* listen.c - listening sockets, and how many connections there may be. */
#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <weft/io.h>

#include "settings.h"

enum { USUAL_PORT = 8080, PORTS_TRIED = 100, DESCRIPTORS_KEPT = 400 };
enum { DESCRIPTORS_MOST = 1 << 20 };

int listen_port(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof address;

	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return -errno;
	return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
						   : ((struct sockaddr_in *)&address)->sin_port);
}

int listen_name(int fd, char *out, size_t size)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof address;
	char host[64], port[8];

	if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		return -errno;
	if (getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return -EINVAL;
	snprintf(out, size, address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
	return 0;
}

/* Connections have the options of the socket that they came by. Replies are written as a
 * whole: none is to wait for the last one to be acknowledged. */
static int listen_at(const char *address)
{
	int one = 1, fd = weft_listen_on(address);

	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

static int listen_on(const char *address)
{
	int fd = listen_at(address);

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
		fd = listen_at(address);
	} while (fd == -EADDRINUSE && ++port <= USUAL_PORT + PORTS_TRIED);
	if (fd >= 0 && port != USUAL_PORT)
		fprintf(stderr, "weft-httpd: port %d is taken, using %d\n", USUAL_PORT, port);
	return fd >= 0 ? fd : listen_on(settings.listen);
}

int listen_plain(void)
{
	return settings.port_given ? listen_on(settings.listen) : listen_on_some_port();
}

int listen_tls(void)
{
	return listen_on(settings.listen_tls);
}

int listen_room(uint64_t *numbers, uint64_t *most)
{
	struct rlimit limit;
	uint64_t kept;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 && getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	*numbers = limit.rlim_cur;
	kept = *numbers / 2 < DESCRIPTORS_KEPT ? *numbers / 2 : DESCRIPTORS_KEPT;
	*most = settings.max_connections != 0 ? settings.max_connections : *numbers - kept;
	return 0;
}
