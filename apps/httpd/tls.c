/* tls.c - encrypted connections, by OpenSSL. */
#include "tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

#include "h2.h"
#include "settings.h"

/* A struct tls is an SSL: nothing else is needed. */
static SSL *ssl_of(struct tls *tls)
{
	return (SSL *)tls;
}

/* What new connections use; each counts itself as a user of it, under the lock. */
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

static SSL *new_ssl(void)
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

/* What is in the list of protocols first is what we like best. */
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
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
					 SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				      SSL_MODE_RELEASE_BUFFERS);
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

/* Waits for what an SSL call asked for. 0 to try again, or the error. */
static int wait_for(SSL *ssl, int rc, uint64_t deadline)
{
	struct pollfd p = { .fd = SSL_get_fd(ssl) };
	int ready;

	switch (SSL_get_error(ssl, rc)) {
	case SSL_ERROR_WANT_READ:
		p.events = POLLIN;
		break;
	case SSL_ERROR_WANT_WRITE:
		p.events = POLLOUT;
		break;
	case SSL_ERROR_ZERO_RETURN:
		return -ENODATA;
	default:
		return -ECONNRESET;
	}
	ready = weft_poll_until(&p, 1, deadline);
	return ready < 0 ? ready : 0;
}

struct tls *tls_accept(int fd, uint64_t deadline)
{
	SSL *ssl = new_ssl();
	int rc;

	if (ssl == NULL)
		return NULL;
	if (SSL_set_fd(ssl, fd) != 1) {
		SSL_free(ssl);
		return NULL;
	}
	for (;;) {
		ERR_clear_error();
		rc = SSL_accept(ssl);
		if (rc == 1)
			return (struct tls *)ssl;
		if (wait_for(ssl, rc, deadline) < 0) {
			ERR_clear_error();
			SSL_free(ssl);
			return NULL;
		}
	}
}

ssize_t tls_recv(struct tls *tls, void *buf, size_t size, uint64_t deadline)
{
	size_t done;
	int rc;

	for (;;) {
		ERR_clear_error();
		rc = SSL_read_ex(ssl_of(tls), buf, size, &done);
		if (rc == 1)
			return (ssize_t)done;
		rc = wait_for(ssl_of(tls), rc, deadline);
		if (rc < 0)
			return rc == -ENODATA ? 0 : rc;
	}
}

ssize_t tls_send(struct tls *tls, const void *buf, size_t size, uint64_t deadline)
{
	size_t sent = 0, done;
	int rc;

	while (sent < size) {
		ERR_clear_error();
		rc = SSL_write_ex(ssl_of(tls), (const char *)buf + sent, size - sent, &done);
		if (rc == 1) {
			sent += done;
			continue;
		}
		rc = wait_for(ssl_of(tls), rc, deadline);
		if (rc < 0)
			return rc;
	}
	return (ssize_t)sent;
}

int tls_chose_h2(const struct tls *tls)
{
	const unsigned char *name;
	unsigned size;

	SSL_get0_alpn_selected((const SSL *)tls, &name, &size);
	return size == H2_SIZE - 1 && memcmp(name, "h2", size) == 0;
}

int tls_has_more(const struct tls *tls)
{
	return SSL_has_pending((const SSL *)tls);
}

void tls_end(struct tls *tls)
{
	ERR_clear_error();
	SSL_shutdown(ssl_of(tls));
	SSL_free(ssl_of(tls));
	ERR_clear_error();
}
