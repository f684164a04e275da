/* service.c - a server as a program: it says where it is, hears signals, and ends. */
#include "service.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

/* For what hangs at the end. */
#define LAST_TIME (3 * WEFT_SEC)

void service_say(const char *program, const char *address, const char *more)
{
	weft_stats_all all = { 0 };

	weft_stats(&all, NULL, 0);
	printf("%s: %s (%d workers, %s)%s\n", program, address, weft_workers(), all.io, more);
	fflush(stdout);
}

int service_signals(weft_fn *stop, int signo, weft_fn *other)
{
	int rc = weft_on_signal(SIGINT, WEFT_MAIN, stop, NULL);

	if (rc == 0)
		rc = weft_on_signal(SIGTERM, WEFT_MAIN, stop, NULL);
	return rc == 0 && signo != 0 ? weft_on_signal(signo, WEFT_MAIN, other, NULL) : rc;
}

void service_end(weft_waitgroup *users, uint64_t ms, void (*shut)(int how))
{
	shut(SHUT_RD);
	if (weft_waitgroup_wait_until(users, weft_now() + ms * WEFT_MS) == 0)
		return;
	shut(SHUT_RDWR);
	if (weft_waitgroup_wait_until(users, weft_now() + LAST_TIME) < 0)
		weft_stop();
}
