/* h2_stream.h - one request by HTTP/2 and its reply, in memory. */
#ifndef HTTPD_H2_STREAM_H
#define HTTPD_H2_STREAM_H

#include <nghttp2/nghttp2.h>

#include "h2.h"

enum { H2_REPLY_HEADERS = 16 };

/* Bytes that grow. */
struct h2_bytes {
	char *at;
	size_t size, room;
};

struct h2_session;

struct h2_stream {
	int32_t id;
	struct h2_session *session;
	struct h2_stream *next, **at; /* of the list that it is in */
	int place;                    /* enum h2_place */
	uint64_t began;
	uint64_t until; /* then the next part of the request has come, or of the reply gone */
	uint64_t slice; /* bytes of that part so far */

	/* The request: a head as of HTTP/1, so that one parser knows what is right. */
	struct h2_bytes line[4]; /* method, path, authority; the fourth: all other headers */
	struct h2_bytes head;
	size_t head_size; /* of all that came for it */
	struct h2_bytes body;
	size_t body_used;
	size_t skipped; /* bytes of it that came after it was refused */
	int error;      /* status of the error reply that the request is to get, or 0 */
	bool whole;     /* it has come to its end */
	bool closed;    /* nghttp2 has forgotten it, while its handler runs */

	/* The reply. */
	struct h2_bytes text; /* names and values of its headers, one behind the other */
	struct {
		size_t name, value; /* their sizes */
	} headers[H2_REPLY_HEADERS];
	size_t count;
	struct h2_bytes out;
	struct file *file;
	uint64_t at_byte, left; /* of the file, or of `out` */
	uint64_t sent;
	int status;
	int refused;              /* status of the error that it becomes, as it was too much */
	bool ended;               /* the handler has said all */
	struct text verb, target; /* for the log: in `head` */
};

enum { H2_METHOD, H2_PATH, H2_AUTHORITY, H2_OTHERS };

/* How much more memory is needed for `size` bytes more. */
size_t h2_bytes_more(const struct h2_bytes *b, size_t size);
int h2_bytes_add(struct h2_bytes *b, const void *data, size_t size, size_t most);

/* Takes a header of the request. 0, or the status of the error reply. */
int h2_stream_header(struct h2_stream *s, struct text name, struct text value);

/* Builds the request from all headers; may be repeated. 0, or the status of the error reply. */
int h2_stream_request(struct h2_stream *s, struct request *r);

/* All headers have come: is there a reason to wait for the body? */
bool h2_stream_wants_body(struct h2_stream *s);

/* The headers of the reply, for nghttp2. Gives how many. */
size_t h2_stream_headers(const struct h2_stream *s, nghttp2_nv out[H2_REPLY_HEADERS]);

/* The next bytes of the reply's body, for nghttp2. */
ssize_t h2_stream_next(struct h2_stream *s, uint8_t *buf, size_t size, bool *ended);

/* Forgets what the handler said. Gives the status of the error that the client is to get
 * instead, or 0. */
int h2_reply_forget(struct h2_stream *s);

void h2_stream_free(struct h2_stream *s);

#endif
