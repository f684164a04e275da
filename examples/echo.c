/* echo.c - operations: each reads or writes and calls back once, when it is done.
 * A client and an echo server, each in a color of its own, on connected sockets. */
#include <stdio.h>
#include <sys/socket.h>

#include <weft/weft.h>

static struct side {
	weft_op recv, send;
	int fd;
	char buf[64];
} client, server;

static void receive(void *side)
{
	struct side *s = side;

	weft_op_recv(&s->recv, s->fd, s->buf, sizeof s->buf, 0);
}

static void server_received(void *side)
{
	struct side *s = side;

	if (s->recv.result > 0)
		weft_op_send(&s->send, s->fd, s->buf, (size_t)s->recv.result, 0);
	else
		weft_fd_close(s->fd); /* the client has closed its end */
}

static void client_received(void *unused)
{
	printf("the server answered: %.*s\n", (int)client.recv.result, client.buf);
	weft_fd_close(client.fd);
	(void)unused;
}

static void init(struct side *s, int fd, weft_color color, weft_fn *received)
{
	s->fd = fd;
	weft_op_init(&s->recv, color, received, s);
	weft_op_init(&s->send, color, receive, s); /* after each send, receive */
}

static int app(void *fds)
{
	init(&client, ((int *)fds)[0], weft_color_new(), client_received);
	init(&server, ((int *)fds)[1], weft_color_new(), server_received);
	receive(&server);
	return weft_op_send(&client.send, client.fd, "hello, server", 13, 0);
}

int main(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
	       weft_run(app, fds, NULL) < 0;
}
