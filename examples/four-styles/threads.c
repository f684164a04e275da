/* threads.c - the key server as threads: one for each connection. Keys are guarded by a mutex;
 * who waits for one waits for a condition.
 */
#include <errno.h>
#include <string.h>

#include "keys.h"

struct waiter {
	struct request request; /* first: a request's waiter is at the same address */
	weft_cond answered;
};

static weft_mutex keys;

static void wake(struct request *r)
{
	weft_cond_signal(&((struct waiter *)r)->answered);
}

static void ask(struct waiter *w)
{
	struct request *r = &w->request;

	weft_mutex_lock(&keys);
	if (keys_run(r) && weft_cond_wait_until(&w->answered, &keys, weft_now() + r->ns) < 0)
		keys_give_up(r);
	weft_mutex_unlock(&keys);
}

/* Sends an answer and gets the next line. */
static bool exchange(int fd, struct request *r, struct input *in)
{
	uint64_t deadline = weft_now() + keys_patience;
	ssize_t n;

	n = weft_write_all_until(fd, r->text, strlen(r->text), NULL, deadline);
	if (n < 0 || r->leaving)
		return false;
	while (!keys_take_line(in, r)) {
		n = weft_read_until(fd, in->bytes + in->used, LINE_SIZE - in->used, deadline);
		if (n <= 0)
			return false;
		in->used += (size_t)n;
	}
	return true;
}

static int serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct waiter w = { 0 };
	struct input in = { 0 };

	keys_greet(&w.request, wake);
	while (exchange(fd, &w.request, &in))
		ask(&w);
	return weft_close(fd);
}

static int app(void *listener)
{
	int fd;

	while ((fd = weft_accept(*(int *)listener, NULL)) != -ESHUTDOWN) {
		if (fd < 0)
			weft_sleep(10 * WEFT_MS); /* until there are descriptors again */
		else if (weft_go_on(weft_color_new(), serve, (void *)(intptr_t)fd) < 0)
			weft_close(fd);
	}
	return fd;
}

int main(int argc, char **argv)
{
	return keys_main(argc, argv, app);
}
