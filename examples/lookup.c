/* lookup.c - names: looked up by c-ares, on no thread pool.
 *
 * A hosts file of our own makes the answer the same everywhere.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft/weft.h>

static void found(void *arg)
{
	weft_lookup *l = arg;

	printf("result %d, %d address\n", l->result, l->count);
	for (int i = 0; i < l->count; i++) {
		const struct sockaddr_in *a = (const struct sockaddr_in *)&l->addrs[i];
		char text[INET_ADDRSTRLEN];

		inet_ntop(AF_INET, &a->sin_addr, text, sizeof text);
		printf("%s port %d\n", text, ntohs(a->sin_port));
	}
	weft_lookup_fini(l);
}

static int app(void *arg)
{
	weft_lookup_init(arg, WEFT_MAIN, found, arg);
	return weft_lookup_start(arg, "loom.example", 80, AF_INET, 1000);
}

int main(void)
{
	static const char hosts[] = "192.0.2.7 loom.example\n";
	char path[] = "/tmp/weft-hosts-XXXXXX";
	weft_lookup lookup;
	int fd = mkstemp(path), rc = -1;

	if (fd < 0)
		return 1;
	if (write(fd, hosts, sizeof hosts - 1) == sizeof hosts - 1)
		rc = weft_lookup_servers(NULL, path);
	if (rc == 0)
		rc = weft_run(app, &lookup, NULL);
	close(fd);
	unlink(path);
	return rc < 0;
}
