/* names.c - looking up names, and connecting to them. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "threads/call.h"

struct asking {
	struct wf_wait wait;
	weft_lookup lookup;
};

static void cancel(struct wf_wait *wait)
{
	(void)weft_lookup_cancel(&WF_CONTAINER(wait, struct asking, wait)->lookup);
}

bool wf_numeric(const char *host, uint16_t port, int family, struct sockaddr_storage *addr)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a;

	memset(&a, 0, sizeof a);
	if (family != AF_INET6 && inet_pton(AF_INET, host, &a.in.sin_addr) == 1) {
		a.in.sin_family = AF_INET;
		a.in.sin_port = htons(port);
	} else if (family != AF_INET && inet_pton(AF_INET6, host, &a.in6.sin6_addr) == 1) {
		a.in6.sin6_family = AF_INET6;
		a.in6.sin6_port = htons(port);
	} else {
		return false;
	}
	*addr = a.any;
	return true;
}

/* An address in text form needs no lookup: 1, 0 if it is none, or an error. */
static int numeric(const char *host, uint16_t port, int family, struct sockaddr_storage **addrs)
{
	struct sockaddr_storage addr;

	if (!wf_numeric(host, port, family, &addr))
		return 0;
	*addrs = WF_NEW(struct sockaddr_storage);
	if (*addrs == NULL)
		return -ENOMEM;
	**addrs = addr;
	return 1;
}

static int resolve(const char *host, uint16_t port, int family, struct sockaddr_storage **addrs,
		   uint64_t deadline)
{
	struct asking a = { .wait = { .what = "name", .on = (uintptr_t)host, .cancel = cancel } };
	int rc = numeric(host, port, family, addrs);

	if (rc != 0)
		return rc;
	wf_call_event(&a.lookup.event);
	rc = weft_lookup_start(&a.lookup, host, port, family, 0);
	if (rc < 0)
		return rc;
	wf_wait(&a.wait, deadline);
	rc = a.lookup.result;
	if (rc == 0 && a.lookup.count > 0) {
		*addrs = a.lookup.addrs;
		return a.lookup.count;
	}
	weft_lookup_fini(&a.lookup);
	if (rc == -ECANCELED && a.wait.error < 0)
		rc = a.wait.error;
	return rc < 0 ? rc : -ENOENT;
}

static bool known(int family)
{
	return family == AF_UNSPEC || family == AF_INET || family == AF_INET6;
}

int weft_resolve_until(const char *host, uint16_t port, int family, struct sockaddr_storage **addrs,
		       uint64_t deadline)
{
	int rc = wf_call_allowed(-1, "weft_resolve", WF_CALLER);

	if (rc == 0 && (host == NULL || addrs == NULL || !known(family)))
		rc = -EINVAL;
	return rc < 0 ? rc : resolve(host, port, family, addrs, deadline);
}

/* Dialing */

enum { HOST_MAX = 256 };

static int read_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	n = strtoul(text, &end, 10);
	if (*end != '\0' || n > 65535)
		return -EINVAL;
	*port = (uint16_t)n;
	return 0;
}

/* "host:port", or "[host]:port" where the host has colons of its own. */
static int read_address(const char *text, char *host, uint16_t *port)
{
	const char *colon = text != NULL ? strrchr(text, ':') : NULL;
	size_t len;

	if (colon == NULL || read_port(colon + 1, port) < 0)
		return -EINVAL;
	len = (size_t)(colon - text);
	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len) != NULL) {
		return -EINVAL;
	}
	if (len == 0 || len >= HOST_MAX)
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = '\0';
	return 0;
}

/* Non-blocking, as connecting must not block. A function of its own: errno must not be used in one
 * that may switch. */
static WF_NOINLINE int open_socket(int family)
{
	int fd, rc = WF_FAULT(EMFILE);

	if (rc < 0)
		return rc;
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return fd < 0 ? -errno : fd;
}

/* The user may give the socket to any program. No other process has it yet. */
static WF_NOINLINE int make_blocking(int fd)
{
	return fcntl(fd, F_SETFL, 0) < 0 ? -errno : 0;
}

static int dial_one(const struct sockaddr_storage *addr, uint64_t deadline)
{
	socklen_t len = addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						    : sizeof(struct sockaddr_in);
	int fd = open_socket(addr->ss_family), rc;

	if (fd < 0)
		return fd;
	rc = weft_connect_until(fd, (const struct sockaddr *)addr, len, deadline);
	if (rc == 0)
		rc = make_blocking(fd);
	if (rc == 0)
		return fd;
	(void)weft_fd_close(fd);
	return rc;
}

/* The time until the deadline is shared by those that are left. */
static uint64_t share(uint64_t deadline, int left)
{
	uint64_t now = wf_now();

	if (deadline == WEFT_FOREVER || deadline <= now || left <= 1)
		return deadline;
	return now + (deadline - now) / (uint64_t)left;
}

/* What comes of the whole, not of one address. */
static bool final(int rc, uint64_t deadline)
{
	return rc >= 0 || rc == -ECANCELED || rc == -ESHUTDOWN || rc == -EMFILE || rc == -ENFILE ||
	       (rc == -ETIMEDOUT && wf_past(deadline));
}

int weft_dial_until(const char *address, uint64_t deadline)
{
	struct sockaddr_storage *addrs;
	char host[HOST_MAX];
	uint16_t port = 0;
	int count, rc = wf_call_allowed(-1, "weft_dial", WF_CALLER);

	if (rc == 0)
		rc = read_address(address, host, &port);
	if (rc < 0)
		return rc;
	count = resolve(host, port, AF_UNSPEC, &addrs, deadline);
	if (count < 0)
		return count;
	for (int i = 0; i < count; i++) {
		rc = dial_one(&addrs[i], share(deadline, count - i));
		if (final(rc, deadline))
			break;
	}
	free(addrs);
	return rc;
}
