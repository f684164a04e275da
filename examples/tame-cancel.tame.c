/* tame-cancel.tame.c - a thread that is cancelled while it waits for a tamed function: the function
 * hears of it, ends its read, and the thread resumes. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <weft/tame.h>
#include <weft/weft.h>

static tamed read_one(int fd, char *byte, event(ssize_t) done)
{
	rendezvous(bool) r;
	ssize_t n;
	bool stop;

	weft_tell_cancel(done, mkevent(r, true));
	weft_read_ev(fd, byte, 1, mkevent(r, false, n));
	twait(r, stop);
	if (stop) {
		rv_stop(r);
		twait(r, stop);
	}
	trigger(done, n);
}

static threaded int app(void *unused)
{
	weft_scope s;
	ssize_t n;
	char byte;
	int fds[2], rc;

	(void)unused;
	if (pipe(fds) < 0)
		return -errno;
	weft_scope_begin(&s);
	weft_scope_deadline(&s, weft_now() + WEFT_MS);
	twait {
		read_one(fds[0], &byte, mkevent(n));
	}
	rc = weft_scope_end(&s);
	printf("the read: %s, the scope: %s\n", n == -ECANCELED ? "cancelled" : "done",
	       rc == -ETIMEDOUT ? "timed out" : "in time");
	close(fds[0]);
	close(fds[1]);
	return 0;
}

int main(void)
{
	return weft_run(app, NULL, NULL) < 0;
}
