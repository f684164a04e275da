/* bench.h - the harness: contenders measured in turn, each in a process of its own.
 *
 * A benchmark makes a plan, adds a row for each case and contender, and runs
 * them. Every measurement is a forked child that sends its numbers through a
 * pipe: no contender sees the heap, the threads or the warm state of another,
 * and one that hangs is killed and said to have failed. Contenders are
 * interleaved (one measurement of each, then again, backwards), so that a noisy
 * minute hits all of them. Ratios are those of neighbours: machines change their
 * speed within seconds, and the median of one contender may come from a good
 * second where that of the other comes from a bad one.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define BENCH_METRICS 6
#define BENCH_REPEATS_MAX 100
#define BENCH_WHY 160 /* characters of a reason */

#define BENCH_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* What the user asked for. */
struct bench_options {
	bool json;
	bool cases;     /* name what would be measured, and measure nothing */
	FILE *save;     /* gets the JSON lines too; or NULL */
	double seconds; /* 0: each benchmark's own choice */
	int repeats;    /* 0: each benchmark's own choice */
};
extern struct bench_options bench_options;

enum bench_better { BENCH_LOWER, BENCH_HIGHER };

/* One column of numbers. */
struct bench_metric {
	const char *name;
	const char *unit;
	enum bench_better better;
};

struct bench_plan {
	const char *name; /* as on the command line */
	const char *work; /* what is measured, for people */
	struct bench_metric metrics[BENCH_METRICS];
	int metric_count;
	int repeats; /* unless the user says otherwise */
	int limit_s; /* a measurement that takes longer has failed; 0: 60 */
};

/* Measures once. Runs in a process of its own; `values` starts as all NAN, which
 * means "does not apply". Returns 0 or -Exxx; bench_fail gives a reason. */
typedef int bench_measure(const void *arg, double *values);

struct bench_row;

void bench_begin(const struct bench_plan *plan);
/* Strings are copied; arg must stay until bench_end. */
struct bench_row *bench_add(const char *label, const char *who, bench_measure *fn, const void *arg);
/* A contender that is not there: the reader is told why. */
void bench_add_missing(const char *label, const char *who, const char *why);
/* Figures that others published; NAN where they gave none. */
void bench_add_paper(const char *label, const char *who, const double *values);
/* Several of them; the last has no label. */
struct bench_paper {
	const char *label, *who;
	double values[BENCH_METRICS];
};
void bench_add_papers(const struct bench_paper *figures);
/* Measures all rows. */
void bench_run(void);

/* Lines under the table, each with what it should be. A row may be NULL, or have failed: what
 * was not measured is left out. */

/* What a row has in a column. */
void bench_figure(const char *label, const struct bench_row *row, int metric, const char *aim);
/* How much more, and how many times as much, a row has than another: the median of what they
 * differ by in each round, where they were measured one soon after the other. */
void bench_difference(const char *label, const struct bench_row *row, const struct bench_row *than,
		      int metric, const char *aim);
void bench_ratio(const char *label, const struct bench_row *row, const struct bench_row *to,
		 int metric, enum bench_better better, const char *aim);
/* The same ratio, as a column of the row. */
void bench_relate(struct bench_row *row, int column, const struct bench_row *to, int metric);
/* Which of some rows is the lowest or the highest, by such ratios; 0 if none was measured. */
int bench_pick(struct bench_row *const *rows, int count, int metric, enum bench_better which);

/* Prints what was measured. Returns how many rows failed. */
int bench_end(void);

/* In a measurement: notes why it failed, and returns -EIO for the caller. */
int bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What was noted; "" if nothing was. */
const char *bench_why(void);

/* How long a measurement should run: the user's choice or `usual`. */
double bench_seconds(double usual);
int bench_repeats(int usual);

/* Starts `fn(arg)` in a child that dies with its parent. Returns the pid. */
int bench_spawn(void (*fn)(const void *arg), const void *arg);

/* Time */

