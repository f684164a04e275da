/* conn.c - reads requests, answers them, and ends in good order. */
#include "conn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "server.h"

/* How long a request may take to come, a reply to go, a peer to close its end. A
 * connection that takes longer is closed without a word, as HTTP allows: a 408 would
 * be taken by some clients for the answer to the request they send just then. */
#define READ_TIME (15 * WEFT_SEC)
#define SEND_TIME (15 * WEFT_SEC)
#define CLOSE_TIME (2 * WEFT_SEC)

/* /slow does so many numbers in all, and in one event: less than a millisecond,
 * so that others get their turn. */
enum { SLOW_NUMBERS = 1000000, SLOW_SLICE = 1000 };

static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nServer: weft-demo\r\n"
			   "Content-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n";

int conn_go(struct conn *c, weft_color color, weft_fn *fn)
{
	weft_event_init(&c->step, color, fn, c);
	return weft_event_post(&c->step);
}

/* The end */

static void end(struct conn *c)
{
	weft_timer_cancel(&c->deadline);
	weft_fd_close(c->fd);
	c->fd = -1;
	conn_go(c, WEFT_MAIN, server_forget);
}

void conn_gone(void *arg)
{
	conn_free(arg);
}

/* What has waited too long ends with -ECANCELED, and then the connection. */
static void too_late(void *arg)
{
	struct conn *c = arg;

	weft_op_cancel(&c->recv);
	weft_op_cancel(&c->send);
}

void conn_told_to_stop(void *arg)
{
	struct conn *c = arg;

	c->last = true;
	weft_op_cancel(&c->recv);
}

static void drained(void *arg)
{
	struct conn *c = arg;

	if (c->recv.result <= 0 || weft_op_recv(&c->recv, c->fd, c->in, sizeof c->in, 0) < 0)
		end(c);
}

/* Waits for the peer to close first: closing while it still sends would throw
 * away the reply that is on its way. */
static void drain(struct conn *c)
{
	shutdown(c->fd, SHUT_WR);
	weft_op_init(&c->recv, c->color, drained, c);
	weft_timer_start(&c->deadline, CLOSE_TIME);
	weft_op_recv(&c->recv, c->fd, c->in, sizeof c->in, 0);
}

/* Replies */

static void sent(void *arg)
{
	struct conn *c = arg;

	free(c->out);
	c->out = NULL;
	weft_timer_cancel(&c->deadline);
	if (c->send.result < 0)
		end(c);
	else if (c->last)
		drain(c);
	else
		conn_read(c);
}

static void send_text(struct conn *c, const char *text, size_t size)
{
	weft_timer_start(&c->deadline, SEND_TIME);
	weft_op_send(&c->send, c->fd, text, size, MSG_WAITALL);
}

/* Takes the body. */
static void reply(struct conn *c, int status, const char *type, char *body, size_t size)
{
	/* After a bad request nobody knows where the next one begins. */
	if (c->last || (status != 200 && status != 404))
		c->request.keep_alive = false;
	c->last = !c->request.keep_alive;
	if (body != NULL)
		c->out = http_reply(status, type, body, size, &c->request, &size);
	free(body);
	if (c->out != NULL)
		send_text(c, c->out, size);
	else
		end(c);
}

static uint64_t collatz_steps(uint64_t n)
{
	uint64_t steps = 0;

	for (; n > 1; steps++)
		n = n % 2 == 0 ? n / 2 : 3 * n + 1;
	return steps;
}

/* One slice of a long computation. The next is an event of low priority: whatever
 * others ask for meanwhile goes first. */
static void compute(void *arg)
{
	struct conn *c = arg;
	struct slow *s = &c->slow;
	int worker = weft_worker_current();
	uint64_t stop = s->next + SLOW_SLICE;
	size_t size;
	char *body;

	s->moves += s->slices++ > 0 && worker != s->worker;
	s->worker = worker;
	while (s->next < stop)
		s->steps += collatz_steps(s->next++);
	if (s->next < SLOW_NUMBERS) {
		weft_event_init(&c->step, c->color, compute, c);
		c->step.priority = WEFT_PRIORITY_LOW;
		weft_event_post(&c->step);
		return;
	}
	body = page_slow(s, &size);
	reply(c, 200, "text/plain", body, size);
}

void conn_answer(void *arg)
{
	struct conn *c = arg;
	const char *path = c->request.path;
	size_t size = 0;
	char *body;

	if (c->status != 200) {
		body = page_status(c->status, &size);
		reply(c, c->status, "text/plain", body, size);
	} else if (strcmp(path, "/") == 0) {
		body = page_home(&c->totals, &size);
		reply(c, 200, "text/html; charset=utf-8", body, size);
	} else if (strcmp(path, "/stats") == 0) {
		body = page_stats(&c->totals, &size);
		reply(c, 200, "application/json", body, size);
	} else if (strcmp(path, "/slow") == 0) {
		c->slow = (struct slow){ .began = weft_now() };
		compute(c);
	} else {
		body = page_status(404, &size);
		reply(c, 404, "text/plain", body, size);
	}
}

/* Requests */

static void forget_input(struct conn *c, size_t size)
{
	c->have -= size;
	memmove(c->in, c->in + size, c->have);
}

/* What is left of the body of the last request is of no use. */
static void skip_body(struct conn *c)
{
	size_t size = c->skip < c->have ? c->skip : c->have;

	c->skip -= size;
	forget_input(c, size);
}

/* Looks at what has come: more must be read, or a request is there. */
static void look(struct conn *c)
{
	skip_body(c);
	c->status = http_parse(c->in, c->have, &c->request);
	if (c->status == 0 && c->last) {
		end(c);
		return;
	}
	if (c->status == 0) {
		weft_op_recv(&c->recv, c->fd, c->in + c->have, sizeof c->in - c->have, 0);
		return;
	}
	weft_timer_cancel(&c->deadline);
	forget_input(c, c->request.head_size);
	c->skip = c->request.body_size;
	conn_go(c, WEFT_MAIN, server_count);
}

static void received(void *arg)
{
	struct conn *c = arg;

	if (c->recv.result <= 0) {
		end(c);
		return;
	}
	c->have += (size_t)c->recv.result;
	look(c);
}

/* The machine is overloaded: called instead of `received`. Says so without even
 * looking at the request. */
static void overloaded(void *arg)
{
	struct conn *c = arg;

	weft_timer_cancel(&c->deadline);
	if (c->recv.result <= 0) {
		end(c);
		return;
	}
	c->last = true;
	send_text(c, busy, sizeof busy - 1);
}

void conn_refuse(int fd)
{
	send(fd, busy, sizeof busy - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	weft_fd_close(fd);
}

void conn_read(void *arg)
{
	struct conn *c = arg;

	weft_timer_start(&c->deadline, READ_TIME);
	look(c);
}

struct conn *conn_new(int fd)
{
	struct conn *c = calloc(1, sizeof *c);

	if (c == NULL)
		return NULL;
	c->color = weft_color_new();
	c->fd = fd;
	weft_op_init(&c->recv, c->color, received, c);
	c->recv.event.drop = overloaded;
	weft_op_init(&c->send, c->color, sent, c);
	weft_event_init(&c->stop, c->color, conn_told_to_stop, c);
	weft_timer_init(&c->deadline, c->color, too_late, c);
	return c;
}

void conn_free(struct conn *c)
{
	if (c->fd >= 0)
		weft_fd_close(c->fd);
	free(c->out);
	free(c);
}
