/* site.h - web servers as programs of their own: weft-httpd and what is looked for in PATH,
 * each with a directory for its files and its configuration.
 */
#ifndef BENCH_SITE_H
#define BENCH_SITE_H

#include "bench.h"

enum { SITE_PATH = 128 };

struct site_server {
	const char *name;
	const char *program; /* in PATH, or of bench/peers if it begins so */
	const char *config;  /* NULL, or a file of bench/peers that is filled in */
	/* Its arguments: "@config", "@root" and "@listen" stand for what they say. */
	const char *arguments[12];
};

/* The first is weft. */
enum { SITE_WEFT, SITE_NGINX, SITE_APACHE, SITE_LIGHTTPD, SITE_H2O, SITE_GO, SITE_UV };
enum { SITE_SERVERS = SITE_UV + 1 };
extern const struct site_server site_servers[SITE_SERVERS];

/* A server that was made ready in a directory of its own. */
struct site {
	const struct site_server *server;
	char directory[32], root[SITE_PATH], config[SITE_PATH];
	int workers;       /* before site_make; 0: one for each CPU */
	int pin;           /* before site_start: which CPU to be kept on, or -1 */
	const char *steal; /* before site_start: WEFT_STEAL, or NULL */
	int port, pid;
};

/* NULL, or why a server cannot be measured. */
const char *site_missing(const struct site_server *server);

/* Makes the directory, with no files in it. All return 0 or -Exxx. */
int site_make(struct site *site, const struct site_server *server, int workers);
/* Adds a file of so many bytes below the root; directories of its name are made. */
int site_add_file(const struct site *site, const char *name, size_t size);
/* Runs the server, and waits until it can be connected to. */
int site_start(struct site *site);
/* CPU time in seconds that all processes of the server have used, also those that ended. */
double site_cpu(const struct site *site);
/* Bytes of memory of all its processes; what they share counts once. */
double site_memory(const struct site *site);
/* Ends the server, if it was started, and removes the directory. `result` is that of the
 * measurement; if the server had ended by itself, that is the reason to give. */
int site_stop(struct site *site, int result);

#endif
