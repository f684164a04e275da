/* h2.c - a connection by HTTP/2, in rounds: what came, the answers to it, what goes.
 *
 * One thread does all that, and is the only one that knows nghttp2. A handler runs on a stack
 * of its own as soon as its request is whole; what it has said goes in a later round. While
 * handlers run the thread waits for input in a scope, which the next of them that ends
 * cancels: exactly (X1), so nothing that came is lost.
 */
#include "h2.h"

#include <errno.h>

#include <weft/weft.h>

#include "counters.h"
#include "dispatch.h"
#include "h2_session.h"
#include "server.h"
#include "settings.h"

/* How many requests a client may take back before we have had enough, if they are more than
 * those that it let come to their end. */
enum { RESETS = 100 };

/* Frames a client may send for each effect (h2_session.h), once it has sent so many. They cost little:
 * clients may announce each byte that they have taken, for the stream and for the connection, or ask
 * all the time whether we are there. */
enum { FRAMES = 10000, FRAMES_FOR_EFFECT = 100 };

/* A head that is longer than so many of the longest ends the connection; up to there it gets 431.
 * nghttp2 keeps a whole field, which counts nowhere until it has come to its end. */
enum { LONG_HEAD = 2 };

/* So much is sent before we look again at what has come. */
enum { ROUND = 256 << 10 };

/* How often we look whether the server is to stop, while requests are under way. */
#define LOOK_TIME (200 * WEFT_MS)

bool h2_is_built_in(void)
{
	return true;
}

/* Answering */

static void answer_now(struct h2_stream *s)
{
	struct stream none = { .fd = -1 }; /* its bytes go by the session */
	struct exchange x;
	int status;

	x.stream = &none;
	x.peer = &s->session->conn->peer;
	x.h2 = s;
	x.second = 0;
	status = h2_stream_request(s, &x.request);
	x.request.minor = 1;
	exchange_begin(&x);
	x.body_ended = true; /* it was read, as far as HTTP/1 is concerned */
	if (status != 0)
		reply_error(&x, status);
	else
		dispatch(&x);
	if (s->refused != 0)
		reply_error(&x, h2_reply_forget(s));
	s->ended = x.status != 0 && x.ended;
}

/* In a thread of its own; another color than the connection's is the handler's affair. */
static int answer(void *arg)
{
	struct h2_stream *s = arg;
	struct h2_session *session = s->session;

	answer_now(s);
	if (weft_color_current() != session->color)
		weft_hop(session->color);
	h2_forget_body(s);
	if (s->closed) {
		h2_count(session, s);
		h2_forget(session, s);
	} else {
		h2_put(session, s, H2_DONE);
	}
	if (session->waiting != NULL)
		weft_scope_cancel(session->waiting);
	return 0;
}

/* Is there room for another handler, and for what it will say? */
static bool has_room(struct h2_session *session)
{
	return session->count[H2_ANSWERING] < H2_STREAMS &&
	       atomic_load(&session->unsent) < settings.max_unsent / 2;
}

static void answer_ready(struct h2_session *session)
{
	while (session->first[H2_READY] != NULL && has_room(session)) {
		struct h2_stream *s = session->first[H2_READY];

		h2_put(session, s, H2_ANSWERING);
		s->began = weft_now();
		if (weft_async_call(answer, s) < 0) {
			s->error = 503; /* there is no stack for it */
			answer(s);
		}
	}
}

/* Sending and receiving */

/* Sends what may go, but not for long. Nothing is pending afterwards: the wait for input can
 * be cancelled, which no send must be. 1: there is more, 0: that was all, or -Exxx. */
static int send_some(struct h2_session *session)
{
	struct stream *stream = &session->conn->stream;
	size_t sent = 0;
	const uint8_t *data;
	ssize_t n;

	while (sent < ROUND) {
		while (session->first[H2_DONE] != NULL)
			h2_events_reply(session, session->first[H2_DONE]);
		n = nghttp2_session_mem_send(session->h2, &data);
		if (n < 0)
			return -EPROTO;
		if (n == 0)
			return stream_flush(stream);
		if (stream_write(stream, data, (size_t)n) < 0)
			return stream->error;
		sent += (size_t)n;
	}
	return stream_flush(stream) < 0 ? stream->error : 1;
}

