/* settings.h - what the flags say. Set once, before the server runs. */
#ifndef SEALED_SETTINGS_H
#define SEALED_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct settings {
	const char *listen, *root, *keys;
	bool serial; /* all in one color */

	/* Limits. Times are in milliseconds. */
	uint64_t max_clients;
	uint64_t max_per_key;     /* of those; 0: a quarter */
	uint64_t max_strangers;   /* who have not proved who they are; 0: as descriptors allow */
	uint64_t max_per_address; /* of those; 0: no limit */
	uint64_t max_file;        /* bytes that a client may write */
	uint64_t handshake_time;  /* from the connection to the proof */
	uint64_t idle_time;       /* between requests */
	uint64_t message_time;    /* for a message to come or to go */
	uint64_t lease_time;      /* from the last use of a lease */
	uint64_t wait_time;       /* most that a client may wait for another */
	uint64_t stop_time;       /* for requests under way when the server is told to stop */
};

extern struct settings settings;

/* Reads the command line. Gives -1 to go on, else the exit status. */
int settings_read(int argc, char **argv);

#endif
