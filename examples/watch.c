/* watch.c - a watch calls whenever a descriptor is ready, until it is ended. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

static const char *const words[] = { "warp", "weft", "selvage", NULL };
static unsigned written;
static int ends[2];

/* One word at a time, so that each is read alone; then there is no more. */
static void write_next(void)
{
	const char *word = words[written];

	if (written++ == 3)
		weft_fd_close(ends[1]);
	else if (write(ends[1], word, strlen(word)) < 0)
		perror("write");
}

static void readable(void *arg)
{
	char buf[32];
	ssize_t n = read(ends[0], buf, sizeof buf); /* ready: does not block */

	(void)arg;
	if (n > 0) {
		printf("read %.*s\n", (int)n, buf);
		write_next();
		return;
	}
	puts("end of file");
	weft_off_fd(ends[0], WEFT_READ); /* in the watch's color: no call follows */
	weft_fd_close(ends[0]);
}

static int app(void *unused)
{
	write_next();
	return weft_on_fd(ends[0], WEFT_READ, WEFT_MAIN, readable, unused);
}

int main(void)
{
	return pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0 || weft_run(app, NULL, NULL) < 0;
}
