/* random_read.c - random reads with a pipeline of a given depth (AC, figure 11).
 *
 * One finish block with as many async bodies as the pipeline is deep, each of which reads in a
 * loop; and as the paper has it: a body for each read, and a loop that starts them and waits
 * when so many are under way. Against the same pipeline on io_uring written by hand, and
 * against reads one after the other.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/scope.h>
#include <weft/weft.h>

#include "disk.h"
#include "server.h"

/* What a contender of ours does. */
struct job {
	struct disk_work disk;
	bool each; /* a body for each read */
};

enum { READS, CPU, COMPARED };

static struct {
	const struct job *job;
	double *values;
	weft_sem room;     /* a body each: in the pipeline */
	char **free;       /* the same: a ring of the buffers that no read uses */
	unsigned get, put; /* where in the ring */
	int fd;
	long begun, reads;
	uint64_t start, seed;
	double cpu;
	bool stop;
} t;

static void record(void)
{
	disk_values(t.values, (double)t.reads, (double)(bench_now() - t.start),
		    bench_cpu_ns(getpid()) - t.cpu);
}

/* Whether another read is to begin. */
static bool more(void)
{
	return !t.stop && (!t.job->disk.cached || t.begun++ < DISK_READS_CACHED);
}

static int read_block(char *buf, int64_t offset)
{
	size_t size = disk_size(&t.job->disk);
	ssize_t n = weft_pread(t.fd, buf, size, offset);

	if (n != (ssize_t)size) {
		t.stop = true;
		return bench_fail("weft_pread: %s", n < 0 ? strerror((int)-n) : "short");
	}
	t.reads++;
	if (t.job->disk.count != NULL)
		__atomic_store_n(t.job->disk.count, *t.job->disk.count + 1, __ATOMIC_RELAXED);
	return 0;
}

static int read_on(void *buf)
{
	int err = 0;

	while (err == 0 && more())
		err = read_block(buf, disk_random(&t.job->disk, &t.seed));
	return err;
}

static void begin(void)
{
	t.reads = 0;
	t.cpu = bench_cpu_ns(getpid());
	t.start = bench_now();
}

static int stop_later(void *arg)
{
	int err = weft_sleep(DISK_FILL_NS);

	(void)arg;
	begin();
	if (err == 0)
		err = weft_sleep((uint64_t)disk_ns(&t.job->disk));
	record();
	t.stop = true;
	return err;
}

static int start_all(void)
{
	size_t size = disk_size(&t.job->disk);
	int err = 0;

	for (int i = 0; i < t.job->disk.threads && err == 0; i++)
		err = weft_async_call(read_on, disk_file.buffers + (size_t)i * size);
	return err;
}

static int read_one(void *offset)
{
	unsigned depth = (unsigned)t.job->disk.threads;
	char *buf = t.free[t.get++ % depth];
	int err = read_block(buf, (int64_t)(intptr_t)offset);

	t.free[t.put++ % depth] = buf;
	weft_sem_post(&t.room);
	return err;
}

static int start_each(void)
{
	int err = 0;

	while (err == 0 && more()) {
		int64_t offset = disk_random(&t.job->disk, &t.seed);

		err = weft_sem_wait(&t.room);
		if (err == 0)
			err = weft_async_call(read_one, (void *)(intptr_t)offset);
	}
	return err;
}

static int pipeline(void)
{
	weft_scope all;
	int err = 0;

	weft_scope_begin(&all);
	if (!t.job->disk.cached)
		err = weft_async_call(stop_later, NULL);
	if (err == 0)
		err = t.job->each ? start_each() : start_all();
	t.stop |= err != 0;
	return weft_scope_end(&all) | err;
}

static int app(void *arg)
{
	int err;

	(void)arg;
	begin();
	err = pipeline();
	if (t.job->disk.cached)
		record();
	return err;
}

static int measure(const void *arg, double *values)
{
	const struct disk_work *work = &((const struct job *)arg)->disk;
	weft_options opt = { .workers = 1, .stall_ms = -1, .io = work->io };
	size_t depth = (size_t)work->threads, size = disk_size(work);

	disk_begin(work);
	t.job = arg;
	t.values = values;
	t.seed = disk_seed();
	t.fd = work->cached ? disk_file.cached : disk_file.direct;
	t.free = calloc(depth, sizeof(char *));
	if (t.free == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < depth; i++)
		t.free[i] = disk_file.buffers + i * size;
	weft_sem_init(&t.room, (uint32_t)depth);
	if (work->cached)
		disk_file_warm();
	return weft_run(app, NULL, &opt);
}

/* One of two that run in turns, in a process of its own; what that tells at its end, and reads that
 * are seen meanwhile. */
struct side {
	struct job job;
	bool by_hand;
	int told, pid;
	double cpu, reads; /* so far */
};

