/* deadline.c - a deadline on a read is exact: it gives what came, or nothing was
 * taken and the next read gets it. Nothing is lost in between. */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include <weft/weft.h>

enum { MESSAGES = 1000 };

static int talk(void *arg)
{
	int fd = (int)(intptr_t)arg;

	for (int i = 0; i < MESSAGES; i++) {
		weft_write_all(fd, "message", 7);
		weft_sleep(50 * WEFT_US);
	}
	return weft_close(fd);
}

static int listen_to(int fd)
{
	size_t bytes = 0;
	char buf[64];
	ssize_t n;

	do {
		n = weft_read_until(fd, buf, sizeof buf, weft_now() + 50 * WEFT_US);
		if (n > 0)
			bytes += (size_t)n;
	} while (n > 0 || n == -ETIMEDOUT); /* late: do something else, then ask again */
	printf("%zu of %d bytes came\n", bytes, 7 * MESSAGES);
	return weft_close(fd);
}

static int app(void *fds)
{
	char buf[64];
	int fd = ((int *)fds)[0];

	/* In the past: only what is there at once. */
	if (weft_read_until(fd, buf, sizeof buf, 0) == -ETIMEDOUT)
		printf("nothing is there yet\n");
	weft_go_on(weft_color_new(), talk, (void *)(intptr_t)((int *)fds)[1]);
	return listen_to(fd);
}

int main(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
	       weft_run(app, fds, NULL) < 0;
}
