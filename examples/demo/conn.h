/* conn.h - one connection, in a color of its own.
 *
 * Everything of a connection is touched in its color only, so nothing is locked;
 * but for its place in the server's list, which is WEFT_MAIN's. It is freed in its
 * own color, behind whatever WEFT_MAIN posted to it before it was off the list.
 */
#ifndef DEMO_CONN_H
#define DEMO_CONN_H

#include <weft/weft.h>

#include "http.h"
#include "pages.h"

struct conn {
	weft_color color;
	int fd;
	weft_op recv, send;
	weft_event step;     /* the next thing to do, here or in WEFT_MAIN */
	weft_event stop;     /* posted once, when the server stops */
	weft_timer deadline; /* for what recv or send waits for now */
	bool last;           /* no further request will be read */

	struct request request;
	int status;           /* that the request deserves */
	struct totals totals; /* as they were when it was counted */
	struct slow slow;
	char in[HTTP_HEAD_MAX];
	size_t have; /* bytes in it */
	size_t skip; /* bytes of a body still to be read and forgotten */
	char *out;   /* the reply */

	struct conn *next, *prev; /* WEFT_MAIN's */
};

/* Makes a connection; NULL if there is no memory. */
struct conn *conn_new(int fd);
void conn_free(struct conn *c);

/* Says "busy" to somebody for whom there is no room, and closes. */
void conn_refuse(int fd);

/* Makes `fn(c)` run in `color`, as the connection's next step. 0 or -ESHUTDOWN:
 * then the server frees it in the end. */
int conn_go(struct conn *c, weft_color color, weft_fn *fn);

/* Steps, in the connection's color: reads and answers requests; is told that the
 * server stops; frees itself. */
void conn_read(void *conn);
void conn_answer(void *conn);
void conn_told_to_stop(void *conn);
void conn_gone(void *conn);

#endif
