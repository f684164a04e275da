/* socket.c - listening sockets, and their names. */
#include "socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <weft/weft.h>

enum { DESCRIPTORS_MOST = 1 << 20, SLICE = 256 << 10 };

int socket_port(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof address;

	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return -errno;
	return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
						   : ((struct sockaddr_in *)&address)->sin_port);
}

int socket_name(int fd, char *out, size_t size)
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

/* Connections have the options of the socket that they came by. What is written as a whole is
 * not to wait for the last of it to be acknowledged. */
int socket_without_delay(int fd)
{
	int one = 1;

	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

/* Non-blocking: no other program accepts from it, and Weft then accepts in fewer steps. */
int socket_listen(const char *address)
{
	int fd = socket_without_delay(weft_listen_on(address));

	if (fd >= 0)
		(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

void socket_limit_silence(int fd, uint64_t ms)
{
	unsigned most = ms < INT_MAX ? (unsigned)ms : INT_MAX;

	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof most);
}

/* poll(2) reports POLLOUT when two thirds of the send buffer are free: with a small buffer, that is
 * when little is left. */
int socket_await_taken(int fd, uint64_t ms)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int buffer = SOCKET_LEFT, left, rc;

	if (ioctl(fd, SIOCOUTQ, &left) < 0)
		return -errno;
	if (left <= SOCKET_LEFT)
		return 0;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
	rc = weft_poll_until(&p, 1, weft_now() + (1 + (uint64_t)left / SLICE) * ms * WEFT_MS);
	return rc < 0 ? rc : p.revents & (POLLERR | POLLHUP) ? -ECONNRESET : 0;
}

void socket_abandon(int fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

int socket_room(uint64_t kept, uint64_t *numbers, uint64_t *most)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 && getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	*numbers = limit.rlim_cur;
	*most = *numbers - (*numbers / 2 < kept ? *numbers / 2 : kept);
	return 0;
}
