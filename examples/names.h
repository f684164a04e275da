/* names.h - what async-1.c to async-5.c and tame-1 to tame-6 have in common: the lookup of one
 * name, and a name server on loopback to ask, so that they run without a network.
 */
#ifndef EXAMPLES_NAMES_H
#define EXAMPLES_NAMES_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <weft/weft.h>

struct host {
	const char *name;
	char address[INET_ADDRSTRLEN];
	int rc; /* of the lookup: 0, or why there is no address */
};

/* Asks for one name, and waits for the answer. Knows nothing of async. */
static inline int lookup(struct host *host)
{
	struct sockaddr_storage *found;
	int n = weft_resolve(host->name, 0, AF_INET, &found);

	if (n < 0)
		return n;
	inet_ntop(AF_INET, &((struct sockaddr_in *)found)->sin_addr, host->address,
		  sizeof host->address);
	free(found);
	return 0;
}

static inline const char *outcome(const struct host *host)
{
	switch (host->rc) {
	case 0:
		return host->address;
	case -ENOENT:
		return "no such name";
	case -ECANCELED:
		return "cancelled";
	default:
		return strerror(-host->rc);
	}
}

static inline void show(const struct host *hosts, int count)
{
	for (int i = 0; i < count; i++)
		printf("%s: %s\n", hosts[i].name, outcome(&hosts[i]));
}

/* The same for those who only have addresses. */
static inline void show_addresses(const char *const name[], const struct in_addr address[],
				  int count)
{
	char text[INET_ADDRSTRLEN];

	for (int i = 0; i < count; i++) {
		inet_ntop(AF_INET, &address[i], text, sizeof text);
		printf("%s: %s\n", name[i], address[i].s_addr == 0 ? "no address" : text);
	}
}

/* The server. It knows loom, warp and reed, says nothing when asked for lost, and that
 * there is no such name for all others. */
enum { TOGETHER = 8, HEAD = 12 };

struct question {
	unsigned char text[512];
	size_t len, label; /* how long it is, and its name's first label */
	struct sockaddr_in from;
};

static struct {
	int fd, together;
	weft_thread_fn *app;
} names;

/* False: it is none. */
static inline bool receive(struct question *q)
{
	struct iovec part = { q->text, sizeof q->text };
	struct msghdr msg = { .msg_name = &q->from,
			      .msg_namelen = sizeof q->from,
			      .msg_iov = &part,
			      .msg_iovlen = 1 };
	ssize_t n = weft_recvmsg(names.fd, &msg, 0);
	size_t end = HEAD;

	while ((ssize_t)end < n && q->text[end] != 0)
		end += q->text[end] + 1u;
	q->len = end + 5; /* behind the name: its end, a type and a class */
	q->label = q->text[HEAD];
	return n >= (ssize_t)q->len && q->len + 16 <= sizeof q->text;
}

static inline void answer(struct question *q)
{
	static const char *const known[] = { "loom", "warp", "reed" };
	/* The name of the question, an address, of the internet, good for no time. */
	unsigned char found[16] = { 0xc0, HEAD, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2 };
	struct iovec part = { q->text, q->len };
	struct msghdr msg = { .msg_name = &q->from,
			      .msg_namelen = sizeof q->from,
			      .msg_iov = &part,
			      .msg_iovlen = 1 };

	if (memcmp(q->text + HEAD + 1, "lost", 4) == 0)
		return;
	q->text[2] |= 0x84; /* an answer, by one who knows */
	q->text[3] = 3;     /* no such name */
	memset(q->text + 6, 0, 6);
	for (unsigned char i = 0; i < 3; i++) {
		if (q->label == 4 && memcmp(q->text + HEAD + 1, known[i], 4) == 0) {
			found[15] = (unsigned char)(i + 1);
			q->text[3] = 0;
			q->text[7] = 1;
			memcpy(q->text + q->len, found, sizeof found);
			part.iov_len += sizeof found;
		}
	}
	weft_sendmsg(names.fd, &msg, 0);
}

/* Answers when there are `together` questions: who asks one after the other waits for ever. */
static inline int serve_names(void *unused)
{
	static struct question questions[TOGETHER];

	(void)unused;
	for (;;) {
		for (int i = 0; i < names.together; i++)
			if (!receive(&questions[i]))
				return 0;
		for (int i = 0; i < names.together; i++)
			answer(&questions[i]);
	}
}

static inline int start_names(void *unused)
{
	int rc = weft_go(serve_names, NULL);

	if (rc == 0)
		rc = names.app(unused);
	weft_close(names.fd);
	return rc;
}

/* Runs `app` beside such a server. */
static inline int run_with_names(weft_thread_fn *app, int together)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;
	char server[32];

	names.app = app;
	names.together = together;
	names.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (names.fd < 0 || bind(names.fd, (struct sockaddr *)&at, sizeof at) < 0 ||
	    getsockname(names.fd, (struct sockaddr *)&at, &len) < 0)
		return 1;
	snprintf(server, sizeof server, "127.0.0.1:%d", ntohs(at.sin_port));
	return weft_lookup_servers(server, NULL) < 0 || weft_run(start_names, NULL, NULL) < 0;
}

#endif
