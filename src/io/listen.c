/* listen.c - a listening socket from a numeric address in text form. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/io.h>

#include "base/fault.h"

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static int read_port(const char *text, in_port_t *port)
{
	unsigned long n = 0;

	if (*text == '\0' || strlen(text) > 5)
		return -EINVAL;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		n = n * 10 + (unsigned long)(*text - '0');
	}
	if (n > 65535)
		return -EINVAL;
	*port = htons((uint16_t)n);
	return 0;
}

/* "[::1]:80" has its host in brackets; ":80" is every IPv4 address of the machine. */
static int read_host(const char *text, size_t len, union address *a, socklen_t *size)
{
	char host[INET6_ADDRSTRLEN];
	bool brackets = len >= 2 && text[0] == '[' && text[len - 1] == ']';

	if (brackets) {
		text++;
		len -= 2;
	}
	if (len >= sizeof host)
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = '\0';
	if (brackets) {
		a->in6.sin6_family = AF_INET6;
		*size = sizeof a->in6;
		return inet_pton(AF_INET6, host, &a->in6.sin6_addr) == 1 ? 0 : -EINVAL;
	}
	a->in.sin_family = AF_INET;
	*size = sizeof a->in;
	return len == 0 || inet_pton(AF_INET, host, &a->in.sin_addr) == 1 ? 0 : -EINVAL;
}

static int read_address(const char *text, union address *a, socklen_t *size)
{
	const char *colon = text != NULL ? strrchr(text, ':') : NULL;
	in_port_t port;

	memset(a, 0, sizeof *a);
	if (colon == NULL || read_port(colon + 1, &port) < 0 ||
	    read_host(text, (size_t)(colon - text), a, size) < 0)
		return -EINVAL;
	if (a->any.sa_family == AF_INET)
		a->in.sin_port = port;
	else
		a->in6.sin6_port = port;
	return 0;
}

/* An option that is not asked for stays as the system has it. */
static int set_option(int fd, int level, int name, bool wanted)
{
	static const int on = 1;

	return wanted ? setsockopt(fd, level, name, &on, sizeof on) : 0;
}

static int set_up(int fd, const union address *a, socklen_t size, const weft_listen_options *opt)
{
	int backlog = opt->backlog > 0 ? opt->backlog : SOMAXCONN;

	if (set_option(fd, SOL_SOCKET, SO_REUSEADDR, true) < 0 ||
	    set_option(fd, SOL_SOCKET, SO_REUSEPORT, opt->reuse_port) < 0 ||
	    set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, opt->only_ipv6) < 0 ||
	    bind(fd, &a->any, size) < 0 || listen(fd, backlog) < 0)
		return -errno;
	return 0;
}

int weft_listen(const char *address, const weft_listen_options *opt)
{
	static const weft_listen_options plain;
	union address a;
	socklen_t size;
	int fd, rc = read_address(address, &a, &size);

	if (rc == 0)
		rc = WF_FAULT(EMFILE);
	if (rc < 0)
		return rc;
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = set_up(fd, &a, size, opt != NULL ? opt : &plain);
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

int weft_listen_on(const char *address)
{
	return weft_listen(address, NULL);
}
