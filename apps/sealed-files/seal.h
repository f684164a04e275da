/* seal.h - messages of one direction: encrypted, authenticated, and each good only once and
 * in its turn.
 *
 * A message is the size of what follows (4 bytes, the first the highest), the encrypted text,
 * and a tag of 16 bytes: ChaCha20-Poly1305 (RFC 8439). The nonce is the message's number, so
 * it is never sent: one that was repeated, left out or moved has another number here than
 * where it was sealed, and does not open. The size is authenticated, too.
 */
#ifndef SEALED_SEAL_H
#define SEALED_SEAL_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SEAL_KEY = 32,
	SEAL_HEAD = 4,
	SEAL_TAG = 16,
	SEAL_TEXT_MAX = 66 * 1024, /* of one message */
	SEAL_MAX = SEAL_HEAD + SEAL_TEXT_MAX + SEAL_TAG,
};

struct seal {
	EVP_CIPHER_CTX *cipher;
	uint64_t number; /* of the next message */
};

/* For sealing or for opening by a key. 0 or -ENOMEM. */
int seal_init(struct seal *s, const uint8_t key[SEAL_KEY], bool sealing);
void seal_fini(struct seal *s);

/* Seals the text of `size` bytes at message + SEAL_HEAD where it stands; SEAL_TAG bytes more
 * are written behind it. Gives the size of the whole. */
size_t seal_close(struct seal *s, uint8_t *message, size_t size);

/* How large a message is by its first SEAL_HEAD bytes, these included; -EMSGSIZE if that
 * cannot be. */
ssize_t seal_size(const uint8_t *message);

/* Opens a whole message where it stands. Gives the size of the text, which is at message +
 * SEAL_HEAD; -EBADMSG if it is not the next message of the one who has the key. After that
 * nothing opens any more. */
ssize_t seal_open(struct seal *s, uint8_t *message, size_t size);

#endif