/* A client has done what a connection does not survive. */
static int give_up(struct h2_session *session, uint32_t error)
{
	nghttp2_session_terminate_session(session->h2, error);
	return -EPROTO;
}

/* Each head has its time, however small the pieces are that it comes in. */
static void time_head(struct h2_session *session)
{
	if (!h2_frames_in_head(&session->frames)) {
		session->head_until = 0;
	} else if (session->head_until == 0 || session->head_seen != session->frames.heads) {
		session->head_seen = session->frames.heads;
		session->head_until = weft_now() + settings.head_time * WEFT_MS;
	}
}

static int take_input(struct h2_session *session)
{
	struct stream *s = &session->conn->stream;
	const uint8_t *in = (const uint8_t *)s->in + s->begin;
	size_t size = h2_frames_take(&session->frames, in, s->end - s->begin);
	ssize_t n;

	if (session->frames.head_size > LONG_HEAD * settings.max_head)
		return give_up(session, NGHTTP2_ENHANCE_YOUR_CALM);
	n = size > 0 ? nghttp2_session_mem_recv(session->h2, in, size) : 0;
	s->begin += size;
	time_head(session);
	if (n == NGHTTP2_ERR_BAD_CLIENT_MAGIC)
		return give_up(session, NGHTTP2_PROTOCOL_ERROR);
	return n < 0 ? give_up(session, NGHTTP2_ENHANCE_YOUR_CALM) : 0;
}

/* Waits for input until the deadline, or until a handler ends: -ECANCELED. */
static ssize_t await_input(struct h2_session *session, bool at_end, uint64_t deadline)
{
	struct stream *stream = &session->conn->stream;
	weft_scope scope;
	ssize_t n;

	if (session->count[H2_ANSWERING] == 0)
		return at_end ? -ETIMEDOUT : stream_fill(stream, settings.max_head, deadline);
	weft_scope_begin(&scope);
	session->waiting = &scope;
	n = at_end ? weft_sleep_until(deadline) : stream_fill(stream, settings.max_head, deadline);
	session->waiting = NULL;
	weft_scope_end(&scope);
	return n;
}

/* Time */

static bool is_idle(const struct h2_session *session)
{
	for (int i = 0; i < H2_PLACES; i++)
		if (session->first[i] != NULL)
			return false;
	return true;
}

/* Streams that wait for the client. */
static const enum h2_place slow_places[] = { H2_COMING, H2_GOING };

/* When something is late, whatever the client does. */
static uint64_t due_of(const struct h2_session *session)
{
	uint64_t due = is_idle(session) ? session->conn->idle_until : WEFT_FOREVER;

	if (session->head_until != 0 && session->head_until < due)
		due = session->head_until;
	for (int i = 0; i < 2; i++)
		for (struct h2_stream *s = session->first[slow_places[i]]; s != NULL; s = s->next)
			due = s->until < due ? s->until : due;
	return due;
}

static uint64_t deadline_of(const struct h2_session *session)
{
	uint64_t due = due_of(session), look = weft_now() + LOOK_TIME;

	return is_idle(session) || due < look ? due : look;
}

/* Ends late streams. 0, or -EPROTO if a head is late: no other frame can come before its rest. */
static int end_late(struct h2_session *session)
{
	uint64_t now = weft_now();

	if (session->head_until != 0 && session->head_until <= now) {
		count(COUNT_LATE, 1);
		return give_up(session, NGHTTP2_ENHANCE_YOUR_CALM);
	}
	for (int i = 0; i < 2; i++)
		for (struct h2_stream *s = session->first[slow_places[i]]; s != NULL; s = s->next) {
			if (s->until > now)
				continue;
			count(COUNT_LATE, 1);
			s->until = WEFT_FOREVER;
			nghttp2_submit_rst_stream(session->h2, NGHTTP2_FLAG_NONE, s->id,
						  NGHTTP2_CANCEL);
		}
	return 0;
}

/* The connection */

static void say_goaway(struct h2_session *session)
{
	if (session->goaway)
		return;
	session->goaway = true;
	nghttp2_submit_goaway(session->h2, NGHTTP2_FLAG_NONE,
			      nghttp2_session_get_last_proc_stream_id(session->h2),
			      NGHTTP2_NO_ERROR, NULL, 0);
}

