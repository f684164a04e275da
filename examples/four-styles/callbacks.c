/* callbacks.c - the key server as events: each function ends where the server has to wait, and
 * names the next one. Keys belong to WEFT_MAIN, each connection to a color of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "keys.h"

struct conn {
	struct request request; /* first: a request's connection is at the same address */
	struct input in;
	int fd;
	weft_color color;
	weft_op io;
	weft_event step;
	weft_timer patience, wait;
};

static weft_op listening;
static int listener;
static weft_fn received, sent, reply;

static void end(struct conn *c)
{
	weft_timer_cancel(&c->patience);
	weft_fd_close(c->fd);
	free(c);
}

/* Goes on in another color. That fails only when the runtime stops. */
static void go_on(struct conn *c, weft_color color, weft_fn *fn)
{
	c->step.color = color;
	c->step.run = fn;
	weft_event_post(&c->step);
}

/* In WEFT_MAIN: ask, and what ends its wait. */
static void ask(void *arg)
{
	struct conn *c = arg;

	if (keys_run(&c->request))
		weft_timer_start(&c->wait, c->request.ns);
	else
		go_on(c, c->color, reply);
}

static void wake(struct request *r)
{
	struct conn *c = (struct conn *)r;

	weft_timer_cancel(&c->wait);
	go_on(c, c->color, reply);
}

static void time_is_over(void *arg)
{
	struct conn *c = arg;

	keys_give_up(&c->request);
	go_on(c, c->color, reply);
}

/* In the color of the connection: the rest. */
static void reply(void *arg)
{
	struct conn *c = arg;
	char *text = c->request.text;

	weft_timer_start(&c->patience, keys_patience);
	c->io.event.run = sent;
	if (weft_op_send(&c->io, c->fd, text, strlen(text), MSG_WAITALL) < 0)
		end(c);
}

static void look_for_line(struct conn *c)
{
	struct input *in = &c->in;

	if (keys_take_line(in, &c->request)) {
		weft_timer_cancel(&c->patience);
		go_on(c, WEFT_MAIN, ask);
		return;
	}
	c->io.event.run = received;
	if (weft_op_recv(&c->io, c->fd, in->bytes + in->used, LINE_SIZE - in->used, 0) < 0)
		end(c);
}

static void sent(void *arg)
{
	struct conn *c = arg;

	if (c->io.result < (int64_t)strlen(c->request.text) || c->request.leaving)
		end(c);
	else
		look_for_line(c);
}

static void received(void *arg)
{
	struct conn *c = arg;

	if (c->io.result <= 0) {
		end(c);
		return;
	}
	c->in.used += (size_t)c->io.result;
	look_for_line(c);
}

/* What is under way ends, by -ECANCELED, and that ends the connection. */
static void out_of_patience(void *arg)
{
	struct conn *c = arg;

	weft_op_cancel(&c->io);
}

static void welcome(int fd)
{
	struct conn *c = calloc(1, sizeof *c);

	if (c == NULL) {
		weft_fd_close(fd);
		return;
	}
	keys_greet(&c->request, wake);
	c->fd = fd;
	c->color = weft_color_new();
	weft_op_init(&c->io, c->color, sent, c);
	weft_event_init(&c->step, c->color, reply, c);
	weft_timer_init(&c->patience, c->color, out_of_patience, c);
	weft_timer_init(&c->wait, WEFT_MAIN, time_is_over, c);
	weft_event_post(&c->step);
}

static void accept_next(void *unused)
{
	(void)unused;
	weft_op_accept(&listening, listener, NULL, NULL);
}

static void accepted(void *unused)
{
	if (listening.result >= 0)
		welcome((int)listening.result);
	else if (weft_after(10 * WEFT_MS, WEFT_MAIN, accept_next, unused) == 0)
		return;
	accept_next(unused);
}

static int app(void *arg)
{
	listener = *(int *)arg;
	weft_op_init(&listening, WEFT_MAIN, accepted, NULL);
	return weft_op_accept(&listening, listener, NULL, NULL);
}

int main(int argc, char **argv)
{
	return keys_main(argc, argv, app);
}
