/* once.c - asks the server for its pages as any client would, by operations. */
#include "once.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <weft/weft.h>

#include "server.h"

#define ONCE_TIME (20 * WEFT_SEC)

static const char *const paths[] = { "/", "/stats" };
enum { PATHS = sizeof paths / sizeof *paths };

static struct {
	struct sockaddr_in address;
	int fd;
	unsigned path; /* the one that is asked for */
	unsigned shown;
	weft_op op;
	weft_timer deadline;
	char text[65536];
	size_t have;
	char problem[128];
} client;

static void connected(void *unused);
static void requested(void *unused);
static void received(void *unused);

static void fail(const char *what, int64_t rc)
{
	snprintf(client.problem, sizeof client.problem, "%s %s: %s", what, paths[client.path],
		 strerror((int)-rc));
	weft_stop();
}

static void late(void *unused)
{
	(void)unused;
	fail("waiting for", -ETIMEDOUT);
}

static int fetch(void)
{
	int rc;

	client.have = 0;
	client.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (client.fd < 0)
		return -errno;
	weft_op_init(&client.op, client.deadline.event.color, connected, NULL);
	rc = weft_op_connect(&client.op, client.fd, (struct sockaddr *)&client.address,
			     sizeof client.address);
	return rc;
}

static void connected(void *unused)
{
	int size;

	(void)unused;
	if (client.op.result < 0) {
		fail("connecting for", client.op.result);
		return;
	}
	size = snprintf(client.text, sizeof client.text,
			"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			paths[client.path]);
	weft_op_init(&client.op, client.deadline.event.color, requested, NULL);
	weft_op_send(&client.op, client.fd, client.text, (size_t)size, MSG_WAITALL);
}

static void requested(void *unused)
{
	(void)unused;
	if (client.op.result < 0) {
		fail("asking for", client.op.result);
		return;
	}
	weft_op_init(&client.op, client.deadline.event.color, received, NULL);
	weft_op_recv(&client.op, client.fd, client.text, sizeof client.text, 0);
}

/* The whole reply is there. */
static void show(void)
{
	static const char good[] = "HTTP/1.1 200 ";

	if (client.have < sizeof good || memcmp(client.text, good, sizeof good - 1) != 0) {
		fail("reading", -EBADMSG);
		return;
	}
	printf("\n$ curl -i http://127.0.0.1:%d%s\n%.*s", ntohs(client.address.sin_port),
	       paths[client.path], (int)client.have, client.text);
	client.shown++;
}

static void received(void *unused)
{
	int64_t n = client.op.result;
	int rc;

	(void)unused;
	if (n < 0 || (n > 0 && client.have + (size_t)n == sizeof client.text)) {
		fail("reading", n < 0 ? n : -EMSGSIZE);
		return;
	}
	if (n > 0) {
		client.have += (size_t)n;
		weft_op_recv(&client.op, client.fd, client.text + client.have,
			     sizeof client.text - client.have, 0);
		return;
	}
	weft_fd_close(client.fd);
	show();
	if (client.path + 1 == PATHS) {
		weft_post(WEFT_MAIN, server_stop, NULL);
		return;
	}
	client.path++;
	rc = fetch();
	if (rc < 0)
		fail("connecting for", rc);
}

int once_start(int port)
{
	client.address.sin_family = AF_INET;
	client.address.sin_port = htons((uint16_t)port);
	client.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	weft_timer_init(&client.deadline, weft_color_new(), late, NULL);
	client.deadline.background = true;
	weft_timer_start(&client.deadline, ONCE_TIME);
	return fetch();
}

int once_succeeded(void)
{
	if (client.problem[0] != '\0')
		fprintf(stderr, "weft-demo: %s\n", client.problem);
	return client.problem[0] == '\0' && client.shown == PATHS;
}
