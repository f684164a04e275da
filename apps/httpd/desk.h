/* desk.h - what a request is answered at: memory that a connection has only meanwhile.
 *
 * A thread's own stack would do. But with a thousand connections each request would find a
 * cold one, and each connection would keep pages that are in use for microseconds. Of desks
 * there are as many as requests that are answered at a time, and the one that was left last,
 * and is still warm, is taken next. A connection of HTTP/2 has one for as long as it lasts.
 */
#ifndef HTTPD_DESK_H
#define HTTPD_DESK_H

#include "exchange.h"

struct desk {
	struct exchange x; /* the date in it stays, for who comes next */
	char out[STREAM_OUT];
	struct desk *next; /* of those that are free */
};

/* NULL: there is no memory for one. */
struct desk *desk_take(void);
void desk_leave(struct desk *desk);

/* At the end. */
void desk_free_all(void);

#endif
