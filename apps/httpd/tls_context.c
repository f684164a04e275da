/* tls_context.c - certificate and key, and the versions, suites and groups that are offered.
 *
 * Clients choose what the server computes, so only cheap key exchanges are offered. Finite-field
 * Diffie-Hellman costs at least 40 times as much as elliptic curves, and no client needs it. A
 * static RSA key exchange gives no forward secrecy, and suites with CBC have a history of padding
 * oracles.
 */
#include "tls_context.h"

#include <errno.h>
#include <openssl/err.h>
#include <pthread.h>
#include <stdio.h>

#include "h2.h"
#include "settings.h"
#include "tls.h"

static const char groups[] = "X25519:P-256:P-384";
static const char suites[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
			     "TLS_CHACHA20_POLY1305_SHA256";
static const char suites_of_1_2[] = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
				    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
				    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";

/* The context of new connections; each holds a reference, taken under the lock. */
static SSL_CTX *context;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void change_context(SSL_CTX *ctx)
{
	SSL_CTX *former;

	pthread_mutex_lock(&lock);
	former = context;
	context = ctx;
	pthread_mutex_unlock(&lock);
	SSL_CTX_free(former);
}

SSL *tls_context_new_ssl(void)
{
	SSL *ssl;

	pthread_mutex_lock(&lock);
	ssl = SSL_new(context);
	pthread_mutex_unlock(&lock);
	return ssl;
}

static int fail(const char *what)
{
	fprintf(stderr, "weft-httpd: %s: ", what);
	ERR_print_errors_fp(stderr);
	return -EINVAL;
}

/* The list of protocols, the preferred one first. */
static const unsigned char protocols[] = "\x02h2\x08http/1.1";
enum { H2_SIZE = 3 };

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *size,
			   const unsigned char *in, unsigned in_size, void *unused)
{
	unsigned skipped = h2_is_built_in() ? 0 : H2_SIZE;

	(void)ssl;
	(void)unused;
	return SSL_select_next_proto((unsigned char **)(uintptr_t)out, size, protocols + skipped,
				     sizeof protocols - 1 - skipped, in,
				     in_size) == OPENSSL_NPN_NEGOTIATED
		       ? SSL_TLSEXT_ERR_OK
		       : SSL_TLSEXT_ERR_ALERT_FATAL;
}

int tls_load(void)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	if (ctx == NULL)
		return fail("OpenSSL");
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set1_groups_list(ctx, groups) != 1 ||
	    SSL_CTX_set_ciphersuites(ctx, suites) != 1 ||
	    SSL_CTX_set_cipher_list(ctx, suites_of_1_2) != 1) {
		SSL_CTX_free(ctx);
		return fail("OpenSSL");
	}
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
					 SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				      SSL_MODE_RELEASE_BUFFERS);
	/* Makes SSL_read return after each record, also one without data: otherwise a flood of key
	 * updates would hold it, and the worker, as long as it lasts. */
	SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
	/* Clients keep their tickets; we would keep 20,000 sessions of theirs. */
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
	if (SSL_CTX_use_certificate_chain_file(ctx, settings.certificate) != 1 ||
	    SSL_CTX_use_PrivateKey_file(ctx, settings.key, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_check_private_key(ctx) != 1) {
		SSL_CTX_free(ctx);
		return fail(settings.certificate);
	}
	change_context(ctx);
	return 0;
}

void tls_unload(void)
{
	change_context(NULL);
}
