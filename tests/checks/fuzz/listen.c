/* listen.c - addresses to listen on, as text. It is all in one file, whose own functions are
 * wanted. */
#include "io/listen.c"

#include "harness/fuzz.h"

FUZZ(in, size)
{
	char *text = strndup(in, size), host[INET6_ADDRSTRLEN];
	socklen_t length = 0;
	union address a;

	if (read_address(text, &a, &length) == 0) {
		MUST(a.any.sa_family == AF_INET ? length == sizeof a.in : length == sizeof a.in6);
		MUST(inet_ntop(a.any.sa_family,
			       a.any.sa_family == AF_INET ? (void *)&a.in.sin_addr
							  : (void *)&a.in6.sin6_addr,
			       host, sizeof host) != NULL);
		MUST(strrchr(text, ':') != NULL);
	}
	free(text);
}
