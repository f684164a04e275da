/* dns.h - the parts of name lookup: what is known without asking (hosts.c), and
 * the c-ares channel that asks (dns_channel.c). dns.c joins them.
 */
#ifndef WF_DNS_H
#define WF_DNS_H

#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#include <weft/event.h>

#include "base/compiler.h"

/* The hosts file, kept in memory and read again when it changes. */
struct wf_hosts {
	char *path;
	char *text; /* NULL: no file, or not read yet */
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

/* Takes path, which came from malloc. */
void wf_hosts_init(struct wf_hosts *h, char *path);
void wf_hosts_fini(struct wf_hosts *h);

/* Finds what needs no server: numeric addresses, the hosts file, localhost.
 * Gives an array of addresses in *addrs, to be freed. Returns how many, 0 if a
 * server must be asked, -ENOENT if there can be none, or -ENOMEM. */
int wf_hosts_find(struct wf_hosts *h, const char *name, int family,
		  struct sockaddr_storage **addrs);

struct ares_addrinfo;
typedef void wf_answer_fn(void *arg, int status, int timeouts, struct ares_addrinfo *found);

/* The channel. All calls happen in `color`, but for _close: no worker is left
 * then. `servers` may be NULL; it is borrowed only during the call. */
int wf_channel_open(weft_color color, const char *servers);
void wf_channel_close(void);
/* Asks; `fn` is called once, perhaps before this returns. Call _settle after. */
void wf_channel_ask(const char *name, int family, wf_answer_fn *fn, void *arg);
/* Ends all that is being asked, with ARES_ECANCELLED. */
void wf_channel_cancel(void);
/* Keeps the time for what is being asked. */
void wf_channel_settle(void);
/* Whether a text names servers: 0, -EINVAL or -ENOMEM. Any thread. */
int wf_channel_check(const char *servers);

#endif