struct told {
	double values[BENCH_METRICS];
	int err;
	char why[BENCH_WHY];
};

static void read_and_tell(const void *arg)
{
	const struct side *side = arg;
	struct told told = { 0 };

	told.err = side->by_hand ? disk_uring(&side->job.disk, told.values)
				 : measure(&side->job, told.values);
	snprintf(told.why, sizeof told.why, "%s", bench_why());
	(void)!write(side->told, &told, sizeof told);
}

static int start_side(struct side *side)
{
	int ends[2];

	if (pipe(ends) < 0)
		return -errno;
	side->told = ends[1];
	side->pid = bench_spawn(read_and_tell, side);
	close(ends[1]);
	side->told = ends[0];
	return side->pid < 0 ? side->pid : 0;
}

/* CPU time for each read since the last time. */
static double spent(struct side *side)
{
	double cpu = bench_cpu_ns(side->pid);
	double reads = (double)__atomic_load_n(side->job.disk.count, __ATOMIC_RELAXED);
	double each = (cpu - side->cpu) / (reads - side->reads);

	side->cpu = cpu;
	side->reads = reads;
	return each;
}

static void let_run(struct side *sides, int nth)
{
	kill(sides[!nth].pid, SIGSTOP);
	kill(sides[nth].pid, SIGCONT);
	usleep((useconds_t)(disk_turn_ns(&sides[nth].job.disk) / 1e3));
}

/* As long as they measure; then both run. In pairs of turns each is first as often as second. Returns
 * how the first compares with the second: the median of the pairs, as what befalls the machine in one
 * of them is nobody's. */
static double take_turns(struct side *sides)
{
	enum { PAIRS = 1000 };
	double pairs[PAIRS];
	double ns = disk_ns(&sides[0].job.disk) + DISK_FILL_NS;
	uint64_t end = bench_now() + (uint64_t)ns;
	int n = 0;

	usleep(DISK_FILL_NS / 1000);
	for (int i = 0; bench_now() < end || i % 2 != 0; i++) {
		let_run(sides, i % 2);
		let_run(sides, !(i % 2));
		pairs[n] = spent(&sides[0]) / spent(&sides[1]);
		n += i > 0 && n < PAIRS - 1 && isfinite(pairs[n]) && pairs[n] > 0;
	}
	kill(sides[0].pid, SIGCONT);
	kill(sides[1].pid, SIGCONT);
	return bench_median(pairs, n);
}

static int hear(const struct side *side, struct told *told)
{
	if (read(side->told, told, sizeof *told) != sizeof *told)
		return bench_fail("one of the two died");
	return told->err < 0 ? bench_fail("%s", told->why) : 0;
}

/* Whatever slows a machine down for a while slows both of two that take turns of some
 * milliseconds: so they differ by what they do, and hardly by chance. */
static int measure_in_turns(const void *arg, double *values)
{
	const struct job *job = arg;
	struct side sides[2];
	struct told told[2];
	double compared;
	int err = 0;

	for (int i = 0; i < 2 && err == 0; i++) {
		sides[i] = (struct side){ .job = *job, .by_hand = i == 1 };
		sides[i].job.disk.count = disk_file.counts + i;
		*sides[i].job.disk.count = 0;
		err = start_side(&sides[i]);
	}
	if (err < 0)
		return err;
	compared = take_turns(sides);
	for (int i = 0; i < 2 && err == 0; i++) {
		err = hear(&sides[i], &told[i]);
		waitpid(sides[i].pid, NULL, 0); /* or its CPU time would count as that of others */
	}
	if (err < 0)
		return err;
	memcpy(values, told[0].values, sizeof told[0].values);
	values[COMPARED] = compared;
	return 0;
}

enum { URING, EACH, EPOLL, PEER, URING_TURNS, EACH_TURNS, CONTENDERS };

static const struct group {
	int depth;
	bool cached;
	size_t blocks;
} groups[] = {
	{ 1, false, 1 },   { 4, false, 1 },    { 16, false, 1 },    { 64, false, 1 },
	{ 256, false, 1 }, { 1024, false, 1 }, { 1, true, 1 },      { 64, true, 1 },
	{ 1, false, 16 },  { 64, false, 16 },  { 1024, false, 16 },
};
#define GROUPS BENCH_COUNT(groups)

static struct job jobs[GROUPS][CONTENDERS];
static struct bench_row *rows[GROUPS][CONTENDERS];

static void group_label(const struct group *g, char *label, size_t size)
{
	snprintf(label, size, "%s%s, depth %d", g->cached ? "page cache" : "disk",
		 g->blocks > 1 ? ", 64 KB" : "", g->depth);
}

