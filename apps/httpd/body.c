/* body.c - reads the bodies of requests. */
#include <errno.h>

#include <weft/weft.h>

#include "exchange.h"
#include "h2.h"
#include "settings.h"

/* What is thrown away to keep a connection; and how much must come in body_time. */
enum { SKIPPED_MOST = 65536, SLICE = 65536 };

void exchange_begin(struct exchange *x)
{
	const struct request *r = &x->request;

	x->body_left = r->length;
	x->body_read = 0;
	x->body_ended = !request_has_body(r);
	x->body_until = x->body_next = 0;
	x->chunked = (struct chunked){ 0 };
	x->status = 0;
	x->keep_alive = r->keep_alive;
	x->in_chunks = false;
	x->ended = false;
}

/* The client waits for a word before it sends its body. */
static int say_continue(struct exchange *x)
{
	static const char word[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct stream *s = x->stream;

	if (!x->request.expects_continue || x->body_read > 0 || x->request.minor == 0 ||
	    s->begin < s->end)
		return 0;
	x->request.expects_continue = false;
	return stream_write(s, word, sizeof word - 1);
}

/* Each slice has its time, however small the pieces are that it comes in. */
static uint64_t body_deadline(struct exchange *x)
{
	if (x->body_until == 0 || x->body_read >= x->body_next) {
		x->body_until = weft_now() + settings.body_time * WEFT_MS;
		x->body_next = x->body_read + SLICE;
	}
	return x->body_until;
}

static int need_more(struct exchange *x)
{
	struct stream *s = x->stream;
	ssize_t n;
	int rc;

	if (s->begin < s->end)
		return 0;
	rc = say_continue(x);
	if (rc == 0)
		rc = stream_flush(s); /* which may wait, too */
	if (rc < 0)
		return rc;
	place_wait(&s->place, weft_now());
	n = stream_fill(s, s->in_size, body_deadline(x));
	if (n == 0 || !place_busy(&s->place))
		return -ECONNRESET;
	return n < 0 ? (int)n : 0;
}

static int count_body(struct exchange *x, size_t size)
{
	x->body_read += size;
	return x->body_read > settings.max_body ? -EMSGSIZE : 0;
}

/* The next piece of the body within the buffer, of at most `size` bytes. Empty: it has
 * ended. */
static int next_piece(struct exchange *x, size_t size, struct text *piece)
{
	struct stream *s = x->stream;
	int rc;

	*piece = (struct text){ NULL, 0 };
	while (!x->body_ended) {
		size_t have, used;

		rc = need_more(x);
		if (rc < 0)
			return rc;
		have = s->end - s->begin;
		if (!x->request.chunked) {
			size = size < have ? size : have;
			size = size < x->body_left ? size : (size_t)x->body_left;
			*piece = (struct text){ s->in + s->begin, size };
			s->begin += size;
			x->body_left -= size;
			x->body_ended = x->body_left == 0;
			return count_body(x, size);
		}
		have = have < size ? have : size;
		switch (chunked_next(&x->chunked, s->in + s->begin, have, &used, piece)) {
		case CHUNKED_DATA:
			s->begin += used;
			return count_body(x, piece->size);
		case CHUNKED_BAD:
			return -EBADMSG;
		case CHUNKED_END:
			x->body_ended = true;
			break;
		default:
			break;
		}
		s->begin += used;
	}
	return 0;
}

ssize_t exchange_read(struct exchange *x, void *buf, size_t size)
{
	struct text piece;
	int rc;

	if (x->h2 != NULL)
		return h2_read(x->h2, buf, size);
	rc = next_piece(x, size, &piece);

	if (rc < 0) {
		x->keep_alive = false;
		return rc;
	}
	if (piece.size > 0)
		memcpy(buf, piece.at, piece.size);
	return (ssize_t)piece.size;
}

int exchange_skip_body(struct exchange *x)
{
	struct text piece;
	int rc;

	if (x->body_ended)
		return 0;
	/* One that waits for a word will not send it; nor is it worth much waiting. */
	if (x->request.expects_continue || (!x->request.chunked && x->body_left > SKIPPED_MOST)) {
		x->keep_alive = false;
		return 0;
	}
	while (!x->body_ended) {
		rc = next_piece(x, SLICE, &piece);
		if (rc == -EBADMSG)
			return 400;
		if (rc < 0 || x->body_read > SKIPPED_MOST) {
			x->keep_alive = false;
			return rc == -EMSGSIZE ? 413 : rc == -ETIMEDOUT ? 408 : 0;
		}
	}
	return 0;
}
