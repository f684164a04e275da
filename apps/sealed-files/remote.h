/* remote.h - a server as its client sees it. Calls wait in the kernel. */
#ifndef SEALED_REMOTE_H
#define SEALED_REMOTE_H

#include "channel.h"
#include "message.h"

struct remote {
	struct channel channel;
};

/* Makes a connection to "host:port". The descriptor, or -Exxx. */
int remote_dial(const char *address);

/* Connects to "host:port", and makes sure who is there. 0; -EBADMSG: the server does not
 * have this client's key, or is another; -EINVAL: no such address; or -Exxx. */
int remote_open(struct remote *r, const char *address, const char *name,
		const uint8_t key[SEAL_KEY]);
void remote_close(struct remote *r);

/* Makes a request about a path, which waits for leases `wait` milliseconds. 0; -EINVAL: no
 * such path can be. */
int remote_name(struct request *ask, enum request_type type, const char *path, uint32_t wait);

/* Sends a request; takes the reply to the one that was sent first of those without. Several
 * may be under way. 0; -EINVAL: no such path can be; for a reply also what the server says,
 * -Exxx. */
int remote_send(struct remote *r, const struct request *request);
int remote_receive(struct remote *r, struct reply *reply);

/* Both; and for a request about a path, as remote_name makes it. */
int remote_ask(struct remote *r, const struct request *request, struct reply *reply);
int remote_ask_about(struct remote *r, enum request_type type, const char *path, uint32_t wait,
		     struct reply *reply);

/* Writes a file of the server to a descriptor, or takes one from there. The lease that this
 * needs is waited for, `wait` milliseconds. 0, what the server says, or an error here. */
int remote_get(struct remote *r, const char *path, uint32_t wait, int out);
int remote_put(struct remote *r, const char *path, uint32_t wait, int in);

#endif
