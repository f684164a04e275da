/* disk_peers.c - random reads by plain pread, from one kernel thread or many; and the
 * file that all read. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "disk.h"

struct disk_file disk_file = { -1, -1, NULL, NULL };

static int write_blocks(int fd)
{
	static char chunk[256 * DISK_BLOCK];
	uint64_t seed = 1;

	for (int i = 0; i < DISK_BLOCKS / 256; i++) {
		for (size_t n = 0; n < sizeof chunk; n += sizeof(uint32_t)) {
			uint32_t r = bench_random(&seed);

			memcpy(chunk + n, &r, sizeof r);
		}
		if (write(fd, chunk, sizeof chunk) != (ssize_t)sizeof chunk)
			return errno != 0 ? -errno : -ENOSPC;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* In TMPDIR or /var/tmp; it has no name and ends with the process. */
static int make_file(void)
{
	const char *folder = getenv("TMPDIR");
	char path[512];
	int fd, err;

	snprintf(path, sizeof path, "%s/weft-bench-XXXXXX", folder != NULL ? folder : "/var/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return -errno;
	err = write_blocks(fd);
	disk_file.cached = fd;
	disk_file.direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (err == 0 && disk_file.direct < 0)
		err = -errno;
	unlink(path);
	return err;
}

void disk_file_warm(void)
{
	static char chunk[64 * DISK_BLOCK];

	for (int64_t at = 0; at < (int64_t)DISK_BLOCKS_CACHED * DISK_BLOCK; at += sizeof chunk)
		if (pread(disk_file.cached, chunk, sizeof chunk, at) < 0)
			return;
}

#define DISK_SHARED (DISK_BUFFERS + DISK_BLOCK)

static int make_buffers(void)
{
	disk_file.buffers = mmap(NULL, DISK_SHARED, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	disk_file.counts = (long *)(void *)(disk_file.buffers + DISK_BUFFERS);
	return disk_file.buffers != MAP_FAILED ? 0 : -errno;
}

int disk_bench(const struct bench_plan *plan, int groups, void (*add)(int g), void (*derive)(int g))
{
	int err = make_file();

	bench_begin(plan);
	if (err == 0)
		err = make_buffers();
	if (err < 0) {
		char why[128];

		snprintf(why, sizeof why, "no file for it in TMPDIR, or no memory: %s",
			 strerror(-err));
		bench_add_missing("all", "weft", why);
	}
	for (int g = 0; g < groups && err == 0; g++)
		add(g);
	bench_run();
	for (int g = 0; g < groups && err == 0; g++)
		derive(g);
	close(disk_file.direct);
	close(disk_file.cached);
	if (err == 0)
		munmap(disk_file.buffers, DISK_SHARED);
	return bench_end();
}

void disk_values(double *values, double reads, double ns, double cpu_ns)
{
	values[0] = reads / ns * 1e6;
	values[1] = cpu_ns / reads / 1e3;
}

static int read_cached(const void *arg, double *values)
{
	const struct disk_work *work = arg;
	uint64_t seed = 1, start;
	double cpu;

	disk_file_warm();
	start = bench_now();
	cpu = bench_cpu_ns(getpid());
	for (int i = 0; i < DISK_READS_CACHED; i++) {
		/* Into as many buffers as the threads have, for the caches' sake. */
		char *buf = disk_file.buffers + (size_t)(i % work->threads) * DISK_BLOCK;

		if (pread(disk_file.cached, buf, DISK_BLOCK, disk_random(work, &seed)) !=
		    DISK_BLOCK)
			return bench_fail("pread: %s", strerror(errno));
	}
	disk_values(values, DISK_READS_CACHED, (double)(bench_now() - start),
		    bench_cpu_ns(getpid()) - cpu);
	return 0;
}

/* With a second kernel thread in the process the kernel must count its uses of a
 * file, which costs; and a server, like Weft, has one. */
static void *stand_by(void *arg)
{
	(void)pthread_mutex_lock(arg);
	(void)pthread_mutex_unlock(arg);
	return NULL;
}

int disk_pread(const void *arg, double *values)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	pthread_t second;
	int rc;

	disk_begin(arg);
	pthread_mutex_lock(&gate);
	rc = pthread_create(&second, NULL, stand_by, &gate);
	if (rc != 0)
		return bench_fail("pthread_create: %s", strerror(rc));
	rc = read_cached(arg, values);
	pthread_mutex_unlock(&gate);
	pthread_join(second, NULL);
	return rc;
}

/* Kernel threads */

static struct {
	const struct disk_work *work;
	_Atomic long reads;
	_Atomic bool stop;
} t;

static void *read_thread(void *arg)
{
	size_t size = disk_size(t.work), nth = (size_t)(uintptr_t)arg;
	char *buf = disk_file.buffers + (nth - 1) * size;
	uint64_t seed = nth;

	while (!atomic_load_explicit(&t.stop, memory_order_relaxed)) {
		if (pread(disk_file.direct, buf, size, disk_random(t.work, &seed)) != (ssize_t)size)
			break;
		atomic_fetch_add_explicit(&t.reads, 1, memory_order_relaxed);
	}
	return NULL;
}

int disk_nptl(const void *arg, double *values)
{
	double cpu;
	uint64_t start;
	pthread_attr_t attr;
	pthread_t thread;

	disk_begin(arg);
	t.work = arg;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)64 * 1024);
	for (int i = 0; i < t.work->threads; i++)
		if (pthread_create(&thread, &attr, read_thread, (void *)(uintptr_t)(i + 1)) != 0)
			return bench_fail("no thread %d", i);
	usleep(DISK_FILL_NS / 1000);
	atomic_store(&t.reads, 0);
	cpu = bench_cpu_ns(getpid());
	start = bench_now();
	usleep((useconds_t)(bench_seconds(0.5) * 1e6));
	disk_values(values, (double)t.reads, (double)(bench_now() - start),
		    bench_cpu_ns(getpid()) - cpu);
	return t.reads > 0 ? 0 : bench_fail("nothing was read");
}
