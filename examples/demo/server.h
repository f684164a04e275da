/* server.h - the demo's server: what connections share, all of it WEFT_MAIN's.
 *
 * These functions run in WEFT_MAIN, one at a time, on whatever core: that is why
 * none of them takes a lock.
 */
#ifndef DEMO_SERVER_H
#define DEMO_SERVER_H

#include "pages.h"

/* Makes a listening socket on 127.0.0.1, at `port` or, with `others`, the next that
 * is free. Gives the descriptor and the port, or -Exxx and leaves the port as it was.
 * Before weft_run. */
int server_listen(int *port, int others);

/* Begins to accept. 0 or -Exxx. */
int server_start(int listener);

/* Refuses new connections, ends idle ones, waits a little for the others; asked a
 * second time, it waits no longer. */
void server_stop(void *unused);

/* Steps of a connection: counts its request; takes it off the list. */
void server_count(void *conn);
void server_forget(void *conn);

struct totals server_totals(void);

/* After weft_run: frees what was still open when it ended. */
void server_free(void);

#endif
