/* disk.h - random reads, many at a time: Capriccio's figures 3 and 4, AC's 11. */
#ifndef BENCH_DISK_H
#define BENCH_DISK_H

#include <unistd.h>

#include "bench.h"

#define DISK_BLOCK 4096
#define DISK_BLOCKS 65536       /* of the file: 256 MB */
#define DISK_BLOCKS_CACHED 8192 /* that are read from the page cache: 32 MB */

struct disk_work {
	int threads;    /* reads under way at a time */
	bool cached;    /* by the page cache; else straight from the disk */
	const char *io; /* weft only: backend */
	size_t blocks;  /* in a read; 0: one */
	bool pinned; /* all on one CPU: else it is chance whether that has the disk's interrupts */
	long *count; /* in turns with another: where reads are counted, for who compares them */
};

/* Bytes of a read. */
static inline size_t disk_size(const struct disk_work *work)
{
	return (work->blocks > 0 ? work->blocks : 1) * DISK_BLOCK;
}

/* To be called first by who measures. */
static inline void disk_begin(const struct disk_work *work)
{
	if (work->pinned)
		(void)bench_pin(0);
}

/* The most that is under way at a time. */
#define DISK_BUFFERS ((size_t)1024 * 16 * DISK_BLOCK)

/* The file, opened twice, and memory that all share, by the parent of all measurements. All read into
 * the same pages: a read into pages that lie together costs the kernel up to a third less. */
struct disk_file {
	int direct, cached;
	char *buffers;
	long *counts; /* two, for disk_work */
};
extern struct disk_file disk_file;

/* Has the kernel read what is read by the page cache. */
void disk_file_warm(void);

/* Where the next read goes. */
static inline int64_t disk_random(const struct disk_work *work, uint64_t *seed)
{
	size_t bytes = (size_t)(work->cached ? DISK_BLOCKS_CACHED : DISK_BLOCKS) * DISK_BLOCK;

	return (int64_t)(bench_random(seed) % (bytes / disk_size(work)) * disk_size(work));
}

/* For bench_random: of two processes that read by turns neither reads what the other just has. */
static inline uint64_t disk_seed(void)
{
	return (uint64_t)getpid();
}

/* Reading from the disk is measured once all reads are under way, and stacks are there. */
#define DISK_FILL_NS 50000000

/* One of several turns. Short ones compare best; but what is under way ends while its owner is
 * stopped, and is then seen to in one go: so most of a turn is not that, even if the disk is slow. */
static inline double disk_turn_ns(const struct disk_work *work)
{
	const double least = 10e6, most = 1e9, slow = 40; /* ns a byte */
	double ns = least + slow * work->threads * (double)disk_size(work);

	return ns < most ? ns : most;
}

/* For how long. */
static inline double disk_ns(const struct disk_work *work)
{
	double ns = bench_seconds(work->count != NULL ? 3 : 0.5) * 1e9;

	return work->count != NULL && ns < 8 * disk_turn_ns(work) ? 8 * disk_turn_ns(work) : ns;
}

#define DISK_READS_CACHED 400000 /* in all */

/* Thousands of reads a second, CPU microseconds a read. */
void disk_values(double *values, double reads, double ns, double cpu_ns);

/* Runs a bench of the file: `add` adds the rows of a group, `derive` computes from them.
 * Returns how many rows failed. */
int disk_bench(const struct bench_plan *plan, int groups, void (*add)(int g),
	       void (*derive)(int g));

/* Measurements of the peers; the argument is a struct disk_work. */
int disk_pread(const void *work, double *values);
int disk_nptl(const void *work, double *values);
int disk_uring(const void *work, double *values);
/* NULL, or why io_uring is not measured. */
extern const char *const disk_uring_missing;

#endif
