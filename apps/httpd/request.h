/* request.h - reads the head of a request: its line and its headers (RFC 9112).
 *
 * It is strict. What two servers could understand in two ways is an error here, so that
 * nobody can smuggle a request past a proxy that understands it otherwise: lines end with
 * CR LF, a length is said once and in one way, names have no spaces behind them.
 *
 * Nothing is copied: all texts point into the head.
 */
#ifndef HTTPD_REQUEST_H
#define HTTPD_REQUEST_H

#include <stdint.h>

#include "text.h"

enum { REQUEST_HEADERS_MAX = 100 };

enum method {
	METHOD_GET,
	METHOD_HEAD,
	METHOD_POST,
	METHOD_PUT,
	METHOD_DELETE,
	METHOD_OPTIONS,
	METHOD_PATCH,
	METHOD_TRACE,
	METHOD_CONNECT,
	METHOD_OTHER,
};

struct header {
	struct text name, value;
};

struct request {
	enum method method;
	struct text verb;   /* the method, as it was sent */
	struct text target; /* as it was sent */
	struct text path;   /* of the target, still with its %xx; "*" of OPTIONS */
	struct text query;  /* behind the '?', or empty */
	int minor;          /* of HTTP/1.minor; 0 or 1 */
	bool keep_alive;
	bool chunked;          /* a body comes in chunks */
	bool has_length;       /* Content-Length was there */
	bool expects_continue; /* waits for a word before it sends its body */
	bool unknown_expect;
	uint64_t length; /* of its body */
	struct text host, range, if_range, if_match, if_none_match;
	struct text if_modified_since, if_unmodified_since;
	unsigned count;
	struct header headers[REQUEST_HEADERS_MAX];
};

/* Looks for the end of a head in what came so far. *looked_at, 0 at first, tells how far
 * it has looked already. Gives the size of the head, blank line included, or 0: more must
 * come. */
size_t request_head_size(const char *in, size_t have, size_t *looked_at);

/* Reads a head, blank line included, with at most `headers` of them. 0, or the status of
 * the error reply: after one nobody knows where the next request begins. Of the request
 * only `verb` and `target` can be used then, and may be empty. */
int request_parse(struct request *r, const char *head, size_t size, unsigned headers);

/* Gives the value of the first header of that name, or a text at NULL. */
struct text request_header(const struct request *r, struct text name);

static inline bool request_has_body(const struct request *r)
{
	return r->chunked || r->length > 0;
}

#endif
