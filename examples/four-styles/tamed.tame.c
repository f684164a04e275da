/* tamed.tame.c - the key server as tamed functions: straight-line code without stacks. Keys belong
 * to WEFT_MAIN, each connection to a color of its own.
 */
#include <errno.h>
#include <string.h>

#include <weft/tame.h>

#include "keys.h"

struct waiter {
	struct request request; /* first: a request's waiter is at the same address */
	event() answered;
};

static void wake(struct request *r)
{
	trigger(((struct waiter *)r)->answered);
}

static tamed ask(struct waiter *w, event() done)
{
	trefused (err) {
		(void)err;
		strcpy(w->request.text, "error: no room\n");
		trigger(done);
	}
	rendezvous() answer_or_time;

	if (keys_run(&w->request)) {
		w->answered = mkevent(answer_or_time);
		weft_sleep_ev(w->request.ns, mkevent(answer_or_time));
		twait(answer_or_time);
		if (keys_give_up(&w->request))
			weft_event_drop(w->answered);
		rv_cancel(answer_or_time);
	}
	trigger(done);
}

/* Sends an answer and gets the next line. */
static tamed exchange(int fd, struct request *r, struct input *in, event(bool) done)
{
	trefused (err) {
		(void)err;
		trigger(done, false);
	}
	rendezvous(bool) io_or_time;
	ssize_t n;
	bool in_time, line = false;

	weft_sleep_ev(keys_patience, mkevent(io_or_time, false));
	weft_write_all_ev(fd, r->text, strlen(r->text), mkevent(io_or_time, true, n));
	twait(io_or_time, in_time);
	while (in_time && n > 0 && !r->leaving && !(line = keys_take_line(in, r))) {
		weft_read_ev(fd, in->bytes + in->used, LINE_SIZE - in->used,
			     mkevent(io_or_time, true, n));
		twait(io_or_time, in_time);
		if (in_time && n > 0)
			in->used += (size_t)n;
	}
	rv_cancel(io_or_time);
	trigger(done, line);
}

static tamed serve(int fd)
{
	trefused (err) {
		(void)err;
		weft_fd_close(fd);
	}
	struct waiter w;
	struct input in;
	bool more;

	in.used = 0;
	keys_greet(&w.request, wake);
	for (;;) {
		twait {
			exchange(fd, &w.request, &in, mkevent(more));
		}
		if (!more)
			break;
		twait {
			ton(WEFT_MAIN, ask, &w, mkevent());
		}
	}
	weft_fd_close(fd);
}

static int app(void *listener)
{
	int fd;

	while ((fd = weft_accept(*(int *)listener, NULL)) != -ESHUTDOWN) {
		if (fd < 0)
			weft_sleep(10 * WEFT_MS); /* until there are descriptors again */
		else
			ton(weft_color_new(), serve, fd);
	}
	return fd;
}

int main(int argc, char **argv)
{
	return keys_main(argc, argv, app);
}
