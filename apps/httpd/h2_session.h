/* h2_session.h - a connection by HTTP/2: what h2_events.c learns of it from nghttp2, and
 * h2.c then does. All of it is used in the connection's color only. */
#ifndef HTTPD_H2_SESSION_H
#define HTTPD_H2_SESSION_H

#include <weft/scope.h>

#include "h2_frames.h"
#include "h2_stream.h"

/* Requests at one time. One that was taken back counts until its handler has ended. */
enum { H2_STREAMS = 100 };

/* A stream is in one list, by what it waits for. */
enum h2_place {
	H2_COMING,    /* the rest of the request */
	H2_READY,     /* a handler */
	H2_ANSWERING, /* its handler */
	H2_DONE,      /* nghttp2 to be told of the reply */
	H2_GOING,     /* the client to take the reply */
	H2_PLACES,
};

struct h2_session {
	nghttp2_session *h2;
	struct conn *conn;
	struct exchange *x; /* for what is not a handler's: lines of the log */
	weft_color color;
	struct h2_stream *first[H2_PLACES], **last[H2_PLACES];
	unsigned count[H2_PLACES];
	struct h2_frames frames;
	uint64_t head_seen, head_until; /* the number of the head under way; its deadline, or 0 */
	int32_t opened;                 /* the highest number of a stream so far */
	int32_t skipped, skipped_end;   /* the last gap in the numbers: from, and before */
	size_t heads, bodies;           /* bytes of all requests */
	_Atomic size_t unsent;          /* bytes of handlers' replies; the handlers add to it */
	_Atomic size_t kept;            /* memory of all streams, see h2_keep */
	uint64_t resets, ended;         /* streams that came to a bad end, and to a good one */
	uint64_t effects;               /* requests, pieces of bodies, bytes of replies */
	uint64_t went;                  /* when the last piece of a reply's body did */
	weft_scope *waiting;            /* the wait for input, if it is to end when a handler has */
	bool goaway;                    /* was said */
	bool busy;                      /* as the server was told */
};

void h2_put(struct h2_session *session, struct h2_stream *s, enum h2_place place);

/* Ends a stream for good: it is in no list afterwards. */
void h2_forget(struct h2_session *session, struct h2_stream *s);

/* Memory of a stream and of what belongs to it, nghttp2's part too, beyond what is counted by its
 * size. */
enum { H2_STREAM_COST = 2048 };

/* Counts bytes of requests or replies that are to be kept in memory. False: there is no room. Each
 * connection may always keep a stream and as much as the longest head; only what it keeps beyond
 * that counts toward the limit of the whole server. From any color. */
bool h2_keep(struct h2_session *session, size_t size);
void h2_let_go(struct h2_session *session, size_t size);

/* Forgets the body of a request: its handler has ended, or it will have none. */
void h2_forget_body(struct h2_stream *s);

/* Makes nghttp2's session, which calls us back. 0 or its error. */
int h2_events_begin(struct h2_session *session);

/* Tells nghttp2 of a reply that is done. */
void h2_events_reply(struct h2_session *session, struct h2_stream *s);

/* Counts a reply, and puts it into the log. */
void h2_count(struct h2_session *session, const struct h2_stream *s);

#endif
