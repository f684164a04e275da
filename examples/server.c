/* server.c - echoes what it gets: a thread for each connection, on all cores. */
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

static int serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char buf[4096];
	ssize_t n;

	while ((n = weft_read(fd, buf, sizeof buf)) > 0)
		weft_write_all(fd, buf, (size_t)n);
	return weft_close(fd);
}

static int app(void *address)
{
	int fd, ls = weft_listen(address, NULL);

	if (ls < 0)
		return ls;
	while ((fd = weft_accept(ls, NULL)) >= 0)
		if (weft_go_on(weft_color_new(), serve, (void *)(intptr_t)fd) < 0)
			weft_close(fd); /* no memory for another thread */
	return fd;
}

int main(int argc, char **argv)
{
	char usual[] = "127.0.0.1:7000", *address = argc > 1 ? argv[1] : usual;
	int rc = weft_run(app, address, NULL);

	fprintf(stderr, "%s: %s\n", address, strerror(-rc));
	return 1;
}