/* Replies under way may have to wait for the client to let them go on: so the end of the server
 * is not to end our input. True: there is something to say about that first. */
static bool tell_busy(struct h2_session *session)
{
	bool busy = !is_idle(session);

	if (busy == session->busy)
		return false;
	session->busy = busy;
	return server_set_busy(session->conn->stream.fd, busy) && !session->goaway;
}

/* Has the client done too much that leads nowhere? */
static bool is_enough(const struct h2_session *session)
{
	uint64_t frames = session->frames.count;

	return (session->resets > RESETS && session->resets > session->ended) ||
	       (frames > FRAMES && frames / FRAMES_FOR_EFFECT > session->effects);
}

/* What came, the answers to it, and what goes. As send_some. */
static int do_round(struct h2_session *session)
{
	int rc = take_input(session), sent;

	tell_busy(session); /* before a client can know by the answer that it is */
	answer_ready(session);
	if (rc == 0)
		rc = end_late(session);
	if (is_enough(session))
		rc = give_up(session, NGHTTP2_ENHANCE_YOUR_CALM);
	if (server_is_stopping())
		say_goaway(session);
	sent = send_some(session);
	if (sent == 0 && !nghttp2_session_want_read(session->h2) &&
	    !nghttp2_session_want_write(session->h2))
		return -ESHUTDOWN;
	return rc < 0 ? rc : sent;
}

/* Has the client nothing more to say, and we neither? Requests for which there is no room would wait
 * for ever: replies that do not go now wait for a word of the client. */
static bool is_over(struct h2_session *session, bool at_end)
{
	return at_end && session->first[H2_DONE] == NULL && session->first[H2_ANSWERING] == NULL &&
	       (session->first[H2_READY] == NULL || !has_room(session));
}

/* Waits for input. If nothing can go on without it, the connection can lose its place meanwhile:
 * -ECONNRESET. Requests for which there is no room wait for the client, too: to take replies. */
static ssize_t await_client(struct h2_session *session, bool at_end, bool more)
{
	struct conn_place *place = &session->conn->stream.place;
	ssize_t n;

	if (more || session->count[H2_ANSWERING] > 0)
		return await_input(session, at_end, more ? 0 : deadline_of(session));
	place_sent(place, session->first[H2_GOING] != NULL ? session->went : 0);
	place_wait(place, weft_now());
	do /* a look is no reason to go to the end of those that wait */
		n = await_input(session, at_end, deadline_of(session));
	while (n == -ETIMEDOUT && !server_is_stopping() && weft_now() < due_of(session));
	return place_busy(place) ? n : -ECONNRESET;
}

static void serve_all(struct h2_session *session)
{
	bool at_end = false; /* of the input: a client may have said all, or we have to stop */
	int more;

	while ((more = do_round(session)) >= 0) {
		ssize_t n;

		if (more == 0 && is_over(session, at_end))
			return;
		if (session->first[H2_DONE] != NULL ||
		    (session->first[H2_READY] != NULL && has_room(session)))
			continue;
		if (is_idle(session) && weft_now() >= session->conn->idle_until) {
			count(COUNT_LATE, 1);
			return;
		}
		if (tell_busy(session))
			continue;
		n = await_client(session, at_end, more > 0);
		at_end |= n == 0;
		if (n < 0 && n != -ETIMEDOUT && n != -ECANCELED)
			return;
	}
}

static void free_all(struct h2_session *session)
{
	for (int i = 0; i < H2_PLACES; i++)
		while (session->first[i] != NULL) {
			if (i == H2_DONE || i == H2_GOING)
				h2_count(session, session->first[i]);
			h2_forget(session, session->first[i]);
		}
}

void h2_serve(struct conn *c, struct exchange *x)
{
	struct h2_session session = { .conn = c, .x = x, .color = weft_color_current() };
	struct h2_stream mark = { .id = 0 };
	weft_scope running;

	c->politely = true;
	x->h2 = &mark; /* the log tells by it */
	weft_scope_begin(&running);
	/* Its first request may have come with the preface. */
	if (h2_events_begin(&session) == 0 && place_busy(&c->stream.place))
		serve_all(&session);
	weft_scope_end(&running);
	nghttp2_session_del(session.h2); /* tells of no stream any more */
	free_all(&session);
	x->h2 = NULL;
}
