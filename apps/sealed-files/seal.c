/* seal.c - ChaCha20-Poly1305 by OpenSSL, with counters as nonces. */
#include "seal.h"

#include <errno.h>
#include <openssl/err.h>

#include "bytes.h"

enum { NONCE = 12 };

int seal_init(struct seal *s, const uint8_t key[SEAL_KEY], bool sealing)
{
	s->number = 0;
	s->cipher = EVP_CIPHER_CTX_new();
	if (s->cipher != NULL &&
	    EVP_CipherInit_ex(s->cipher, EVP_chacha20_poly1305(), NULL, key, NULL, sealing) == 1)
		return 0;
	seal_fini(s);
	return -ENOMEM;
}

void seal_fini(struct seal *s)
{
	EVP_CIPHER_CTX_free(s->cipher);
	s->cipher = NULL;
	ERR_clear_error();
}

/* Sets the nonce of the next message, and lets the tag cover its size. */
static bool begin(struct seal *s, const uint8_t head[SEAL_HEAD])
{
	uint8_t nonce[NONCE] = { 0 };
	int n;

	put_64(nonce + NONCE - 8, s->number++);
	return EVP_CipherInit_ex(s->cipher, NULL, NULL, NULL, nonce, -1) == 1 &&
	       EVP_CipherUpdate(s->cipher, NULL, &n, head, SEAL_HEAD) == 1;
}

size_t seal_close(struct seal *s, uint8_t *message, size_t size)
{
	uint8_t *text = message + SEAL_HEAD, none;
	int n;

	put_32(message, (uint32_t)(size + SEAL_TAG));
	/* None of this can fail: nothing is allocated, and all sizes are right. */
	if (!begin(s, message) || EVP_CipherUpdate(s->cipher, text, &n, text, (int)size) != 1 ||
	    EVP_CipherFinal_ex(s->cipher, &none, &n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(s->cipher, EVP_CTRL_AEAD_GET_TAG, SEAL_TAG, text + size) != 1)
		OPENSSL_die("cannot seal", __FILE__, __LINE__);
	return SEAL_HEAD + size + SEAL_TAG;
}

ssize_t seal_size(const uint8_t *message)
{
	uint32_t size = get_32(message);

	if (size < SEAL_TAG || size > SEAL_TEXT_MAX + SEAL_TAG)
		return -EMSGSIZE;
	return SEAL_HEAD + (ssize_t)size;
}

ssize_t seal_open(struct seal *s, uint8_t *message, size_t size)
{
	uint8_t *text = message + SEAL_HEAD, none;
	int n, text_size = (int)size - SEAL_HEAD - SEAL_TAG;

	if (s->cipher != NULL && size >= SEAL_HEAD && seal_size(message) == (ssize_t)size &&
	    begin(s, message) && EVP_CipherUpdate(s->cipher, text, &n, text, text_size) == 1 &&
	    EVP_CIPHER_CTX_ctrl(s->cipher, EVP_CTRL_AEAD_SET_TAG, SEAL_TAG, text + text_size) ==
		    1 &&
	    EVP_CipherFinal_ex(s->cipher, &none, &n) == 1)
		return text_size;
	seal_fini(s);
	return -EBADMSG;
}
