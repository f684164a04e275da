/* channel.h - a sealed connection: messages that come and go over a socket.
 *
 * The server reads and writes by Weft's calls, the client by the kernel's: see channel_io.
 * After an error the channel is of no use any more.
 */
#ifndef SEALED_CHANNEL_H
#define SEALED_CHANNEL_H

#include "handshake.h"

struct channel_io {
	/* As read(2), with -Exxx. */
	ssize_t (*read)(int fd, void *buf, size_t size, uint64_t deadline);
	/* Writes all, or gives -Exxx. */
	ssize_t (*write)(int fd, const void *buf, size_t size, size_t *done, uint64_t deadline);
};

/* What a plain program uses: waits in the kernel, and knows no deadlines. */
extern const struct channel_io channel_plain;

struct channel {
	const struct channel_io *io;
	int fd;
	struct seal in, out;
	char name[HANDSHAKE_NAME]; /* of channel_accept's client; proved when that gives 0 */
	size_t have, taken;        /* bytes that have come, and those of them that were taken */
	uint8_t incoming[SEAL_MAX], outgoing[SEAL_MAX];
};

/* Finds the key of a client; -ENOENT: there is no such client. */
typedef int channel_find_key(const char *name, uint8_t key[SEAL_KEY]);

/* The handshake, on a connection that was just made (c->io and c->fd are set, the rest is
 * zero). 0; -EBADMSG: the peer is not who we think, or what it sent was changed on the way;
 * -ENODATA: it went away; or -Exxx. */
int channel_accept(struct channel *c, channel_find_key *find_key, uint64_t deadline);
int channel_connect(struct channel *c, const char *name, const uint8_t key[SEAL_KEY],
		    uint64_t deadline);

/* Forgets the keys. The socket is left to the caller. */
void channel_fini(struct channel *c);

/* Waits until some of a message has come. 1, 0 at the end, or -Exxx. */
int channel_wait(struct channel *c, uint64_t deadline);

/* Takes the next message. Gives the size of the text, which is at *text until the next call;
 * -ENODATA: the connection ended before the message did; -EMSGSIZE, -EBADMSG; or -Exxx. */
ssize_t channel_receive(struct channel *c, uint8_t **text, uint64_t deadline);

/* Where to write the text of the next message: SEAL_TEXT_MAX bytes. */
static inline uint8_t *channel_text(struct channel *c)
{
	return c->outgoing + SEAL_HEAD;
}

/* Seals that text, of `size` bytes, and writes it. 0 or -Exxx. */
int channel_send(struct channel *c, size_t size, uint64_t deadline);

#endif