/* Of the CPU time of asynchronous I/O by hand. */
static const struct bench_paper paper[] = {
	{ "disk, 4 KB: least", "AC", { NAN, NAN, 1.054 } },
	{ "disk, 4 KB: most", "AC", { NAN, NAN, 1.118 } },
	{ "disk, 64 KB: most", "AC", { NAN, NAN, 1.098 } },
	{ "disk, 64 KB, depth 1024", "AC", { NAN, NAN, 0.963 } },
	{ NULL, NULL, { 0 } },
};

static void add_group(int g)
{
	char label[48], variant[96];

	group_label(&groups[g], label, sizeof label);
	for (int i = 0; i < CONTENDERS; i++)
		jobs[g][i] = (struct job){ { .threads = groups[g].depth,
					     .cached = groups[g].cached,
					     .blocks = groups[g].blocks,
					     .pinned = true,
					     .io = i == EPOLL ? "epoll" : "uring" },
					   .each = i == EACH || i == EACH_TURNS };
	snprintf(variant, sizeof variant, "%s, uring", label);
	rows[g][URING] = server_add_weft(variant, "uring", measure, &jobs[g][URING]);
	snprintf(variant, sizeof variant, "%s, uring, a body each", label);
	rows[g][EACH] = server_add_weft(variant, "uring", measure, &jobs[g][EACH]);
	snprintf(variant, sizeof variant, "%s, epoll", label);
	rows[g][EPOLL] = server_add_weft(variant, "epoll", measure, &jobs[g][EPOLL]);
	if (disk_uring_missing == NULL)
		rows[g][PEER] = bench_add(label, "io_uring", disk_uring, &jobs[g][PEER].disk);
	else
		bench_add_missing(label, "io_uring", disk_uring_missing);
	if (!groups[g].cached && disk_uring_missing == NULL) {
		snprintf(variant, sizeof variant, "%s, uring, in turns with io_uring", label);
		rows[g][URING_TURNS] =
			server_add_weft(variant, "uring", measure_in_turns, &jobs[g][URING_TURNS]);
		snprintf(variant, sizeof variant, "%s, uring, a body each, in turns with io_uring",
			 label);
		rows[g][EACH_TURNS] =
			server_add_weft(variant, "uring", measure_in_turns, &jobs[g][EACH_TURNS]);
	}
	if (groups[g].depth == 1)
		bench_add(label, "pread", groups[g].cached ? disk_pread : disk_nptl,
			  &jobs[g][PEER].disk);
	if (g == GROUPS - 1)
		bench_add_papers(paper);
}

static void derive(int g)
{
	char label[48], text[96];

	group_label(&groups[g], label, sizeof label);
	snprintf(text, sizeof text, "%s: CPU of weft uring / io_uring", label);
	bench_ratio(text, rows[g][URING], rows[g][PEER], CPU, BENCH_LOWER, "at most 1.05");
	snprintf(text, sizeof text, "%s: CPU of weft uring, a body each / io_uring", label);
	bench_ratio(text, rows[g][EACH], rows[g][PEER], CPU, BENCH_LOWER,
		    "the paper has 1.05 to 1.12");
	if (groups[g].cached)
		return;
	snprintf(text, sizeof text, "%s: the same, in turns", label);
	bench_figure(text, rows[g][URING_TURNS], COMPARED, "at most 1.05");
	snprintf(text, sizeof text, "%s: a body each, in turns", label);
	bench_figure(text, rows[g][EACH_TURNS], COMPARED, "the paper has 1.05 to 1.12");
	snprintf(text, sizeof text, "%s: reads of weft uring / io_uring", label);
	bench_ratio(text, rows[g][URING], rows[g][PEER], READS, BENCH_HIGHER, "at least 0.95");
}

static const struct bench_plan plan = {
	.name = "random-read",
	.work = "random reads of 4 KB, or as the paper's of 64 KB, from a file of 256 MB, by\n"
		"O_DIRECT, or of 32 MB in the page cache; so many are under way at a time.\n"
		"weft: as many async bodies, each of which reads in a loop, in one finish block;\n"
		"\"a body each\": one for each read, as in the paper. pread: one after the other.\n"
		"\"in turns\": with the loop by hand, 10 ms to 1 s each, the order changes.\n"
		"All run on the first CPU, as one of them may have the disk's interrupts.\n"
		"The file is in TMPDIR, or /var/tmp",
	.metrics = { [READS] = { "reads", "K/s", BENCH_HIGHER },
		     [CPU] = { "CPU", "us/read", BENCH_LOWER },
		     [COMPARED] = { "in turns", "of its CPU", BENCH_LOWER } },
	.metric_count = 3,
	.repeats = 5,
};

int bench_random_read(void)
{
	return disk_bench(&plan, GROUPS, add_group, derive);
}
