/* h2.c - a connection by HTTP/2: what nghttp2 tells becomes requests, replies go to it. */
#include "h2.h"

#include <errno.h>
#include <stdlib.h>

#include <weft/weft.h>

#include "counters.h"
#include "dispatch.h"
#include "h2_stream.h"
#include "server.h"
#include "settings.h"

/* Requests at one time; and how many a client may take back before we have had enough. */
enum { STREAMS = 100, RESETS = 100 };

/* A client must take so much within send_time. */
enum { SLICE = 256 << 10 };

struct session {
	nghttp2_session *h2;
	struct conn *conn;
	struct exchange *x;
	struct h2_stream *coming, *ready, *going; /* lists, by what is missing */
	size_t bodies;                            /* bytes of all bodies that are kept */
	uint64_t resets, answered;
	uint64_t until; /* then a request or reply has come to its end, or a slice has gone */
	uint64_t slice; /* bytes that have gone of it */
};

bool h2_is_built_in(void)
{
	return true;
}

/* Lists */

static void take_off(struct h2_stream *s)
{
	*s->at = s->next;
	if (s->next != NULL)
		s->next->at = s->at;
}

static void put(struct h2_stream *s, struct h2_stream **list)
{
	s->next = *list;
	s->at = list;
	if (s->next != NULL)
		s->next->at = &s->next;
	*list = s;
}

static void put_last(struct h2_stream *s, struct h2_stream **list)
{
	while (*list != NULL)
		list = &(*list)->next;
	put(s, list);
}

static void free_all(struct h2_stream *s)
{
	while (s != NULL) {
		struct h2_stream *next = s->next;

		h2_stream_free(s);
		s = next;
	}
}

/* What nghttp2 tells */

static void progress(struct session *session)
{
	session->until = weft_now() + settings.send_time * WEFT_MS;
	session->slice = 0;
}

static int on_begin(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct session *session = arg;
	struct h2_stream *s;

	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	s = calloc(1, sizeof *s);
	if (s == NULL)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	s->id = frame->hd.stream_id;
	put(s, &session->coming);
	return nghttp2_session_set_stream_user_data(h2, s->id, s);
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
		     void *arg)
{
	struct h2_stream *s = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);

	(void)arg;
	(void)flags;
	if (s == NULL || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0; /* trailers mean nothing to us */
	if (h2_stream_header(s, (struct text){ (const char *)name, name_size },
			     (struct text){ (const char *)value, value_size }) < 0)
		s->error = 431;
	return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t id, const uint8_t *data, size_t size,
		   void *arg)
{
	struct session *session = arg;
	struct h2_stream *s = nghttp2_session_get_stream_user_data(h2, id);

	(void)flags;
	if (s == NULL || s->error != 0)
		return 0;
	/* All requests of a connection together may have what one may. */
	if (session->bodies + size > settings.max_body ||
	    h2_bytes_add(&s->body, data, size, SIZE_MAX) < 0) {
		s->error = 413;
		return 0;
	}
	session->bodies += size;
	return 0;
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct session *session = arg;
	struct h2_stream *s;

	if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
	    !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		return 0;
	s = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
	if (s == NULL)
		return 0;
	take_off(s);
	put_last(s, &session->ready);
	progress(session);
	return 0;
}

static int on_close(nghttp2_session *h2, int32_t id, uint32_t error, void *arg)
{
	struct session *session = arg;
	struct h2_stream *s = nghttp2_session_get_stream_user_data(h2, id);

	if (s == NULL)
		return 0;
	session->resets += error != NGHTTP2_NO_ERROR;
	session->bodies -= s->body.size;
	if (s->answered) {
		session->x->status = s->status;
		session->x->request.verb = s->verb;
		session->x->request.target = s->target;
		count_reply(session->x, s->sent, weft_now() - s->began);
		progress(session);
	}
	take_off(s);
	h2_stream_free(s);
	return 0;
}

static ssize_t on_read(nghttp2_session *h2, int32_t id, uint8_t *buf, size_t size, uint32_t *flags,
		       nghttp2_data_source *source, void *arg)
{
	struct session *session = arg;
	bool ended = false;
	ssize_t n = h2_stream_next(source->ptr, buf, size, &ended);

	(void)h2;
	(void)id;
	if (n < 0)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	session->slice += (uint64_t)n;
	if (session->slice >= SLICE)
		progress(session);
	if (ended)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return n;
}

