/* threads.h - other kinds of threads, measured beside Weft's in the same run.
 *
 * As peer.h: each peer is one file that fills in one table, and when its library
 * is missing at build time a file without it says so. Go, Boost.Fiber and MPI
 * are programs of their own, in other languages or with a start of their own;
 * they are run as children and print their figures.
 */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include <stddef.h>

#include "bench.h"

/* What threads are asked to do; each measurement says what it looks at. */
struct thread_work {
	int threads; /* how many there are */
	long rounds; /* how often each of them does it, or all together */
	int cores;   /* CPUs that they may use */
	int depth;   /* messages that a channel or a buffer holds */
	int colors;  /* weft only: 0: all are of one; else thread i has color 1 + i % colors */
	bool apart;  /* weft only: each color is kept on a worker of its own */
};

/* A function that is NULL has no equal in that library. Values are in nanoseconds
 * unless told. */
struct thread_peer {
	const char *name;
	const char *missing; /* NULL, or why it cannot be measured */
	const char *program; /* NULL, or what of bench/peers it needs */
	/* `threads` threads yield `rounds` times each. Value: a switch. */
	bench_measure *yield;
	/* `rounds` times: start `threads` threads, then join them. Value: a thread. */
	bench_measure *spawn;
	/* `threads` threads lock and unlock one mutex `rounds` times each. Value: a
	 * pair. */
	bench_measure *mutex;
	/* A message goes to and fro over two channels, `rounds` times. Value: one way. */
	bench_measure *ping_pong;
	/* `rounds` messages through a channel of `depth`. Value: a message. */
	bench_measure *stream;
	/* Producers and consumers, half of `threads` each, share a buffer of `depth`, a
	 * mutex and conditions; `rounds` items in all. Value: thousands a second. */
	bench_measure *produce;
	/* `threads` threads are started and wait, then all are woken and joined. Values:
	 * to start one, to wake and join one, bytes resident for each, with page tables. */
	bench_measure *parked;
	/* Milliseconds for a tree of 1,111,111 tasks: by channels, or by joins. */
	bench_measure *skynet_channels;
	bench_measure *skynet_joins;
};

extern const struct thread_peer peer_weft; /* not a peer, but measured like one */
extern const struct thread_peer peer_nptl;
extern const struct thread_peer peer_st;
extern const struct thread_peer peer_pth;
extern const struct thread_peer peer_fiber;
extern const struct thread_peer peer_go;

#define THREAD_PEERS 8

/* The same work for several kinds of threads; the first is weft. */
struct thread_case {
	const char *label;
	struct thread_work work;
	const struct thread_peer *peers[THREAD_PEERS];
};

/* Adds a row for a peer, or says that it is not there. */
struct bench_row *thread_peer_add(const char *label, const struct thread_peer *peer,
				  bench_measure *fn, const void *arg);

/* Adds a row for each peer of a case. `what` is the offset of the measurement in
 * struct thread_peer. */
void thread_case_add(const struct thread_case *c, size_t what,
		     struct bench_row *rows[THREAD_PEERS]);
/* A line under the table: how many times better than the best peer weft is. */
void thread_case_derive(const struct thread_case *c, struct bench_row *rows[THREAD_PEERS],
			int metric, enum bench_better better, const char *aim);

/* Where a file of bench/peers is, or what was made of it. */
void peers_path(const char *file, char *path, size_t size);
/* In a measurement: runs a program of bench/peers, with these words, and reads the
 * numbers that it prints into values. Returns 0 or -Exxx. */
int program_run(const char *name, double *values, const char *const *words);
/* Becomes that program. */
void program_exec(const char *name, const char *const *words) __attribute__((noreturn));
/* As program_run for a peer's measurement: the words are its name and the work's numbers. */
int program_work(const char *name, double *values, const char *what,
		 const struct thread_work *work);

/* A measurement `name` of a peer's program, which knows it by `word`. */
#define PROGRAM_MEASURES(program, name, word) \
	static int name(const void *arg, double *values) \
	{ \
		return program_work(program, values, word, arg); \
	}
/* Whether it was built. */
bool program_built(const char *name);

/* Nanoseconds. For one core it is the process's CPU time: nothing sleeps there, and
 * what others do on this machine then matters less. Else it is the time. */
double threads_clock(const struct thread_work *work);

/* Bytes that the calling process has resident, with its page tables. */
double threads_memory(void);

/* An item's work for a consumer: from 0 to 200 cycles, random. */
static inline void threads_consume(uint64_t *seed)
{
	bench_work(bench_random(seed) % 200);
}

#endif
