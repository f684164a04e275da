/* hosts.c - the hosts file, and names that need none: the first line is the name.
 * With: src/io/hosts.c
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/fuzz.h"
#include "io/dns.h"

FUZZ(in, size)
{
	static const int families[] = { AF_UNSPEC, AF_INET, AF_INET6 };
	const char *end = in + size;
	char path[32], *name = fuzz_line(&in, end);
	int fd = memfd_create("hosts", MFD_CLOEXEC);
	struct wf_hosts hosts;

	MUST(fd >= 0 && write(fd, in, (size_t)(end - in)) == end - in);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	wf_hosts_init(&hosts, strdup(path));
	for (int i = 0; i < 3 && name != NULL; i++) {
		struct sockaddr_storage *found = NULL;
		int n = wf_hosts_find(&hosts, name, families[i], &found);

		MUST(n >= 0 || n == -ENOENT || n == -ENOMEM);
		for (int k = 0; k < n; k++)
			MUST(i == 0 ? found[k].ss_family == AF_INET ||
					      found[k].ss_family == AF_INET6
				    : found[k].ss_family == families[i]);
		free(found);
	}
	wf_hosts_fini(&hosts);
	free(name);
	close(fd);
}
