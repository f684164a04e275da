/* http.h - as much of HTTP/1.1 as the demo needs: reading requests without a
 * body worth keeping, writing replies. Knows nothing of sockets.
 */
#ifndef DEMO_HTTP_H
#define DEMO_HTTP_H

#include <stdbool.h>
#include <stddef.h>

/* Largest head of a request, and largest body that is skipped. */
enum { HTTP_HEAD_MAX = 8192, HTTP_BODY_MAX = 65536 };

struct request {
	char path[128];   /* without a query; cut short if longer: no page has such a name */
	bool head_only;   /* HEAD: no body in the reply */
	bool keep_alive;  /* the connection may go on afterwards */
	size_t head_size; /* bytes up to the body */
	size_t body_size; /* bytes to be skipped */
};

/* Reads the request at the beginning of `text`. Returns 0 if its head is not
 * complete, 200, or the status to refuse it with. */
int http_parse(const char *text, size_t size, struct request *request);

/* Makes a whole reply from a body. Returns NULL if there is no memory; free() it. */
char *http_reply(int status, const char *type, const char *body, size_t body_size,
		 const struct request *request, size_t *size);

/* "Not Found" */
const char *http_reason(int status);

#endif