/* Monotonic nanoseconds. */
static inline uint64_t bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* CPU time of the calling thread, in nanoseconds: for work that never waits. Others that
 * take the CPU away do not count. */
static inline uint64_t bench_thread_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The cheapest clock of the CPU; see bench_tick_ns. */
static inline uint64_t bench_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
	return bench_now();
#endif
}

/* Nanoseconds in a tick; measured once. */
double bench_tick_ns(void);
/* CPU cycles in a nanosecond: of the time stamp counter where there is one,
 * else measured with a chain of additions. */
double bench_ghz(void);

/* Works for about so many cycles. A count of instructions, not of time: a
 * handler that was preempted still has all its work to do. */
static inline void bench_work(uint64_t cycles)
{
	while (cycles > 0) {
		cycles--;
		__asm__ volatile("" : "+r"(cycles));
	}
}

/* Sorts values and returns their median; NAN if there are none. */
double bench_median(double *values, int count);

/* CPU time that a whole process has used, in nanoseconds; -1 if it is gone. */
double bench_cpu_ns(int pid);
/* Times a whole process gave up the CPU by itself; -1 if it is gone. */
double bench_switches(int pid);
/* Bytes of memory that a process has resident, and that it has addresses for; -1 if it is
 * gone. */
double bench_resident(int pid);
double bench_mapped(int pid);
/* Keeps the caller, and what it starts from now on, on one CPU (the nth of those
 * that it may use). Returns 0, or -EINVAL if there is no such CPU. */
int bench_pin(int nth);
/* Part of all CPUs, in per cent, that others used since the beginning: how far
 * the figures can be trusted. */
double bench_noise(bool begin);
/* CPUs that this process may use. */
int bench_cpus(void);
/* Raises the soft limit of descriptors to the hard one and returns it. */
long bench_raise_files(void);

/* A small generator of random numbers, the same for the same state. */
static inline uint32_t bench_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Output; between bench.c and report.c. */

struct bench_row {
	struct bench_row *next;
	char label[64];
	char who[48];
	bench_measure *fn;
	const void *arg;
	char why[BENCH_WHY]; /* if it failed or is missing */
	bool missing, paper;
	int runs;
	double values[BENCH_METRICS][BENCH_REPEATS_MAX];
	double median[BENCH_METRICS];
	double spread[BENCH_METRICS]; /* (max - min) / median */
};

struct bench_derived {
	struct bench_derived *next;
	char label[96];
	char aim[64];
	const char *unit;
	enum bench_better better;
	double value, spread;
};

void bench_print_machine(void);
void bench_print(const struct bench_plan *plan, const struct bench_row *rows,
		 const struct bench_derived *derived, int repeats, double noise);

/* The benchmarks. Each returns how many of its rows failed. */
int bench_post(void);
int bench_steal(void);
int bench_unbalanced(void);
int bench_penalty(void);
int bench_cache_efficient(void);
int bench_sim_unbalanced(void);
int bench_sim_penalty(void);
int bench_sim_cache_efficient(void);
int bench_timers(void);
int bench_echo_callbacks(void);
int bench_idle(void);
int bench_overload(void);
int bench_stall(void);
int bench_beat(void);
int bench_switch(void);
int bench_spawn_join(void);
int bench_mutex(void);
int bench_channel(void);
int bench_producer_consumer(void);
int bench_pipes(void);
int bench_disk(void);
int bench_parked(void);
int bench_skynet(void);
int bench_echo_threads(void);
int bench_pingpong_shm(void);
int bench_fanout_2pc(void);
int bench_async_call(void);
int bench_async_yield(void);
int bench_finish(void);
int bench_random_read(void);
int bench_quote_server(void);
int bench_httpd(void);
int bench_web_steal(void);
int bench_web_pauses(void);
int bench_web_copies(void);
int bench_sealed_files(void);
int bench_tame_call(void);
int bench_tame_wait(void);
int bench_tame_memory(void);
int bench_four_styles(void);

#endif
