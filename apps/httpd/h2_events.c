/* h2_events.c - what nghttp2 tells of a connection, and what it is told of replies. */
#include <stdlib.h>

#include <weft/weft.h>

#include "dispatch.h"
#include "h2_session.h"
#include "settings.h"

/* So much of a body must come within body_time, and of a reply go within send_time. */
enum { BODY_SLICE = 65536, SEND_SLICE = 256 << 10 };

/* So many bytes of a reply are an effect: clients may answer each by two frames. */
enum { EFFECT = 50 };

/* Bytes of a body that is refused, which are thrown away. */
enum { SKIPPED_MOST = 1 << 20 };

/* A head takes up to so many times its size: buffers grow by doubling. */
enum { HEAD_ROOM = 2 };

/* All heads of a connection's requests may take as much as so many of the longest. */
enum { HEADS_MOST = 16 };

/* Lists */

static void take_off(struct h2_session *session, struct h2_stream *s)
{
	*s->at = s->next;
	if (s->next != NULL)
		s->next->at = s->at;
	else
		session->last[s->place] = s->at;
	session->count[s->place]--;
}

static void append(struct h2_session *session, struct h2_stream *s, enum h2_place place)
{
	s->place = place;
	s->next = NULL;
	s->at = session->last[place];
	*s->at = s;
	session->last[place] = &s->next;
	session->count[place]++;
}

void h2_put(struct h2_session *session, struct h2_stream *s, enum h2_place place)
{
	take_off(session, s);
	append(session, s, place);
}

void h2_forget(struct h2_session *session, struct h2_stream *s)
{
	take_off(session, s);
	session->heads -= s->head_size;
	h2_let_go(session, H2_STREAM_COST + HEAD_ROOM * s->head_size);
	h2_forget_body(s);
	h2_reply_forget(s);
	h2_stream_free(s);
	session->conn->idle_until = weft_now() + settings.idle_time * WEFT_MS;
}

void h2_count(struct h2_session *session, const struct h2_stream *s)
{
	session->conn->requests++;
	session->x->status = s->status;
	session->x->request.verb = s->verb;
	session->x->request.target = s->target;
	count_reply(session->x, s->sent, weft_now() - s->began);
}

/* Requests */

static void allow(struct h2_stream *s, uint64_t ms)
{
	s->until = weft_now() + ms * WEFT_MS;
	s->slice = 0;
}

/* What is left of the request is not wanted any more. */
static void fail(struct h2_stream *s, int status)
{
	s->error = status;
	h2_forget_body(s);
	h2_put(s->session, s, H2_READY);
}

/* Streams must be opened in the order of their numbers (RFC 9113, 5.1.1). nghttp2 ignores HEADERS
 * for a lower number: they could be trailers of a stream that it has forgotten. A number in the
 * last gap that the client left was never a stream, so HEADERS for it are an error. */
static WEFT_NO_WAIT int on_begin_frame(nghttp2_session *h2, const nghttp2_frame_hd *frame,
				       void *arg)
{
	struct h2_session *session = arg;
	int32_t id = frame->stream_id;

	if (frame->type != NGHTTP2_HEADERS)
		return 0;
	if (id >= session->skipped && id < session->skipped_end)
		return nghttp2_session_terminate_session(h2, NGHTTP2_PROTOCOL_ERROR);
	if (id > session->opened + 2) {
		session->skipped = session->opened + 1;
		session->skipped_end = id;
	}
	session->opened = id > session->opened ? id : session->opened;
	return 0;
}

/* There is no room for the stream; the client may try again, and is not to blame. Too many frames
 * without effect end the connection all the same. */
static int refuse(struct h2_session *session, int32_t id)
{
	return nghttp2_submit_rst_stream(session->h2, NGHTTP2_FLAG_NONE, id,
					 NGHTTP2_REFUSED_STREAM);
}

static WEFT_NO_WAIT int on_begin(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct h2_session *session = arg;
	struct h2_stream *s;

	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	if (!h2_keep(session, H2_STREAM_COST))
		return refuse(session, frame->hd.stream_id);
	s = calloc(1, sizeof *s);
	if (s == NULL) {
		h2_let_go(session, H2_STREAM_COST);
		return refuse(session, frame->hd.stream_id);
	}
	s->id = frame->hd.stream_id;
	s->session = session;
	allow(s, settings.head_time);
	append(session, s, H2_COMING);
	session->effects++;
	return nghttp2_session_set_stream_user_data(h2, s->id, s);
}

