/* server.h - all desks, and their end. */
#ifndef QUOTES_SERVER_H
#define QUOTES_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/* Listens as the settings say. 0 or -Exxx. */
int server_listen(void);
int server_address(char *out, size_t size);

/* Serves until server_stop. A thread; waits. 0 or -Exxx. */
int server_run(void);

/* Ends server_run; called again it ends everything at once. A handler in WEFT_MAIN. */
void server_stop(void *unused);

/* Ends it with an error, which server_run returns. Any thread. */
void server_fail(int error);

/* Prints the counters, behind `title`. */
void server_report(const char *title);

/* Counts a client in, if there is room for it; counts one out. */
bool server_admit(void);
void server_release(void);

#endif
