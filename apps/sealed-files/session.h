/* session.h - one client of the server: its channel, and the files it has open. */
#ifndef SEALED_SESSION_H
#define SEALED_SESSION_H

#include <weft/weft.h>

#include "channel.h"
#include "common/places.h"
#include "lease.h"
#include "message.h"
#include "tree.h"

enum { SESSION_HANDLES = 32 };

/* An open file, or a new one. */
struct handle {
	struct lease *lease;
	bool writing;
	struct draft draft; /* draft.fd is that of a file that is read, too */
	char path[];
};

struct session {
	struct session *next, **link; /* in the server's list */
	weft_color color;
	struct channel channel;
	struct conn_place place; /* among strangers, until it has proved who it is */
	bool known;              /* it has */
	struct handle *handles[SESSION_HANDLES];
	struct request request;
	struct reply reply;
	int transfer; /* the file that data is read from or written to; -1: none */
};

/* Does what the client asks for, except for moving data: in WEFT_MAIN. */
void session_perform(struct session *s);

/* Closes all that it has open: in WEFT_MAIN. */
void session_close_all(struct session *s);

/* The thread of a client. Takes the session. */
int session_serve(void *session);

#endif
