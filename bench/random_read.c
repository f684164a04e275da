/* random_read.c - random reads with a pipeline of a given depth (AC, figure 11).
 *
 * One finish block, and an async body for each read: the loop that starts them waits
 * when as many are under way as the pipeline is deep. Against the same pipeline on
 * io_uring written by hand, and against reads one after the other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/scope.h>
#include <weft/weft.h>

#include "disk.h"
#include "server.h"

static struct {
	const struct disk_work *work;
	double *values;
	weft_sem room;     /* in the pipeline */
	char **free;       /* a ring of the buffers that no read uses */
	unsigned get, put; /* where in the ring */
	int fd;
	long reads;
	uint64_t start;
	double cpu;
	bool stop;
	int error;
} t;

static void record(void)
{
	disk_values(t.values, (double)t.reads, (double)(bench_now() - t.start),
		    bench_cpu_ns(getpid()) - t.cpu);
}

static int read_at(void *offset)
{
	unsigned depth = (unsigned)t.work->threads;
	char *buf = t.free[t.get++ % depth];
	size_t size = disk_size(t.work);
	ssize_t n = weft_pread(t.fd, buf, size, (int64_t)(intptr_t)offset);

	t.free[t.put++ % depth] = buf;
	weft_sem_post(&t.room);
	if (n != (ssize_t)size) {
		t.stop = true;
		return bench_fail("weft_pread: %s", n < 0 ? strerror((int)-n) : "short");
	}
	t.reads++;
	return 0;
}

static int stop_later(void *arg)
{
	int err = weft_sleep((uint64_t)(bench_seconds(0.5) * 1e9));

	(void)arg;
	record();
	t.stop = true;
	return err;
}

static int pipeline(void)
{
	uint64_t seed = 1;
	long left = t.work->cached ? DISK_READS_CACHED : 0;
	weft_scope all;
	int err = 0;

	weft_scope_begin(&all);
	if (!t.work->cached)
		err = weft_async_call(stop_later, NULL);
	while (err == 0 && (t.work->cached ? left-- > 0 : !t.stop)) {
		int64_t offset = disk_random(t.work, &seed);

		err = weft_sem_wait(&t.room);
		if (err == 0)
			err = weft_async_call(read_at, (void *)(intptr_t)offset);
	}
	t.stop = true;
	return weft_scope_end(&all) | err;
}

static int app(void *arg)
{
	int err;

	(void)arg;
	t.cpu = bench_cpu_ns(getpid());
	t.start = bench_now();
	err = pipeline();
	if (t.work->cached)
		record();
	return err;
}

static int measure(const void *arg, double *values)
{
	const struct disk_work *work = arg;
	weft_options opt = { .workers = 1, .stall_ms = -1, .io = work->io };
	size_t depth = (size_t)work->threads, size = disk_size(work);
	char *bufs = aligned_alloc(DISK_BLOCK, depth * size);

	disk_begin(work);
	t.work = work;
	t.values = values;
	t.fd = work->cached ? disk_file.cached : disk_file.direct;
	t.free = calloc(depth, sizeof(char *));
	if (bufs == NULL || t.free == NULL)
		return -ENOMEM;
	memset(bufs, 0, depth * size);
	for (size_t i = 0; i < depth; i++)
		t.free[i] = bufs + i * size;
	weft_sem_init(&t.room, (uint32_t)depth);
	if (work->cached)
		disk_file_warm();
	return weft_run(app, NULL, &opt);
}

enum { URING, EPOLL, PEER, CONTENDERS };

static const struct group {
	int depth;
	bool cached;
	size_t blocks;
} groups[] = {
	{ 1, false, 1 },    { 4, false, 1 }, { 16, false, 1 }, { 64, false, 1 }, { 256, false, 1 },
	{ 1024, false, 1 }, { 1, true, 1 },  { 64, true, 1 },  { 1, false, 16 }, { 64, false, 16 },
};
#define GROUPS BENCH_COUNT(groups)

static struct disk_work works[GROUPS][CONTENDERS];
static struct bench_row *rows[GROUPS][CONTENDERS];

static void group_label(const struct group *g, char *label, size_t size)
{
	snprintf(label, size, "%s%s, depth %d", g->cached ? "page cache" : "disk",
		 g->blocks > 1 ? ", 64 KB" : "", g->depth);
}

static void add_group(int g)
{
	char label[48], variant[64];

	group_label(&groups[g], label, sizeof label);
	for (int i = 0; i < CONTENDERS; i++)
		works[g][i] = (struct disk_work){ .threads = groups[g].depth,
						  .cached = groups[g].cached,
						  .blocks = groups[g].blocks,
						  .pinned = true };
	works[g][URING].io = "uring";
	works[g][EPOLL].io = "epoll";
	snprintf(variant, sizeof variant, "%s, uring", label);
	rows[g][URING] = server_add_weft(variant, "uring", measure, &works[g][URING]);
	snprintf(variant, sizeof variant, "%s, epoll", label);
	rows[g][EPOLL] = server_add_weft(variant, "epoll", measure, &works[g][EPOLL]);
	if (disk_uring_missing == NULL)
		rows[g][PEER] = bench_add(label, "io_uring", disk_uring, &works[g][PEER]);
	else
		bench_add_missing(label, "io_uring", disk_uring_missing);
	if (groups[g].depth == 1)
		bench_add(label, "pread", groups[g].cached ? disk_pread : disk_nptl,
			  &works[g][PEER]);
}

static void derive(int g)
{
	char label[48], text[96];

	group_label(&groups[g], label, sizeof label);
	snprintf(text, sizeof text, "%s: CPU of weft uring / io_uring", label);
	bench_ratio(text, rows[g][URING], rows[g][PEER], 1, BENCH_LOWER,
		    "at most 1.05; the paper has 1.05 to 1.12");
	if (groups[g].cached)
		return;
	snprintf(text, sizeof text, "%s: reads of weft uring / io_uring", label);
	bench_ratio(text, rows[g][URING], rows[g][PEER], 0, BENCH_HIGHER, "at least 0.95");
}

static const struct bench_plan plan = {
	.name = "random-read",
	.work = "random reads of 4 KB, or as the paper's of 64 KB, from a file of 256 MB, by "
		"O_DIRECT,\n"
		"or of 32 MB in the page cache; so many are under way at a time. weft: an async "
		"body\n"
		"for each, in one finish block. pread: one after the other. All run on the first "
		"CPU, as one\n"
		"of them may have the disk's interrupts. The file is in TMPDIR, or /var/tmp",
	.metrics = { { "reads", "K/s", BENCH_HIGHER }, { "CPU", "us/read", BENCH_LOWER } },
	.metric_count = 2,
	.repeats = 5,
};

int bench_random_read(void)
{
	return disk_bench(&plan, GROUPS, add_group, derive);
}
