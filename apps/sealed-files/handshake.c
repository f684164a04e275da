/* handshake.c - X25519 and a key that both have, by HKDF to a key for each direction. */
#include "handshake.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <string.h>

enum { MAGIC = 8, SHARED = 32, KEYS = 2 * SEAL_KEY };
static const char magic[MAGIC] = "sealed1\n";

bool handshake_name_is_good(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789-_.";
	size_t size = strlen(name);

	return size > 0 && size < HANDSHAKE_NAME && name[0] != '.' && strspn(name, letters) == size;
}

const char *handshake_name(const uint8_t hello[HANDSHAKE_HELLO])
{
	const char *name = (const char *)hello + MAGIC;

	if (memcmp(hello, magic, MAGIC) != 0 || memchr(name, '\0', HANDSHAKE_NAME) == NULL ||
	    !handshake_name_is_good(name))
		return NULL;
	return name;
}

/* A fresh key of our own; its public part goes to `public`. NULL: it failed. */
static EVP_PKEY *make_own(uint8_t public[HANDSHAKE_PUBLIC])
{
	EVP_PKEY *own = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
	size_t size = HANDSHAKE_PUBLIC;

	if (own != NULL && EVP_PKEY_get_raw_public_key(own, public, &size) == 1)
		return own;
	EVP_PKEY_free(own);
	return NULL;
}

/* What only the two of us know. Fails for keys that make it the same for all. */
static bool agree(EVP_PKEY *own, const uint8_t public[HANDSHAKE_PUBLIC], uint8_t shared[SHARED])
{
	EVP_PKEY *peer =
		EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, public, HANDSHAKE_PUBLIC);
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(own, NULL);
	size_t size = SHARED;
	bool good = peer != NULL && ctx != NULL && EVP_PKEY_derive_init(ctx) == 1 &&
		    EVP_PKEY_derive_set_peer(ctx, peer) == 1 &&
		    EVP_PKEY_derive(ctx, shared, &size) == 1 && size == SHARED;

	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(peer);
	return good;
}

/* HKDF of all that is secret, with all that was said. */
static bool mix(const uint8_t secret[SHARED + SEAL_KEY], const uint8_t *said, size_t said_size,
		uint8_t keys[KEYS])
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	EVP_KDF_CTX *ctx = EVP_KDF_CTX_new(kdf);
	char hash[] = "SHA256";
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, hash, 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)(uintptr_t)secret,
						  SHARED + SEAL_KEY),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)(uintptr_t)said,
						  said_size),
		OSSL_PARAM_construct_end(),
	};
	bool good = ctx != NULL && EVP_KDF_derive(ctx, keys, KEYS, params) == 1;

	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return good;
}

/* Both sides: makes the seals of what goes to the server and of what comes from it. */
static int make_seals(EVP_PKEY *own, const uint8_t *peer, const uint8_t *hello,
		      const uint8_t *answer, const uint8_t *key, bool server, struct seal *in,
		      struct seal *out)
{
	uint8_t secret[SHARED + SEAL_KEY], said[HANDSHAKE_HELLO + HANDSHAKE_PUBLIC], keys[KEYS];
	int rc = -EBADMSG;

	memcpy(secret + SHARED, key, SEAL_KEY);
	memcpy(said, hello, HANDSHAKE_HELLO);
	memcpy(said + HANDSHAKE_HELLO, answer, HANDSHAKE_PUBLIC);
	if (agree(own, peer, secret) && mix(secret, said, sizeof said, keys)) {
		rc = seal_init(in, keys + (server ? 0 : SEAL_KEY), false);
		if (rc == 0)
			rc = seal_init(out, keys + (server ? SEAL_KEY : 0), true);
	}
	OPENSSL_cleanse(secret, sizeof secret);
	OPENSSL_cleanse(keys, sizeof keys);
	ERR_clear_error();
	return rc;
}

int handshake_begin(struct handshake *h, const char *name)
{
	*h = (struct handshake){ 0 };
	if (!handshake_name_is_good(name))
		return -EINVAL;
	memcpy(h->hello, magic, MAGIC);
	strcpy((char *)h->hello + MAGIC, name);
	h->own = make_own(h->hello + MAGIC + HANDSHAKE_NAME);
	return h->own != NULL ? 0 : -ENOMEM;
}

void handshake_fini(struct handshake *h)
{
	EVP_PKEY_free(h->own);
	h->own = NULL;
}

int handshake_answer(const uint8_t hello[HANDSHAKE_HELLO], const uint8_t key[SEAL_KEY],
		     uint8_t answer[HANDSHAKE_ANSWER], struct seal *in, struct seal *out)
{
	EVP_PKEY *own = make_own(answer);
	int rc;

	if (own == NULL)
		return -ENOMEM;
	rc = make_seals(own, hello + MAGIC + HANDSHAKE_NAME, hello, answer, key, true, in, out);
	EVP_PKEY_free(own);
	if (rc == 0)
		seal_close(out, answer + HANDSHAKE_PUBLIC, 0);
	return rc;
}

int handshake_finish(struct handshake *h, const uint8_t key[SEAL_KEY],
		     uint8_t answer[HANDSHAKE_ANSWER], uint8_t proof[HANDSHAKE_PROOF],
		     struct seal *in, struct seal *out)
{
	int rc = make_seals(h->own, answer, h->hello, answer, key, false, in, out);

	if (rc == 0 && seal_open(in, answer + HANDSHAKE_PUBLIC, HANDSHAKE_PROOF) != 0)
		rc = -EBADMSG;
	if (rc == 0)
		seal_close(out, proof, 0);
	return rc;
}
