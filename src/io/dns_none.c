/* dns_none.c - name lookup in a build without c-ares: says so. */
#ifndef WEFT_HAVE_CARES

#include <errno.h>
#include <stdlib.h>

#include <weft/io.h>

#include "io/parts.h"

int weft_lookup_start(weft_lookup *l, const char *host, uint16_t port, int family, int timeout_ms)
{
	(void)l, (void)host, (void)port, (void)family, (void)timeout_ms;
	return -ENOSYS;
}

int weft_lookup_cancel(weft_lookup *l)
{
	(void)l;
	return -ENOENT;
}

void weft_lookup_fini(weft_lookup *l)
{
	free(l->addrs);
	l->addrs = NULL;
	l->count = 0;
}

int weft_lookup_servers(const char *servers, const char *hosts_file)
{
	(void)servers, (void)hosts_file;
	return 0;
}

int wf_dns_start(void)
{
	return 0;
}

void wf_dns_stop(void) {}

#else

typedef int wf_with_c_ares;

#endif
