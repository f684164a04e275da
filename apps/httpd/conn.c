/* conn.c - reads requests one by one, has them answered, counts them.
 *
 * While requests come, a connection is in burst(), and has a buffer for them. When none has
 * come for a while it waits outside of it, with a stack of a page or two. While one is answered it
 * has a desk.
 */
#include "conn.h"

#include <errno.h>

#include <weft/weft.h>

#include "counters.h"
#include "desk.h"
#include "dispatch.h"
#include "exchange.h"
#include "h2.h"
#include "log.h"
#include "settings.h"

/* Without a request for so long, memory is given back. */
#define BURST_PAUSE WEFT_SEC

enum next { NEXT_REQUEST, NEXT_IDLE, NEXT_END, NEXT_H2 };

/* Clients may send an empty line before a request. One: a second is a bad request. */
static bool skip_empty_line(struct stream *s)
{
	if (s->end - s->begin < 2 || s->in[s->begin] != '\r' || s->in[s->begin + 1] != '\n')
		return false;
	s->begin += 2;
	return true;
}

/* Gives the exchange at its desk, or NULL: there is no memory for one. */
static struct exchange *sit_down(struct conn *c)
{
	struct exchange *x;

	if (c->desk == NULL) {
		c->desk = desk_take();
		if (c->desk == NULL)
			return NULL;
		x = &c->desk->x;
		x->stream = &c->stream;
		x->peer = &c->peer;
		x->h2 = NULL;
		c->stream.out = c->desk->out;
	}
	return &c->desk->x;
}

/* Sends what is pending, and leaves the desk. 0 or the error of sending. */
static int get_up(struct conn *c)
{
	if (c->desk == NULL)
		return 0;
	stream_flush(&c->stream);
	c->stream.out = NULL;
	desk_leave(c->desk);
	c->desk = NULL;
	return c->stream.error;
}

/* What an error reply, and the log, tell of a request that never came. */
static void forget_request(struct exchange *x)
{
	x->request.method = METHOD_GET;
	x->request.minor = 1;
	x->request.count = 0;
	x->request.verb = x->request.target = (struct text){ NULL, 0 };
}

static void answer_error(struct conn *c, struct exchange *x, int status)
{
	uint64_t before = c->stream.sent + c->stream.pending;

	reply_error(x, status);
	c->politely = true;
	count_reply(x, c->stream.sent + c->stream.pending - before, 0);
}

/* The same, when there is no request. */
static void complain(struct conn *c, int status)
{
	struct exchange *x = sit_down(c);

	if (x == NULL)
		return;
	forget_request(x);
	answer_error(c, x, status);
}

/* The client was too slow, sent too much or is gone. */
static enum next no_head(struct conn *c, ssize_t error)
{
	const struct stream *s = &c->stream;
	bool begun = s->end > s->begin;

	if (s->error != 0)
		return NEXT_END;

	if (error == -ETIMEDOUT) {
		if (!begun && weft_now() < c->idle_until)
			return NEXT_IDLE;
		count(COUNT_LATE, 1);
		if (begun)
			complain(c, 408);
	} else if (error == -EMSGSIZE) {
		bool in_line = memchr(s->in + s->begin, '\n', s->end - s->begin) == NULL;

		complain(c, in_line ? 414 : 431);
	} else if (error == -ENOMEM) {
		complain(c, 503);
	}
	return NEXT_END;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* From now on the connection can lose its place. It keeps the place while the next request is in
 * the buffer already. */
static void wait_for_client(struct conn *c)
{
	if (c->busy)
		place_wait(&c->stream.place, weft_now());
	c->busy = false;
}

/* Waits until a whole head is there. Its size, or 0 and what comes next instead. */
static size_t await_head(struct conn *c, enum next *next)
{
	struct stream *s = &c->stream;
	uint64_t until = 0; /* for the head, once it has begun */
	size_t looked_at = 0, size;
	bool skipped = false;
	ssize_t n;

	s->floor = 0;
	for (;;) {
		if (looked_at < 2) { /* half an empty line may have been looked at */
			skipped = skipped || skip_empty_line(s);
			looked_at = 0;
		}
		size = request_head_size(s->in + s->begin, s->end - s->begin, &looked_at);
		if (size > 0)
			return size;
		if (s->begin < s->end && until == 0)
			until = weft_now() + settings.head_time * WEFT_MS;
		n = get_up(c);
		wait_for_client(c);
		if (n == 0)
			n = stream_fill(s, settings.max_head,
					until != 0 ? until : least(c->idle_until, c->pause_until));
		if (n <= 0) {
			*next = no_head(c, n);
			return 0;
		}
	}
}

/* HTTP/2 begins with something like a head of HTTP/1. */
static bool is_preface(const char *head, size_t size)
{
	return h2_is_built_in() && size < sizeof H2_PREFACE && memcmp(head, H2_PREFACE, size) == 0;
}

static enum next read_request(struct conn *c)
{
	struct stream *s = &c->stream;
	enum next next = NEXT_END;
	size_t size = await_head(c, &next);
	struct exchange *x;
	int status;

