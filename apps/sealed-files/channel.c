/* channel.c - reads, opens, seals and writes messages. */
#include "channel.h"

#include <errno.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t plain_read(int fd, void *buf, size_t size, uint64_t deadline)
{
	ssize_t n;

	(void)deadline;
	do
		n = recv(fd, buf, size, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t plain_write(int fd, const void *buf, size_t size, size_t *done, uint64_t deadline)
{
	const char *at = buf;
	size_t left = size;

	(void)done;
	(void)deadline;
	while (left > 0) {
		ssize_t n = send(fd, at, left, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)size;
}

const struct channel_io channel_plain = { plain_read, plain_write };

/* The bytes that were not taken yet. */
static uint8_t *front(struct channel *c)
{
	return c->incoming + c->taken;
}

/* Reads until `size` bytes are there. 0, -ENODATA at the end, or -Exxx. */
static int fill(struct channel *c, size_t size, uint64_t deadline)
{
	if (c->taken == c->have || c->taken + size > sizeof c->incoming) {
		memmove(c->incoming, front(c), c->have - c->taken);
		c->have -= c->taken;
		c->taken = 0;
	}
	while (c->have - c->taken < size) {
		ssize_t n = c->io->read(c->fd, c->incoming + c->have, sizeof c->incoming - c->have,
					deadline);

		if (n <= 0)
			return n == 0 ? -ENODATA : (int)n;
		c->have += (size_t)n;
	}
	return 0;
}

int channel_wait(struct channel *c, uint64_t deadline)
{
	int rc = fill(c, 1, deadline);

	return rc == 0 ? 1 : rc == -ENODATA ? 0 : rc;
}

ssize_t channel_receive(struct channel *c, uint8_t **text, uint64_t deadline)
{
	int rc = fill(c, SEAL_HEAD, deadline);
	ssize_t size = rc < 0 ? rc : seal_size(front(c));
	uint8_t *message;

	if (size < 0)
		return size;
	rc = fill(c, (size_t)size, deadline);
	if (rc < 0)
		return rc;
	message = front(c);
	c->taken += (size_t)size;
	*text = message + SEAL_HEAD;
	return seal_open(&c->in, message, (size_t)size);
}

static int write_all(struct channel *c, const void *bytes, size_t size, uint64_t deadline)
{
	ssize_t rc = c->io->write(c->fd, bytes, size, NULL, deadline);

	return rc < 0 ? (int)rc : 0;
}

int channel_send(struct channel *c, size_t size, uint64_t deadline)
{
	return write_all(c, c->outgoing, seal_close(&c->out, c->outgoing, size), deadline);
}

void channel_fini(struct channel *c)
{
	seal_fini(&c->in);
	seal_fini(&c->out);
}

/* A message without text. */
static int receive_proof(struct channel *c, uint64_t deadline)
{
	uint8_t *text;
	ssize_t size = channel_receive(c, &text, deadline);

	return size > 0 ? -EBADMSG : (int)size;
}

int channel_accept(struct channel *c, channel_find_key *find_key, uint64_t deadline)
{
	uint8_t answer[HANDSHAKE_ANSWER], key[SEAL_KEY];
	const uint8_t *hello;
	const char *name;
	int rc = fill(c, HANDSHAKE_HELLO, deadline);

	if (rc < 0)
		return rc;
	hello = front(c);
	c->taken += HANDSHAKE_HELLO;
	name = handshake_name(hello);
	if (name == NULL)
		return -EBADMSG;
	strcpy(c->name, name);
	/* Whether there is such a client is not for strangers to know: all goes on as if. */
	rc = find_key(name, key);
	if (rc < 0 && RAND_bytes(key, sizeof key) != 1)
		return -EAGAIN;
	rc = handshake_answer(hello, key, answer, &c->in, &c->out);
	OPENSSL_cleanse(key, sizeof key);
	if (rc == 0)
		rc = write_all(c, answer, sizeof answer, deadline);
	return rc == 0 ? receive_proof(c, deadline) : rc;
}

static int prove(struct channel *c, struct handshake *h, const uint8_t *key, uint64_t deadline)
{
	uint8_t proof[HANDSHAKE_PROOF], *answer;
	int rc = write_all(c, h->hello, HANDSHAKE_HELLO, deadline);

	if (rc == 0)
		rc = fill(c, HANDSHAKE_ANSWER, deadline);
	if (rc < 0)
		return rc;
	answer = front(c);
	c->taken += HANDSHAKE_ANSWER;
	rc = handshake_finish(h, key, answer, proof, &c->in, &c->out);
	return rc == 0 ? write_all(c, proof, sizeof proof, deadline) : rc;
}

int channel_connect(struct channel *c, const char *name, const uint8_t key[SEAL_KEY],
		    uint64_t deadline)
{
	struct handshake h;
	int rc = handshake_begin(&h, name);

	if (rc == 0)
		rc = prove(c, &h, key, deadline);
	handshake_fini(&h);
	return rc;
}
