/* handshake.h - how a client and the server convince each other, and agree on keys.
 *
 *	client: HELLO   the protocol's name, the client's name, a fresh X25519 key
 *	server: ANSWER  a fresh X25519 key, and an empty message sealed by the new keys
 *	client: PROOF   an empty message sealed by the new keys
 *
 * The keys, one for each direction, come by HKDF from what X25519 gives, the client's key
 * file, and HELLO and ANSWER themselves. So each side knows that the other has the key file,
 * that it is there now, and that nobody changed what was said; and who gets hold of the key
 * file later cannot read what was sent before.
 */
#ifndef SEALED_HANDSHAKE_H
#define SEALED_HANDSHAKE_H

#include "seal.h"

enum {
	HANDSHAKE_NAME = 32, /* most letters of a client's name, and a 0 */
	HANDSHAKE_PUBLIC = 32,
	HANDSHAKE_HELLO = 8 + HANDSHAKE_NAME + HANDSHAKE_PUBLIC,
	HANDSHAKE_PROOF = SEAL_HEAD + SEAL_TAG,
	HANDSHAKE_ANSWER = HANDSHAKE_PUBLIC + HANDSHAKE_PROOF,
};

/* The client's, between HELLO and PROOF. */
struct handshake {
	EVP_PKEY *own;
	uint8_t hello[HANDSHAKE_HELLO];
};

/* Whether a client may have this name: letters, digits, - _ and dots, not at the beginning. */
bool handshake_name_is_good(const char *name);

/* Makes HELLO. 0, -EINVAL (the name) or -ENOMEM. */
int handshake_begin(struct handshake *h, const char *name);
void handshake_fini(struct handshake *h);

/* The name in HELLO; NULL if it is none. */
const char *handshake_name(const uint8_t hello[HANDSHAKE_HELLO]);

/* The server's part: makes ANSWER. What comes first by `in` must be PROOF: seal_open gives 0.
 * 0, or -EBADMSG. */
int handshake_answer(const uint8_t hello[HANDSHAKE_HELLO], const uint8_t key[SEAL_KEY],
		     uint8_t answer[HANDSHAKE_ANSWER], struct seal *in, struct seal *out);

/* The client's: checks ANSWER and makes PROOF. 0, or -EBADMSG: the server is another, or knows
 * no such client. */
int handshake_finish(struct handshake *h, const uint8_t key[SEAL_KEY],
		     uint8_t answer[HANDSHAKE_ANSWER], uint8_t proof[HANDSHAKE_PROOF],
		     struct seal *in, struct seal *out);

#endif
