/* peer.h - other libraries, measured beside Weft in the same run.
 *
 * Each peer is one file that fills in one table. When its library is not there
 * at build time, a file without it fills in the table and says so.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench.h"

#define ECHO_LOOPS_MAX 8
#define ECHO_BUFFER 4096

/* What an echo server is asked to be. The sockets listen already. */
struct echo_server {
	int loops;                     /* event loops or workers, a thread each */
	int listeners[ECHO_LOOPS_MAX]; /* one a loop, sharing a port */
	int timers;                    /* timers an hour away, started beside */
	const char *io;                /* weft only: backend */
	bool watches;                  /* weft only: readiness, not operations */
	bool threads;                  /* weft only: a thread for each connection */
};

struct peer {
	const char *name;
	const char *missing; /* NULL, or why it cannot be measured */
	/* Values: nanoseconds a post, nanoseconds a post and its run. The argument is
	 * a struct post_work. */
	bench_measure *post;
	bench_measure *post_foreign;
	/* Values: nanoseconds to start a timer, to fire one, milliseconds in all. The
	 * argument is a struct timer_work. */
	bench_measure *timers_fire;
	/* Value: nanoseconds to cancel a timer and add it again, or to put it off. */
	bench_measure *timers_churn;
	/* Serves until it is killed. */
	void (*echo)(const void *echo_server);
};

extern const struct peer peer_libuv;
extern const struct peer peer_libevent;
/* No library: epoll by hand. It serves echoes only. */
extern const struct peer peer_epoll;

/* Posts: rounds of `batch` posts, each round after the last one ran. */
struct post_work {
	int batch;
	int rounds;
};

struct timer_work {
	int count;    /* timers started */
	int span_ms;  /* their delays are random, from 1 to this */
	int restarts; /* churn: random timers cancelled and added again */
	bool put_off; /* churn: they are put off by the whole span, not cancelled */
	/* Churn: delays are from the moment of the call, so each reads the clock. Else
	 * from when the handler began, or what the loop last knew. */
	bool from_now;
};

/* One step of churn. All are drawn before churn is timed: to draw one takes half as long
 * as the step, and where it waits for the drawn number the CPU does not look ahead. */
struct timer_step {
	uint32_t timer, delay_ms;
};

/* work->restarts steps. NULL: no memory. */
struct timer_step *timer_steps_new(const struct timer_work *work, uint64_t *seed);

/* Adds a row for a peer, or says that it is not there. */
struct bench_row *peer_add(const char *label, const struct peer *peer, bench_measure *fn,
			   const void *arg);

/* Work that a foreign thread of a peer does while the loop runs: posts
 * `work->batch` things by `post(i)`, waits for them all to have run (`ran`
 * counts), `work->rounds` times, then calls `end`. */
struct peer_poster {
	const struct post_work *work;
	void (*post)(int i);
	void (*end)(void);
	_Atomic uint64_t ran;
	uint64_t post_ns, all_ns;
};
/* A thread's body; the argument is a struct peer_poster. */
void *peer_poster_main(void *arg);
/* The two values of its result. */
void peer_poster_values(const struct peer_poster *p, double *values);

#endif
