/* settings.h - what the flags say. Set once, before the server runs. */
#ifndef HTTPD_SETTINGS_H
#define HTTPD_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum status_to { STATUS_TO_NOBODY, STATUS_TO_LOCAL, STATUS_TO_ALL };

struct settings {
	const char *listen;      /* where plain connections come; NULL: nowhere */
	const char *listen_tls;  /* where encrypted ones do; NULL: nowhere */
	const char *certificate; /* files, in PEM */
	const char *key;
	const char *root;       /* of the files; NULL: the demo's pages */
	const char *access_log; /* NULL: none; "-": standard output */
	const char *user;       /* who to become; NULL: who we are */
	const char *status;     /* who may see the status page, see status_to */
	enum status_to status_to;
	bool port_given, once;

	/* Limits. Times are in milliseconds. */
	uint64_t max_connections; /* 0: as many as there are descriptors for */
	uint64_t max_per_address; /* 0: no limit */
	uint64_t max_handshakes;  /* that are computed at one time; 0: one for each worker */
	uint64_t max_requests;    /* on one connection; 0: no limit */
	uint64_t max_head;        /* bytes of a request's line and headers */
	uint64_t max_headers;
	uint64_t max_body;
	uint64_t max_unsent; /* bytes of replies that a connection by HTTP/2 keeps */
	uint64_t max_kept;   /* bytes of requests and replies that all those together keep */
	uint64_t head_time;  /* for a head to come, and for the first one to begin */
	uint64_t idle_time;  /* between requests */
	uint64_t body_time;  /* for each 64 KiB of a body to come */
	uint64_t send_time;  /* for each 256 KiB of a reply to go */
	uint64_t stop_time;  /* for requests under way when the server is told to stop */
	uint64_t queue_time; /* who waited longer for a turn gets 503 */

	uint64_t cache_size; /* bytes of small files kept in memory */
	uint64_t cache_file; /* most bytes of one that is */
	uint64_t cache_time; /* until a cached file is compared with the disk */
};

extern struct settings settings;

/* Reads the command line. Gives -1 to go on, else the exit status. */
int settings_read(int argc, char **argv);

#endif
