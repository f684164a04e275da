/* echo-threads.c - a thread per connection: a server that echoes what it gets, and
 * clients that try it. Each connection has a color of its own, so they run on all
 * cores; what the clients share belongs to the first color, and needs no lock. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

enum { CLIENTS = 100 };

static int serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char buf[4096];
	ssize_t n;

	while ((n = weft_read(fd, buf, sizeof buf)) > 0)
		weft_write_all(fd, buf, (size_t)n);
	return weft_close(fd);
}

/* Ends when the listening socket is closed. */
static int server(void *arg)
{
	int fd, ls = (int)(intptr_t)arg;

	while ((fd = weft_accept(ls, NULL)) >= 0) {
		if (weft_go_on(weft_color_new(), serve, (void *)(intptr_t)fd) < 0)
			weft_close(fd); /* no memory for another thread */
	}
	return fd;
}

static struct {
	char address[32];
	int left, right; /* clients that run; that got back what they sent */
	int ls;
} test;

static int client(void *arg)
{
	char text[64], back[64];
	int fd = weft_dial(test.address);
	size_t len = (size_t)snprintf(text, sizeof text, "I am client %d", (int)(intptr_t)arg);

	if (fd >= 0 && weft_write_all(fd, text, len) > 0 &&
	    weft_read_exactly_until(fd, back, len, NULL, weft_now() + 20 * WEFT_SEC) > 0)
		test.right += memcmp(text, back, len) == 0;
	if (fd >= 0)
		weft_close(fd);
	if (--test.left == 0)
		weft_close(test.ls); /* the server's accept returns -EBADF */
	return 0;
}

static int app(void *unused)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof addr;

	(void)unused;
	test.ls = weft_listen("127.0.0.1:0", NULL);
	if (test.ls < 0 || getsockname(test.ls, (struct sockaddr *)&addr, &len) < 0)
		return -EIO;
	snprintf(test.address, sizeof test.address, "127.0.0.1:%d", ntohs(addr.sin_port));
	test.left = CLIENTS;
	for (int i = 0; i < CLIENTS; i++)
		weft_go(client, (void *)(intptr_t)i);
	return weft_go_on(weft_color_new(), server, (void *)(intptr_t)test.ls);
}

int main(void)
{
	int rc = weft_run(app, NULL, NULL);

	printf("%d of %d clients got back what they sent\n", test.right, CLIENTS);
	return rc < 0;
}
