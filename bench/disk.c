/* disk.c - random reads by threads of Weft, from the disk and from the page cache.
 *
 * Figure 3: O_DIRECT, so that every read goes to the disk; the more threads wait, the
 * more the disk can choose from. Figure 4: all is in the page cache, and a read should
 * cost what the system call costs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/blocking.h>
#include <weft/weft.h>

#include "disk.h"
#include "server.h"

static struct {
	const struct disk_work *work;
	double *values;
	long reads;
	bool stop;
	int error;
} t;

static bool read_one(int fd, char *buf, uint64_t *seed)
{
	ssize_t n = weft_pread(fd, buf, DISK_BLOCK, disk_random(t.work, seed));

	if (n == DISK_BLOCK) {
		t.reads++;
		return true;
	}
	t.error = bench_fail("weft_pread: %s", n < 0 ? strerror((int)-n) : "short");
	return false;
}

static int direct_thread(void *arg)
{
	size_t i = (size_t)(uintptr_t)arg;
	uint64_t seed = i + 1;

	while (!t.stop && read_one(disk_file.direct, disk_file.buffers + i * DISK_BLOCK, &seed))
		;
	return 0;
}

static int cached_thread(void *arg)
{
	size_t i = (size_t)(uintptr_t)arg;
	uint64_t seed = i + 1;

	for (int n = DISK_READS_CACHED / t.work->threads; n > 0; n--)
		if (!read_one(disk_file.cached, disk_file.buffers + i * DISK_BLOCK, &seed))
			break;
	return 0;
}

static int app(void *arg)
{
	weft_thread **threads = calloc((size_t)t.work->threads, sizeof(weft_thread *));
	double cpu = bench_cpu_ns(getpid());
	uint64_t start = bench_now();

	(void)arg;
	for (int i = 0; threads != NULL && i < t.work->threads; i++)
		if (weft_thread_start(&threads[i], NULL,
				      t.work->cached ? cached_thread : direct_thread,
				      (void *)(uintptr_t)i) < 0)
			return bench_fail("no thread %d", i);
	if (!t.work->cached) {
		weft_sleep(DISK_FILL_NS);
		t.reads = 0;
		cpu = bench_cpu_ns(getpid());
		start = bench_now();
		weft_sleep((uint64_t)(bench_seconds(0.5) * 1e9));
		disk_values(t.values, (double)t.reads, (double)(bench_now() - start),
			    bench_cpu_ns(getpid()) - cpu);
		t.stop = true;
	}
	for (int i = 0; threads != NULL && i < t.work->threads; i++)
		weft_join(threads[i], NULL);
	if (t.work->cached)
		disk_values(t.values, (double)t.reads, (double)(bench_now() - start),
			    bench_cpu_ns(getpid()) - cpu);
	free(threads);
	return t.error;
}

static int measure(const void *arg, double *values)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	t.work = arg;
	t.values = values;
	if (t.work->cached)
		disk_file_warm();
	opt.io = t.work->io;
	return weft_run(app, NULL, &opt);
}

enum { URING, EPOLL, PEER, NPTL, CONTENDERS };

static const int counts[] = { 1, 10, 100, 1000 };
static const int counts_cached[] = { 1, 100 };
#define GROUPS (BENCH_COUNT(counts) + BENCH_COUNT(counts_cached))

static struct disk_work works[GROUPS][CONTENDERS];
static struct bench_row *rows[GROUPS][CONTENDERS];

static void group_label(int g, char *label, size_t size)
{
	bool cached = g >= BENCH_COUNT(counts);
	int n = cached ? counts_cached[g - BENCH_COUNT(counts)] : counts[g];

	snprintf(label, size, "%s, %d thread%s", cached ? "page cache" : "disk", n,
		 n > 1 ? "s" : "");
	for (int i = 0; i < CONTENDERS; i++)
		works[g][i] = (struct disk_work){ .threads = n, .cached = cached };
	works[g][URING].io = "uring";
	works[g][EPOLL].io = "epoll";
}

static void add_group(int g)
{
	char label[48], variant[64];

	group_label(g, label, sizeof label);
	snprintf(variant, sizeof variant, "%s, uring", label);
	rows[g][URING] = server_add_weft(variant, "uring", measure, &works[g][URING]);
	snprintf(variant, sizeof variant, "%s, epoll", label);
	rows[g][EPOLL] = server_add_weft(variant, "epoll", measure, &works[g][EPOLL]);
	if (works[g][PEER].cached) {
		rows[g][PEER] = bench_add(label, "pread", disk_pread, &works[g][PEER]);
		return;
	}
	if (disk_uring_missing == NULL)
		rows[g][PEER] = bench_add(label, "io_uring", disk_uring, &works[g][PEER]);
	else
		bench_add_missing(label, "io_uring", disk_uring_missing);
	rows[g][NPTL] = bench_add(label, "NPTL", disk_nptl, &works[g][NPTL]);
}

static void derive(int g)
{
	const struct bench_row *peer = rows[g][PEER], *weft;
	char label[48], text[96];

	group_label(g, label, sizeof label);
	if (works[g][PEER].cached) {
		/* By CPU time: nothing waits there. */
		weft = rows[g][bench_pick(rows[g], PEER, 1, BENCH_HIGHER)];
		snprintf(text, sizeof text, "%s: times as fast as pread, the worse weft", label);
		bench_ratio(text, peer, weft, 1, BENCH_HIGHER, "at least 0.95");
	} else {
		weft = rows[g][bench_pick(rows[g], PEER, 0, BENCH_HIGHER)];
		snprintf(text, sizeof text, "%s: the better weft / io_uring", label);
		bench_ratio(text, weft, peer, 0, BENCH_HIGHER, "at least 0.95");
	}
}

static const struct bench_plan plan = {
	.name = "disk",
	.work = "random reads of 4 KB from a file of 256 MB, by O_DIRECT (Capriccio, figure 3),\n"
		"or of 32 MB in the page cache (figure 4). The file is in TMPDIR, or /var/tmp.\n"
		"pread: in a process with a second thread, as a server has. If others use the\n"
		"disk too, figures differ by more than the spread",
	.metrics = { { "reads", "K/s", BENCH_HIGHER }, { "CPU", "us/read", BENCH_LOWER } },
	.metric_count = 2,
	.repeats = 5,
};

int bench_disk(void)
{
	return disk_bench(&plan, GROUPS, add_group, derive);
}
