/* settings.h - what the flags say. Set once, before the server runs. */
#ifndef QUOTES_SETTINGS_H
#define QUOTES_SETTINGS_H

#include <stdint.h>

struct settings {
	const char *listen;
	uint64_t max_clients;     /* 0: as many as there are descriptors for */
	uint64_t max_per_address; /* 0: any number */
	uint64_t max_unsent;      /* bytes that wait for a client to read; 0: any */
	/* Milliseconds. */
	uint64_t interval; /* between two quotes of a client */
	uint64_t first;    /* between its first two; 0: the same */
	uint64_t patience; /* for a quote to go */
	uint64_t stop_time;
};
extern struct settings settings;

/* Reads the flags. Gives -1 to go on, else the exit status. */
int settings_read(int argc, char **argv);

#endif
