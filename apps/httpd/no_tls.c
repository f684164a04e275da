/* no_tls.c - what stands in for tls.c without OpenSSL. */
#include <errno.h>

#include "tls.h"

int tls_load(void)
{
	return -ENOSYS;
}

void tls_unload(void) {}

void tls_start(void) {}

struct tls *tls_accept(struct conn_place *place, uint64_t deadline)
{
	(void)place;
	(void)deadline;
	return NULL;
}

ssize_t tls_recv(struct tls *tls, void *buf, size_t size, uint64_t deadline)
{
	(void)tls;
	(void)buf;
	(void)size;
	(void)deadline;
	return -ENOSYS;
}

ssize_t tls_send(struct tls *tls, const void *buf, size_t size, uint64_t deadline)
{
	(void)tls;
	(void)buf;
	(void)size;
	(void)deadline;
	return -ENOSYS;
}

int tls_has_more(const struct tls *tls)
{
	(void)tls;
	return 0;
}

int tls_chose_h2(const struct tls *tls)
{
	(void)tls;
	return 0;
}

void tls_end(struct tls *tls)
{
	(void)tls;
}
