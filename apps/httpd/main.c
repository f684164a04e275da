/* main.c - weft-httpd: a web server on all cores.
 *
 * From the net to a file and back: server.c accepts, conn.c reads requests (request.c),
 * dispatch.c finds who answers: a handler (handler.h), or files.c from the cache (cache.c).
 * reply.c writes the answer to stream.c, which is plain TCP or TLS (tls.c).
 */
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/service.h"
#include "counters.h"
#include "file.h"
#include "log.h"
#include "once.h"
#include "server.h"
#include "settings.h"
#include "tls.h"

static void say_where(void)
{
	char address[80] = "", url[96];

	if (server_address(true, address, sizeof address))
		printf("weft-httpd: https://%s/\n", address);
	server_address(false, address, sizeof address);
	snprintf(url, sizeof url, "http://%s/", address);
	service_say("weft-httpd", url, settings.once ? "" : ", press ctrl-C to stop");
}

static int app(void *unused)
{
	int rc;

	(void)unused;
	rc = log_start();
	if (rc < 0)
		fprintf(stderr, "weft-httpd: %s: %s\n", settings.access_log, strerror(-rc));
	if (rc == 0)
		rc = server_start();
	if (rc == 0)
		rc = service_signals(server_stop, SIGHUP, server_reload);
	if (rc == 0 && settings.once)
		rc = once_start(server_port());
	if (rc < 0) {
		weft_stop();
		return rc;
	}
	say_where();
	return 0;
}

static int open_all(void)
{
	int rc = settings.root != NULL ? root_open(settings.root) : 0;

	if (rc < 0) {
		fprintf(stderr, "weft-httpd: %s: %s\n", settings.root, strerror(-rc));
		return rc;
	}
	if (settings.listen_tls != NULL) {
		rc = tls_load();
		if (rc < 0) {
			fprintf(stderr, "weft-httpd: no TLS: %s\n", strerror(-rc));
			return rc;
		}
	}
	return server_listen();
}

/* Gives up all that another user may do. */
static int become(const char *name)
{
	const struct passwd *user = getpwnam(name);

	if (user == NULL) {
		fprintf(stderr, "weft-httpd: no such user: %s\n", name);
		return -1;
	}
	if (initgroups(name, user->pw_gid) < 0 || setgid(user->pw_gid) < 0 ||
	    setuid(user->pw_uid) < 0) {
		fprintf(stderr, "weft-httpd: cannot become %s: %s\n", name, strerror(errno));
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	weft_options opt = { 0 };
	int rc = settings_read(argc, argv);

	if (rc >= 0)
		return rc;
	signal(SIGPIPE, SIG_IGN); /* OpenSSL writes as anybody does */
	signal(SIGXFSZ, SIG_IGN); /* a log at its size limit must not end the server */
	if (open_all() < 0 || (settings.user != NULL && become(settings.user) < 0))
		return EXIT_FAILURE;
	opt.queue_delay_ms = (uint32_t)settings.queue_time;
	rc = weft_run(app, NULL, &opt);
	if (rc == 0)
		rc = server_error();
	server_free();
	if (rc < 0) {
		fprintf(stderr, "weft-httpd: %s\n", strerror(-rc));
		return EXIT_FAILURE;
	}
	printf("%sstopped after %" PRIu64 " requests on %" PRIu64 " connections\n",
	       settings.once ? "\n" : "", counter_sum(COUNT_REQUESTS),
	       counter_sum(COUNT_CONNECTIONS));
	return !settings.once || once_succeeded() ? EXIT_SUCCESS : EXIT_FAILURE;
}
