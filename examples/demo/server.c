/* server.c - accepts connections, keeps their list, counts. */
#include "server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>

#include "conn.h"

enum { CONNECTIONS_MAX = 500, PORTS_TRIED = 100 };

/* For requests under way when the server is stopped, and before a new try when
 * there was no room for a connection. */
#define STOP_TIME (3 * WEFT_SEC)
#define ROOM_TIME (100 * WEFT_MS)

static struct {
	int listener;
	weft_op accept;
	weft_timer wait; /* for room, or for the end */
	bool stopping;
	struct conn *conns;
	struct totals totals;
} server;

int server_listen(int *port, int others)
{
	int tried = *port, last = others ? *port + PORTS_TRIED : *port;
	struct sockaddr_in address;
	socklen_t size = sizeof address;
	char text[32];
	int fd;

	do {
		snprintf(text, sizeof text, "127.0.0.1:%d", tried);
		fd = weft_listen_on(text);
	} while (fd == -EADDRINUSE && ++tried <= last && tried <= 65535);
	if (fd >= 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0)
		*port = ntohs(address.sin_port);
	return fd;
}

struct totals server_totals(void)
{
	return server.totals;
}

/* The list */

static void add(struct conn *c)
{
	c->prev = NULL;
	c->next = server.conns;
	if (c->next != NULL)
		c->next->prev = c;
	server.conns = c;
	server.totals.open++;
}

static void take_off(struct conn *c)
{
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		server.conns = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	server.totals.open--;
}

void server_count(void *arg)
{
	struct conn *c = arg;

	server.totals.requests++;
	c->totals = server.totals;
	conn_go(c, c->color, conn_answer);
}

void server_forget(void *arg)
{
	struct conn *c = arg;

	take_off(c);
	if (conn_go(c, c->color, conn_gone) < 0)
		add(c); /* weft_stop was called: server_free has it */
}

void server_free(void)
{
	while (server.conns != NULL) {
		struct conn *c = server.conns;

		take_off(c);
		conn_free(c);
	}
}

/* Accepting */

static void accept_next(void *unused)
{
	(void)unused;
	weft_op_accept(&server.accept, server.listener, NULL, NULL);
}

static void begin(int fd)
{
	struct conn *c = server.totals.open < CONNECTIONS_MAX ? conn_new(fd) : NULL;
	int one = 1;

	server.totals.connections++;
	if (c == NULL) {
		server.totals.refused++;
		conn_refuse(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	add(c);
	conn_go(c, c->color, conn_read);
}

static void accepted(void *unused)
{
	int64_t result = server.accept.result;

	(void)unused;
	if (server.stopping) {
		if (result >= 0)
			weft_fd_close((int)result);
		return;
	}
	if (result >= 0)
		begin((int)result);
	if (result == -EMFILE || result == -ENFILE || result == -ENOMEM || result == -ENOBUFS)
		weft_timer_start(&server.wait, ROOM_TIME);
	else
		accept_next(NULL);
}

int server_start(int listener)
{
	server.listener = listener;
	weft_op_init(&server.accept, WEFT_MAIN, accepted, NULL);
	weft_timer_init(&server.wait, WEFT_MAIN, accept_next, NULL);
	return weft_op_accept(&server.accept, listener, NULL, NULL);
}

static void stop_now(void *unused)
{
	(void)unused;
	weft_stop();
}

void server_stop(void *unused)
{
	(void)unused;
	if (server.stopping) {
		weft_stop();
		return;
	}
	server.stopping = true;
	weft_fd_close(server.listener);
	for (struct conn *c = server.conns; c != NULL; c = c->next)
		weft_event_post(&c->stop);
	/* weft_run ends by itself when the last connection has ended. */
	weft_timer_cancel(&server.wait);
	weft_timer_init(&server.wait, WEFT_MAIN, stop_now, NULL);
	server.wait.background = true;
	weft_timer_start(&server.wait, STOP_TIME);
}
