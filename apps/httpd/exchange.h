/* exchange.h - one request and its reply, as the server itself sees them. handler.h is what
 * handlers see. */
#ifndef HTTPD_EXCHANGE_H
#define HTTPD_EXCHANGE_H

#include <netinet/in.h>
#include <time.h>

#include "chunked.h"
#include "date.h"
#include "file.h"
#include "handler.h"
#include "path.h"
#include "stream.h"

struct exchange {
	struct stream *stream;
	struct sockaddr_storage *peer;
	struct h2_stream *h2; /* NULL: by HTTP/1 */

	struct request request;
	uint64_t body_left;  /* bytes that still come, if the length was said */
	uint64_t body_read;  /* bytes that came */
	uint64_t body_until; /* when body_next bytes must have come */
	uint64_t body_next;
	struct chunked chunked;
	bool body_ended;

	int status; /* of the reply; 0: it has not begun */
	bool keep_alive;
	bool in_chunks; /* the body of the reply is */
	bool ended;

	/* The date as text, for one second. */
	time_t second;
	char date[DATE_SIZE];

	char path[PATH_ROOM]; /* of the file that is asked for, if one is */
};

/* Gets ready for the body of the request that was read. */
void exchange_begin(struct exchange *x);

/* Reads the rest of the body, if that is short, so that the next request can be found
 * behind it. 0, or the status of the error reply. */
int exchange_skip_body(struct exchange *x);

/* Writes the head of a reply. `size` is that of the body, or REPLY_UNKNOWN; `extra` is
 * headers. */
#define REPLY_UNKNOWN UINT64_MAX
int reply_head(struct exchange *x, int status, struct text type, uint64_t size, struct text extra);

/* Sends bytes of the body, or of a file, if the client wants the body. */
int reply_body(struct exchange *x, const void *data, size_t size);
int reply_part(struct exchange *x, struct file *file, uint64_t first, uint64_t size);

/* An error that ends the connection, as nobody knows where the next request begins. */
int reply_error(struct exchange *x, int status);

const char *reply_reason(int status);

#endif
