/* disk_uring.c - random reads by a loop on io_uring written by hand: so many reads are
 * under way at any time, and each that is done starts the next. */
#include <errno.h>
#include <liburing.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk.h"

const char *const disk_uring_missing = NULL;

static int ring_init(struct io_uring *ring, unsigned entries)
{
	unsigned best = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;

	/* Old kernels do not know them. */
	if (io_uring_queue_init(entries, ring, best) == 0)
		return 0;
	return io_uring_queue_init(entries, ring, 0);
}

static void start_read(struct io_uring *ring, const struct disk_work *work, char *buf,
		       uint64_t *seed)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_read(sqe, work->cached ? disk_file.cached : disk_file.direct, buf,
			   (unsigned)disk_size(work), (uint64_t)disk_random(work, seed));
	io_uring_sqe_set_data(sqe, buf);
}

/* Takes what is done, starts as many again. Returns how many, or -Exxx. */
static long turn(struct io_uring *ring, const struct disk_work *work, uint64_t *seed)
{
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;
	int err = io_uring_submit_and_wait(ring, 1);

	if (err < 0)
		return bench_fail("io_uring_submit_and_wait: %s", strerror(-err));
	io_uring_for_each_cqe(ring, head, cqe)
	{
		if (cqe->res != (int)disk_size(work))
			return bench_fail("read: %s", strerror(-cqe->res));
		start_read(ring, work, io_uring_cqe_get_data(cqe), seed);
		n++;
	}
	io_uring_cq_advance(ring, n);
	return n;
}

/* Reads until so much time is over, or so many were read. Returns how many, or -Exxx. */
static long read_on(struct io_uring *ring, const struct disk_work *work, uint64_t *seed, double ns,
		    long most)
{
	uint64_t start = bench_now();
	long reads = 0, n = 0;

	while (n >= 0 && reads < most && (double)(bench_now() - start) < ns) {
		n = turn(ring, work, seed);
		reads += n;
		if (work->count != NULL)
			__atomic_store_n(work->count, *work->count + n, __ATOMIC_RELAXED);
	}
	return n < 0 ? n : reads;
}

int disk_uring(const void *arg, double *values)
{
	const struct disk_work *work = arg;
	double cpu;
	struct io_uring ring;
	uint64_t seed = disk_seed(), start;
	long reads;
	int err = ring_init(&ring, (unsigned)work->threads);

	disk_begin(work);
	if (err < 0)
		return bench_fail("io_uring: %s", strerror(-err));
	if (work->cached)
		disk_file_warm();
	for (int i = 0; i < work->threads; i++)
		start_read(&ring, work, disk_file.buffers + (size_t)i * disk_size(work), &seed);
	if (!work->cached && read_on(&ring, work, &seed, DISK_FILL_NS, LONG_MAX) < 0)
		return -EIO;
	start = bench_now();
	cpu = bench_cpu_ns(getpid());
	reads = work->cached ? read_on(&ring, work, &seed, INFINITY, DISK_READS_CACHED)
			     : read_on(&ring, work, &seed, disk_ns(work), LONG_MAX);
	if (reads < 0)
		return (int)reads;
	disk_values(values, (double)reads, (double)(bench_now() - start),
		    bench_cpu_ns(getpid()) - cpu);
	return 0;
}
