/* tls.h - encrypted connections, by OpenSSL; no_tls.c stands in where it is not built in.
 *
 * OpenSSL never waits here: it reads and writes a descriptor that does not block, and the
 * thread waits between its calls. So no state that it keeps per kernel thread is in use
 * while a thread may move.
 *
 * A handshake costs milliseconds of computing, and clients decide how many begin. They are
 * computed on the offload pool, few at a time (--max-handshakes); the others wait for their turn.
 */
#ifndef HTTPD_TLS_H
#define HTTPD_TLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct conn_place;
struct tls;

/* Reads certificate and key as the settings say; again: those that are there now. 0, or
 * -ENOSYS (not built in), -EINVAL (the report is on standard error). */
int tls_load(void);
void tls_unload(void);

/* Has the client been told that we speak HTTP/2? */
int tls_chose_h2(const struct tls *tls);

/* To be called at the beginning of the run. */
void tls_start(void);

/* Does the TLS handshake when it is this connection's turn. Until then the connection can lose its
 * place. NULL: it failed. Waits. */
struct tls *tls_accept(struct conn_place *place, uint64_t deadline);

/* As weft_recv_until, and weft_send_until with MSG_WAITALL. */
ssize_t tls_recv(struct tls *tls, void *buf, size_t size, uint64_t deadline);
ssize_t tls_send(struct tls *tls, const void *buf, size_t size, uint64_t deadline);

/* Is there something that was decrypted and not yet received? */
int tls_has_more(const struct tls *tls);

/* Says goodbye, without waiting, and frees it. */
void tls_end(struct tls *tls);

#endif