/* Answering */

static void answer(struct session *session, struct h2_stream *s)
{
	nghttp2_data_provider body = { .source.ptr = s, .read_callback = on_read };
	struct exchange *x = session->x;
	int status;

	s->began = weft_now();
	status = h2_stream_request(s, &x->request);
	x->request.minor = 1;
	exchange_begin(x);
	x->body_ended = true; /* it was read, as far as HTTP/1 is concerned */
	x->h2 = s;
	if (status != 0)
		reply_error(x, status);
	else
		dispatch(x);
	session->answered++;
	s->answered = true;
	if (x->status == 0 || !x->ended ||
	    nghttp2_submit_response(session->h2, s->id, s->headers, s->count,
				    s->left > 0 ? &body : NULL) != 0)
		nghttp2_submit_rst_stream(session->h2, NGHTTP2_FLAG_NONE, s->id,
					  NGHTTP2_INTERNAL_ERROR);
}

static void answer_all(struct session *session)
{
	while (session->ready != NULL) {
		struct h2_stream *s = session->ready;

		take_off(s);
		put(s, &session->going);
		answer(session, s);
	}
}

/* The connection */

static int send_all(struct session *session)
{
	struct stream *stream = &session->conn->stream;
	const uint8_t *data;
	ssize_t n;

	while ((n = nghttp2_session_mem_send(session->h2, &data)) > 0)
		if (stream_write(stream, data, (size_t)n) < 0)
			return stream->error;
	return n < 0 ? -EPROTO : stream_flush(stream);
}

static int take_input(struct session *session)
{
	struct stream *s = &session->conn->stream;
	ssize_t n = nghttp2_session_mem_recv(session->h2, (const uint8_t *)s->in + s->begin,
					     s->end - s->begin);

	s->begin = s->end;
	return n < 0 ? -EPROTO : 0;
}

static uint64_t deadline_of(const struct session *session)
{
	bool busy = session->coming != NULL || session->going != NULL;

	return busy ? session->until : session->conn->idle_until;
}

/* One round: what came, the answers to it, and then more. False: that was the end. */
static bool serve_round(struct session *session)
{
	struct conn *c = session->conn;
	int rc = take_input(session);
	ssize_t n;

	if (rc == 0)
		answer_all(session);
	if (session->resets > RESETS && session->resets > session->answered) {
		nghttp2_session_terminate_session(session->h2, NGHTTP2_ENHANCE_YOUR_CALM);
		rc = -EPROTO;
	}
	if (server_is_stopping())
		nghttp2_submit_goaway(session->h2, NGHTTP2_FLAG_NONE,
				      nghttp2_session_get_last_proc_stream_id(session->h2),
				      NGHTTP2_NO_ERROR, NULL, 0);
	if (send_all(session) < 0 || rc < 0 ||
	    (!nghttp2_session_want_read(session->h2) && !nghttp2_session_want_write(session->h2)))
		return false;
	if (session->coming == NULL && session->going == NULL)
		c->idle_until = weft_now() + settings.idle_time * WEFT_MS;
	n = stream_fill(&c->stream, settings.max_head, deadline_of(session));
	if (n == -ETIMEDOUT)
		count(COUNT_LATE, 1);
	return n > 0;
}

static int begin(struct session *session)
{
	static const nghttp2_settings_entry entries[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS },
	};
	nghttp2_session_callbacks *callbacks;
	int rc = nghttp2_session_callbacks_new(&callbacks);

	if (rc != 0)
		return rc;
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	rc = nghttp2_session_server_new(&session->h2, callbacks, session);
	nghttp2_session_callbacks_del(callbacks);
	return rc != 0 ? rc
		       : nghttp2_submit_settings(session->h2, NGHTTP2_FLAG_NONE, entries,
						 sizeof entries / sizeof *entries);
}

void h2_serve(struct conn *c, struct exchange *x)
{
	struct session session = { .conn = c, .x = x };

	c->politely = true;
	progress(&session);
	if (begin(&session) == 0)
		while (serve_round(&session))
			;
	nghttp2_session_del(session.h2); /* tells of no stream any more */
	free_all(session.coming);
	free_all(session.ready);
	free_all(session.going);
	x->h2 = NULL;
}
