/* program.h - a server as a process of its own, for tests. */
#ifndef COMMON_TESTS_PROGRAM_H
#define COMMON_TESTS_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

struct program {
	int descriptors; /* that it may have; 0: as many as we */
	pid_t pid;
	int out; /* what it prints */
};

/* Starts a program, of which only that is set, with these words behind its name, which NULL ends. */
void program_start(struct program *p, const char *path, const char *const words[]);

/* The next line that it prints, without its end; "" if there is none. Good until the next
 * call. */
const char *program_line(struct program *p);

/* Ends it by a signal, or waits for its end if that is 0, and gives what waitpid(2) says. */
int program_end(struct program *p, int signal);

/* Descriptors that it has open. */
int program_descriptors(const struct program *p);

/* Bytes that the kernel keeps for clients of a server's port (IPv4), also where the server has closed
 * the connection. */
size_t program_unsent(int port);

#endif