static WEFT_NO_WAIT int on_header(nghttp2_session *h2, const nghttp2_frame *frame,
				  const uint8_t *name, size_t name_size, const uint8_t *value,
				  size_t value_size, uint8_t flags, void *arg)
{
	struct h2_stream *s = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
	struct h2_session *session = arg;
	size_t size = name_size + value_size + sizeof ": \r\n" - 1;

	(void)flags;
	if (s == NULL || s->error != 0 || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0; /* trailers mean nothing to us */
	if (s->head_size + size > settings.max_head) {
		s->error = 431;
	} else if (session->heads + size > HEADS_MOST * settings.max_head ||
		   !h2_keep(session, HEAD_ROOM * size)) {
		s->error = 503;
	} else {
		s->head_size += size;
		session->heads += size;
		s->error = h2_stream_header(s, (struct text){ (const char *)name, name_size },
					    (struct text){ (const char *)value, value_size });
	}
	return 0;
}

/* Who has sent more than we wanted has been told so, or will be. Some clients look for the answer
 * only when they have sent all: they may for a while. */
static void skip(struct h2_stream *s, size_t size)
{
	bool enough = s->skipped > SKIPPED_MOST;

	s->skipped += size;
	if (!enough && s->skipped > SKIPPED_MOST)
		nghttp2_submit_rst_stream(s->session->h2, NGHTTP2_FLAG_NONE, s->id,
					  NGHTTP2_NO_ERROR);
}

/* All requests of a connection together may have bodies as long as one may. */
static WEFT_NO_WAIT int on_data(nghttp2_session *h2, uint8_t flags, int32_t id, const uint8_t *data,
				size_t size, void *arg)
{
	struct h2_session *session = arg;
	struct h2_stream *s = nghttp2_session_get_stream_user_data(h2, id);
	size_t more;

	(void)flags;
	if (s == NULL)
		return 0;
	more = h2_bytes_more(&s->body, size);
	if (s->place != H2_COMING) {
		skip(s, size);
	} else if (s->body.size + size > settings.max_body) {
		fail(s, 413);
	} else if (session->bodies + size > settings.max_body || !h2_keep(session, more)) {
		fail(s, 503);
	} else if (h2_bytes_add(&s->body, data, size, SIZE_MAX) < 0) {
		h2_let_go(session, more);
		fail(s, 503);
	} else {
		session->bodies += size;
		session->effects++;
		s->slice += size;
		if (s->slice >= BODY_SLICE)
			allow(s, settings.body_time);
	}
	return 0;
}

static WEFT_NO_WAIT int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct h2_stream *s;

	(void)arg;
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	s = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
	if (s == NULL)
		return 0;
	if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		s->whole = true;
	if (s->place != H2_COMING)
		return 0;
	if (s->whole || s->error != 0)
		h2_put(s->session, s, H2_READY);
	else if (frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	else if (h2_stream_wants_body(s))
		allow(s, settings.body_time);
	else
		h2_put(s->session, s, H2_READY);
	return 0;
}

static WEFT_NO_WAIT int on_close(nghttp2_session *h2, int32_t id, uint32_t error, void *arg)
{
	struct h2_session *session = arg;
	struct h2_stream *s = nghttp2_session_get_stream_user_data(h2, id);

	if (s == NULL)
		return 0;
	if (error == NGHTTP2_NO_ERROR)
		session->ended++;
	else
		session->resets++;
	s->closed = true;
	if (s->place == H2_ANSWERING)
		return 0; /* its handler does not know of it, and ends some time */
	if (s->place == H2_DONE || s->place == H2_GOING)
		h2_count(session, s);
	h2_forget(session, s);
	return 0;
}

/* Replies */

/* Reading the file may wait for the disk: no other thread calls nghttp2 for this connection. */
static ssize_t on_read(nghttp2_session *h2, int32_t id, uint8_t *buf, size_t size, uint32_t *flags,
		       nghttp2_data_source *source, void *arg)
{
	struct h2_stream *s = source->ptr;
	bool ended = false;
	ssize_t n = h2_stream_next(s, buf, size, &ended);

	(void)h2;
	(void)id;
	(void)arg;
	if (n < 0)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	s->session->effects += 1 + (uint64_t)n / EFFECT;
	s->session->went = weft_now();
	s->slice += (uint64_t)n;
	if (s->slice >= SEND_SLICE)
		allow(s, settings.send_time);
	if (ended)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return n;
}

void h2_events_reply(struct h2_session *session, struct h2_stream *s)
{
	nghttp2_data_provider body = { .source.ptr = s, .read_callback = on_read };
	nghttp2_nv headers[H2_REPLY_HEADERS];
	size_t count = h2_stream_headers(s, headers);

	h2_put(session, s, H2_GOING);
	allow(s, settings.send_time);
	if (!s->ended || nghttp2_submit_response(session->h2, s->id, headers, count,
						 s->left > 0 ? &body : NULL) != 0)
		nghttp2_submit_rst_stream(session->h2, NGHTTP2_FLAG_NONE, s->id,
					  NGHTTP2_INTERNAL_ERROR);
}

/* The session */

static void set_callbacks(nghttp2_session_callbacks *c)
{
	nghttp2_session_callbacks_set_on_begin_frame_callback(c, on_begin_frame);
	nghttp2_session_callbacks_set_on_begin_headers_callback(c, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(c, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(c, on_close);
}

int h2_events_begin(struct h2_session *session)
{
	const nghttp2_settings_entry entries[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, H2_STREAMS },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)settings.max_head },
	};
	nghttp2_session_callbacks *callbacks;
	int rc = nghttp2_session_callbacks_new(&callbacks);

	h2_frames_begin(&session->frames);
	session->opened = -1;
	for (int i = 0; i < H2_PLACES; i++)
		session->last[i] = &session->first[i];
	if (rc != 0)
		return rc;
	set_callbacks(callbacks);
	rc = nghttp2_session_server_new(&session->h2, callbacks, session);
	nghttp2_session_callbacks_del(callbacks);
	return rc != 0 ? rc
		       : nghttp2_submit_settings(session->h2, NGHTTP2_FLAG_NONE, entries,
						 sizeof entries / sizeof *entries);
}
