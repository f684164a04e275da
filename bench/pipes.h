/* pipes.h - Capriccio's figure 2: tokens that go round through pipes.
 *
 * Each pipe has one that waits at it: a thread, or a callback. It reads a token from
 * its pipe and writes it into another, so that every token visits all pipes. There is
 * a token for four pipes: most are idle, as slow clients are.
 */
#ifndef BENCH_PIPES_H
#define BENCH_PIPES_H

#include "bench.h"

#define PIPES_TOKEN 12

struct pipes_work {
	int pipes;
	int cores;
	const char *io; /* weft only: backend */
	bool edge;      /* epoll only: edge-triggered */
};

/* Counted by whoever has the pipe; on a cache line of its own. */
struct pipes_pipe {
	_Alignas(64) int fd;
	int end;  /* to write to it */
	int next; /* the end that tokens go on to */
	uint64_t passed;
};

/* Makes the pipes and puts the tokens in. Returns NULL if that failed. */
struct pipes_pipe *pipes_open(const struct pipes_work *work, int flags);
/* How many may be open. */
int pipes_most(void);
/* Takes the figures. First to be called when all is warm, with NULL, then with the
 * values: thousands of tokens a second, CPU nanoseconds a token. */
void pipes_measure(const struct pipes_pipe *pipes, int count, double *values);

#define PIPES_WARM_NS 50000000.0
/* How long it is measured. */
double pipes_ns(void);

int pipes_epoll(const void *work, double *values);
int pipes_nptl(const void *work, double *values);

#endif
