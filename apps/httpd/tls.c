/* tls.c - encrypted connections, by OpenSSL. */
#include "tls.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>

#include <weft/weft.h>

#include "common/places.h"
#include "settings.h"
#include "tls_context.h"
#include "turns.h"

/* A struct tls is an SSL: nothing else is needed. */
static SSL *ssl_of(struct tls *tls)
{
	return (SSL *)tls;
}

/* Waits for what an SSL call asked for. 0 to try again, or the error. A client that sends
 * records without data for ever is late as well: so the deadline counts also when there is
 * nothing to wait for. */
static int wait_for(SSL *ssl, int error, uint64_t deadline)
{
	struct pollfd p = { .fd = SSL_get_fd(ssl) };
	int rc;

	switch (error) {
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
	rc = weft_poll_until(&p, 1, deadline);
	if (rc < 0)
		return rc;
	return weft_now() < deadline ? 0 : -ETIMEDOUT;
}

/* Handshakes */

void tls_start(void)
{
	turns_init(settings.max_handshakes != 0 ? settings.max_handshakes
						: (uint64_t)weft_workers());
}

/* Whether the client left while its hello waited: then its handshake is not worth the work. Only
 * before the handshake: later a client may end its side and still want an answer. */
static bool has_left(const SSL *ssl)
{
	struct pollfd p = { .fd = SSL_get_fd(ssl), .events = POLLRDHUP };

	return SSL_in_before(ssl) && poll(&p, 1, 0) > 0;
}

/* Runs on the offload pool: a signature takes milliseconds, in which the worker serves its other
 * connections. OpenSSL keeps errors per kernel thread, so they are read here. Returns the result of
 * SSL_get_error. */
static int shake_hands(void *arg)
{
	SSL *ssl = arg;
	int rc, error;

	if (has_left(ssl))
		return SSL_ERROR_SYSCALL;
	ERR_clear_error();
	rc = SSL_accept(ssl);
	error = rc == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl, rc);
	ERR_clear_error();
	return error;
}

/* Continues a handshake when it is its turn. A handshake has a turn only while it is computed, not
 * while it waits for the client: so a slow client delays no other. */
static int take_step(SSL *ssl, struct conn_place *place, uint64_t deadline)
{
	int error;

	place_yield(place, true);
	error = turn_take(place->fd, place_crowd(place), deadline);
	place_yield(place, false);
	if (error < 0)
		return error;
	error = weft_offload(shake_hands, ssl);
	turn_give();
	return error;
}

/* 0, or -Exxx. */
static int finish_handshake(SSL *ssl, struct conn_place *place, uint64_t deadline)
{
	int rc, error;

	do {
		error = take_step(ssl, place, deadline);
		if (error <= 0) /* an error of ours, or SSL_ERROR_NONE */
			return error;
		rc = wait_for(ssl, error, deadline);
	} while (rc == 0);
	return rc;
}

/* OpenSSL reads and writes by itself, and must not wait in the kernel. */
static bool give_descriptor(SSL *ssl, int fd)
{
	return fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && SSL_set_fd(ssl, fd) == 1;
}

struct tls *tls_accept(struct conn_place *place, uint64_t deadline)
{
	struct pollfd input = { .fd = place->fd, .events = POLLIN };
	SSL *ssl;

	/* Wait for input first: a silent client costs no memory of OpenSSL's. */
	if (weft_poll_until(&input, 1, deadline) < 0)
		return NULL;
	ssl = tls_context_new_ssl();
	if (ssl != NULL && give_descriptor(ssl, place->fd) &&
	    finish_handshake(ssl, place, deadline) == 0)
		return (struct tls *)ssl;
	ERR_clear_error();
	SSL_free(ssl);
	return NULL;
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
		rc = wait_for(ssl_of(tls), SSL_get_error(ssl_of(tls), rc), deadline);
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
		rc = wait_for(ssl_of(tls), SSL_get_error(ssl_of(tls), rc), deadline);
		if (rc < 0)
			return sent > 0 ? (ssize_t)sent : rc;
	}
	return (ssize_t)sent;
}

int tls_chose_h2(const struct tls *tls)
{
	const unsigned char *name;
	unsigned size;

	SSL_get0_alpn_selected((const SSL *)tls, &name, &size);
	return size == 2 && memcmp(name, "h2", size) == 0;
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
