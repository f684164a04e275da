/* h2.h - HTTP/2, by nghttp2; no_h2.c stands in where it is not built in.
 *
 * A connection is one thread, as with HTTP/1, and each request that is being answered is
 * another, in the connection's color: while one waits the others go on. A reply goes when its
 * handler has ended, beside the others, as the client gives them room. So a handler is
 * written once for both.
 */
#ifndef HTTPD_H2_H
#define HTTPD_H2_H

#include "conn.h"
#include "exchange.h"
#include "file.h"

/* What a client begins with that speaks HTTP/2. */
#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

bool h2_is_built_in(void);

/* Serves a connection to its end. What has come of it already is in its stream. */
void h2_serve(struct conn *c, struct exchange *x);

/* What exchange_read and the reply_... functions do for a request by HTTP/2. */
ssize_t h2_read(struct h2_stream *s, void *buf, size_t size);
int h2_reply_head(struct h2_stream *s, int status, struct text type, uint64_t size,
		  struct text extra, const char *date);
int h2_reply_write(struct h2_stream *s, const void *data, size_t size);
int h2_reply_file(struct h2_stream *s, struct file *file, uint64_t first, uint64_t size);

#endif
