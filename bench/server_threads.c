/* server_threads.c - the echo server of Weft with a thread for each connection.
 *
 * Each connection is a color of its own, so that threads run on all workers.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/socket.h>

#include <weft/blocking.h>
#include <weft/weft.h>

#include "server.h"

static int serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char buf[ECHO_BUFFER];
	ssize_t n;

	while ((n = weft_recv(fd, buf, sizeof buf, 0)) > 0)
		if (weft_write_all(fd, buf, (size_t)n) < 0)
			break;
	weft_close(fd);
	return 0;
}

int server_threads_app(void *arg)
{
	const struct echo_server *s = arg;
	int one = 1;

	for (;;) {
		int fd = weft_accept(s->listeners[0], NULL);

		if (fd < 0)
			return fd;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		if (weft_go_on((weft_color)(1 + fd), serve, (void *)(intptr_t)fd) < 0)
			weft_close(fd);
	}
}
