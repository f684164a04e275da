/* server.h - the listening socket, the clients, and the end. */
#ifndef SEALED_SERVER_H
#define SEALED_SERVER_H

#include "session.h"

/* Opens the root, the keys and the socket. 0 or -Exxx, which was told on standard error. */
int server_open(void);
void server_close(void);

/* Starts to accept. */
int server_start(void);

/* The address that it listens on. */
void server_name(char *out, size_t size);

/* Ends in good order; at once if it is called again. For weft_on_signal. */
void server_stop(void *unused);
bool server_is_stopping(void);

/* 0, or the error for which it had to end. */
int server_error(void);

/* For sessions: finds a client's key; counts one that has proved to have it among the
 * clients, or gives -EUSERS; ends a session, in WEFT_MAIN. */
channel_find_key server_find_key;
int server_admit(struct session *s);
void server_forget(struct session *s);

/* How many clients there were, and how many were turned away. */
uint64_t server_clients(void), server_refused(void);

#endif
