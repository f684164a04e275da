/* flags.h - the command line of a program: its flags, and --help. */
#ifndef COMMON_FLAGS_H
#define COMMON_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

/* A flag has either a text or a number, or nothing and is a switch. */
struct flag {
	const char *name, *value, *help;
	const char **text;
	uint64_t *number, least, most;
	bool *given;
};

struct flags {
	const char *program, *usage, *about;
	const struct flag *list;
	int count;
	bool runtime; /* it runs Weft: --help tells of the environment */
};

/* Reads the command line. What follows the flags begins at argv[*rest]; if that is NULL
 * nothing may. Gives -1 to go on, else the exit status. */
int flags_read(const struct flags *flags, int argc, char **argv, int *rest);

#endif
