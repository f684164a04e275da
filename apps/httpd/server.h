/* server.h - accepts connections on all workers, and ends in good order. */
#ifndef HTTPD_SERVER_H
#define HTTPD_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/* Opens the listening sockets: see listen.h. 0 or -Exxx. Before weft_run. */
int server_listen(void);

/* The port of the plain one; and where each listens, as text. False: it does not. */
int server_port(void);
bool server_address(bool tls, char *out, size_t size);

/* Begins to accept. 0 or -Exxx. */
int server_start(void);

/* Refuses new connections, ends idle ones, waits for the others as long as stop_time says;
 * asked a second time, it waits no longer. In WEFT_MAIN. */
void server_stop(void *unused);

/* Opens root, log and certificate anew. In WEFT_MAIN. */
void server_reload(void *unused);

bool server_is_stopping(void);

/* 0, or the error for which it had to end. */
int server_error(void);

/* While a connection is busy the end of the server does not end its input; it looks for the end
 * itself. Gives whether the server is stopping. */
bool server_set_busy(int fd, bool busy);

/* After weft_run. */
void server_free(void);

#endif
