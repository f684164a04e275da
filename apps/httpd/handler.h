/* handler.h - how to write a handler: a function that answers requests to a path.
 *
 * It runs in a thread, in the connection's color. So it may wait like any other thread
 * (weft/blocking.h), needs no lock for what belongs to the connection, and hops to another
 * color (weft_hop) and back for what others use too. By HTTP/2 other requests of the
 * connection are answered while it waits; one that computes for long yields now and then, or
 * hops to a color of its own.
 *
 *	static int hello(struct exchange *x)
 *	{
 *		return reply(x, 200, "text/plain", TEXT("hello\n"));
 *	}
 */
#ifndef HTTPD_HANDLER_H
#define HTTPD_HANDLER_H

#include <sys/types.h>

#include "request.h"

/* One request and its reply. */
struct exchange;

/* Answers a request: by reply, or by reply_begin, any number of reply_write, and reply_end.
 * Whatever error a handler returns (-Exxx), if it has sent nothing the client gets 500,
 * else the connection is closed. */
typedef int handler_fn(struct exchange *x);

struct handler {
	const char *path;
	unsigned methods; /* bits: 1 << METHOD_GET; whoever may GET may ask for the HEAD */
	handler_fn *serve;
};

/* Those that there are; NULL ends them. For requests that none of these takes there are
 * the files below the root; without a root, the demo's handlers take the place of both. */
extern const struct handler *const handlers[];
extern const struct handler *const demo_handlers[];

const struct request *exchange_request(const struct exchange *x);

/* Is the client on this machine? */
bool exchange_is_local(const struct exchange *x);

/* Reads the next bytes of the request's body, whatever way it comes in. 0 at the end;
 * -EMSGSIZE: it is longer than is allowed; -EBADMSG: it is not as it should be;
 * -ETIMEDOUT, or another error. What is not read is thrown away. Waits. */
ssize_t exchange_read(struct exchange *x, void *buf, size_t size);

/* A reply with all of its body. */
int reply(struct exchange *x, int status, const char *type, struct text body);

/* A reply whose length is not known when it begins. `extra` is headers, each with its
 * CR LF, or "". */
int reply_begin(struct exchange *x, int status, const char *type, const char *extra);
int reply_write(struct exchange *x, const void *data, size_t size);
int reply_end(struct exchange *x);

/* A reply that says no more than its status. */
int reply_status(struct exchange *x, int status);

#endif
