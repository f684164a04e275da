/* dial.c - addresses to connect to, as text. It is all in one file, whose own functions are
 * wanted; the library has what they call.
 * With: WEFT
 */
#include "threads/names.c"

#include "harness/fuzz.h"

FUZZ(in, size)
{
	char *text = strndup(in, size), host[HOST_MAX];
	struct sockaddr_storage addr;
	uint16_t port;

	if (read_address(text, host, &port) == 0) {
		MUST(host[0] != '\0' && strlen(host) < HOST_MAX);
		MUST(strstr(text, host) != NULL && atoi(strrchr(text, ':') + 1) == port);
		wf_numeric(host, port, AF_UNSPEC, &addr);
	}
	free(text);
}
