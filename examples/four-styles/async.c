/* async.c - the key server with async and finish: each connection is a block that goes to a color
 * of its own. A scope's deadline ends whatever waits in it. Keys belong to WEFT_MAIN.
 */
#include <errno.h>
#include <string.h>

#include "keys.h"

struct waiter {
	struct request request; /* first: a request's waiter is at the same address */
	weft_scope *nap;
};

static void wake(struct request *r)
{
	weft_scope_cancel(((struct waiter *)r)->nap);
}

static void ask(struct waiter *w)
{
	weft_color color = weft_color_current();

	weft_hop(WEFT_MAIN);
	if (keys_run(&w->request)) {
		weft_finish (nap) {
			w->nap = &nap;
			weft_sleep(w->request.ns);
			keys_give_up(&w->request);
		}
	}
	weft_hop(color);
}

/* Sends an answer and gets the next line. */
static bool exchange(int fd, struct request *r, struct input *in)
{
	weft_finish (in_time) {
		weft_scope_deadline(&in_time, weft_now() + keys_patience);
		if (weft_write_all(fd, r->text, strlen(r->text)) < 0 || r->leaving)
			return false;
		while (!keys_take_line(in, r)) {
			ssize_t n = weft_read(fd, in->bytes + in->used, LINE_SIZE - in->used);

			if (n <= 0)
				return false;
			in->used += (size_t)n;
		}
	}
	return true;
}

static void serve(int fd)
{
	struct waiter w = { 0 };
	struct input in = { 0 };

	weft_hop(weft_color_new());
	keys_greet(&w.request, wake);
	while (exchange(fd, &w.request, &in))
		ask(&w);
	weft_close(fd);
}

static int app(void *listener)
{
	int fd;

	weft_finish (server) {
		while ((fd = weft_accept(*(int *)listener, NULL)) != -ESHUTDOWN) {
			if (fd < 0) {
				weft_sleep(10 * WEFT_MS); /* until there are descriptors again */
				continue;
			}
			weft_async_own (fd) {
				serve(fd);
			};
		}
	}
	return fd;
}

int main(int argc, char **argv)
{
	return keys_main(argc, argv, app);
}