	if (size == 0)
		return next;
	if (c->requests == 0 && is_preface(s->in + s->begin, size))
		return NEXT_H2;
	x = sit_down(c);
	if (x == NULL)
		return NEXT_END;
	forget_request(x);
	status = request_parse(&x->request, s->in + s->begin, size, (unsigned)settings.max_headers);
	if (status == 0 && request_has_body(&x->request)) {
		if (stream_body_room(s, size) < 0)
			status = 503;
		else
			request_parse(&x->request, s->in + s->begin, size,
				      (unsigned)settings.max_headers);
	}
	exchange_begin(x);
	if (status != 0) {
		answer_error(c, x, status);
		return NEXT_END;
	}
	s->begin += size;
	s->floor = s->begin;
	return NEXT_REQUEST;
}

/* Has the request answered. False: it was the last. */
static bool answer(struct conn *c)
{
	struct stream *s = &c->stream;
	struct exchange *x = &c->desk->x;
	uint64_t began = weft_now(), before = s->sent + s->pending, ended;
	bool asked_to_close = !x->request.keep_alive;

	if (!c->busy && !place_busy(&s->place))
		return false;
	c->busy = true;
	c->requests++;
	if (c->requests == settings.max_requests)
		x->keep_alive = false;
	dispatch(x);
	s->last = !x->keep_alive;
	if (s->begin == s->end) /* else the next reply may go with it */
		stream_flush(s);
	ended = weft_now();
	c->idle_until = ended + settings.idle_time * WEFT_MS;
	c->pause_until = ended + BURST_PAUSE;
	count_reply(x, s->sent + s->pending - before, ended - began);
	if (s->error != 0)
		count(s->error == -ETIMEDOUT ? COUNT_LATE : COUNT_BROKEN, 1);
	c->politely = !asked_to_close || !x->body_ended || s->begin < s->end;
	return x->keep_alive && s->error == 0;
}

static void serve_h2(struct conn *c)
{
	struct exchange *x = sit_down(c);

	if (x == NULL)
		return;
	forget_request(x);
	h2_serve(c, x);
}

/* Answers requests as long as they come. False: that was the end. */
static bool burst(struct conn *c)
{
	char in[STREAM_IN];
	enum next next;

	stream_lend(&c->stream, in);
	c->pause_until = weft_now() + BURST_PAUSE;
	if (c->stream.tls != NULL && tls_chose_h2(c->stream.tls)) {
		next = NEXT_H2;
	} else {
		do
			next = read_request(c);
		while (next == NEXT_REQUEST && answer(c));
	}
	if (next == NEXT_H2)
		serve_h2(c);
	get_up(c);
	stream_take_back(&c->stream);
	return next == NEXT_IDLE;
}

/* The first request must begin within the time for a head: most connections that stay silent are
 * not from real clients. */
void conn_serve(struct conn *c)
{
	c->idle_until = weft_now() + settings.head_time * WEFT_MS;
	while (burst(c) && stream_idle(&c->stream, c->idle_until) == 0)
		;
}
