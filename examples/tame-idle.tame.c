/* tame-idle.tame.c - echoes what it gets until nothing has come for some time: the deadline is
 * that of weft/add_timeout.tame.h. */
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/tame.h>
#include <weft/weft.h>

#define WEFT_T ssize_t
#include <weft/add_timeout.tame.h>
#undef WEFT_T

static tamed echo(int fd, uint64_t idle, event() done)
{
	event(ssize_t) came;
	char buf[512];
	bool in_time;
	ssize_t n;

	for (;;) {
		twait {
			add_timeout_ssize_t(idle, &came, mkevent(in_time, n));
			weft_read_ev(fd, buf, sizeof buf, came);
		}
		if (!in_time || n <= 0)
			break;
		twait {
			weft_write_all_ev(fd, buf, (size_t)n, mkevent(n));
		}
	}
	printf("%s\n", in_time ? "the stream has ended" : "nothing has come for too long");
	trigger(done);
}

static threaded int app(void *unused)
{
	char back[16];
	int fds[2];
	ssize_t n;

	(void)unused;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0 ||
	    write(fds[0], "hello", 5) != 5)
		return 1;
	twait {
		echo(fds[1], 20 * WEFT_MS, mkevent());
	}
	n = weft_read(fds[0], back, sizeof back);
	printf("it has sent back: %.*s\n", (int)n, back);
	weft_close(fds[0]);
	weft_close(fds[1]);
	return 0;
}

int main(void)
{
	return weft_run(app, NULL, NULL) != 0;
}
