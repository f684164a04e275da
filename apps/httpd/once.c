/* once.c - a client for --once. */
#include "once.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

#include "server.h"

#define ONCE_TIME (20 * WEFT_SEC)

static const char *const paths[] = { "/", "/_status?json" };
enum { PATHS = sizeof paths / sizeof *paths, MOST = 65536 };

static int port, shown;

static ssize_t fetch(const char *path, char *text, uint64_t deadline)
{
	char address[32];
	ssize_t n = -EMSGSIZE;
	size_t have = 0;
	int fd, size;

	snprintf(address, sizeof address, "127.0.0.1:%d", port);
	fd = weft_dial_until(address, deadline);
	if (fd < 0)
		return fd;
	size = snprintf(text, MOST, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
			path, address);
	if (weft_write_all_until(fd, text, (size_t)size, NULL, deadline) == size)
		while (have < MOST &&
		       (n = weft_read_until(fd, text + have, MOST - have, deadline)) > 0)
			have += (size_t)n;
	weft_close(fd);
	return n < 0 ? n : (ssize_t)have;
}

static int show_all(void *unused)
{
	static const char good[] = "HTTP/1.1 200 ";
	static char text[MOST];
	uint64_t deadline = weft_now() + ONCE_TIME;

	(void)unused;
	for (int i = 0; i < PATHS; i++) {
		ssize_t n = fetch(paths[i], text, deadline);

		if (n < (ssize_t)sizeof good || memcmp(text, good, sizeof good - 1) != 0) {
			fprintf(stderr, "weft-httpd: asking for %s: %s\n", paths[i],
				n < 0 ? strerror((int)-n) : "not a good answer");
			break;
		}
		printf("\n$ curl -i http://127.0.0.1:%d%s\n%.*s", port, paths[i], (int)n, text);
		shown++;
	}
	weft_post(WEFT_MAIN, server_stop, NULL);
	return 0;
}

int once_start(int of)
{
	port = of;
	return weft_go_on(weft_color_new(), show_all, NULL);
}

int once_succeeded(void)
{
	return shown == PATHS;
}
