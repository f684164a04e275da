/* pipes.c - tokens over pipes: a thread of Weft waits at each. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/blocking.h>
#include <weft/weft.h>

#include "pipes.h"
#include "server.h"

static struct {
	const struct pipes_work *work;
	struct pipes_pipe *pipes;
	double *values;
	int begun;
} t;

static int pipe_thread(void *arg)
{
	struct pipes_pipe *p = arg;
	char token[PIPES_TOKEN];

	__atomic_fetch_add(&t.begun, 1, __ATOMIC_RELAXED);
	while (weft_read(p->fd, token, sizeof token) == PIPES_TOKEN &&
	       weft_write(p->next, token, sizeof token) == PIPES_TOKEN)
		__atomic_store_n(&p->passed, p->passed + 1, __ATOMIC_RELAXED);
	return 0;
}

static int app(void *arg)
{
	(void)arg;
	for (int i = 0; i < t.work->pipes; i++) {
		if (weft_fd_adopt(t.pipes[i].fd) < 0 || weft_fd_adopt(t.pipes[i].end) < 0)
			return bench_fail("pipe %d was not adopted", i);
	}
	for (int i = 0; i < t.work->pipes; i++) {
		weft_color color = t.work->cores > 1 ? (weft_color)(1 + i) : WEFT_MAIN;

		if (weft_go_on(color, pipe_thread, &t.pipes[i]) < 0)
			return bench_fail("no thread %d", i);
	}
	/* To start them is not what is measured: the loop on epoll has registered all by now. */
	while (__atomic_load_n(&t.begun, __ATOMIC_RELAXED) < t.work->pipes)
		weft_sleep(WEFT_MS);
	weft_sleep((uint64_t)PIPES_WARM_NS);
	pipes_measure(t.pipes, t.work->pipes, NULL);
	weft_sleep((uint64_t)pipes_ns());
	pipes_measure(t.pipes, t.work->pipes, t.values);
	weft_stop();
	return 0;
}

static int measure(const void *arg, double *values)
{
	weft_options opt = { .stall_ms = -1 };

	t.work = arg;
	t.values = values;
	t.pipes = pipes_open(t.work, O_NONBLOCK);
	if (t.pipes == NULL)
		return -EMFILE;
	opt.workers = t.work->cores;
	opt.io = t.work->io;
	return weft_run(app, NULL, &opt);
}

enum { URING, EPOLL, BY_HAND, BY_HAND_EDGE, NPTL, CONTENDERS };

/* More kernel threads than this only show how the kernel's scheduler suffers. */
#define NPTL_MOST 1024

/* The last of them: or as many as may be open. */
static const struct {
	int pipes, cores;
} groups[] = { { 8, 2 }, { 1024, 2 }, { 4, 1 }, { 8, 1 }, { 64, 1 }, { 1024, 1 }, { 64000, 1 } };

static struct pipes_work works[BENCH_COUNT(groups)][CONTENDERS];

static int group_pipes(int g)
{
	int most = pipes_most();

	return groups[g].pipes < most ? groups[g].pipes : most;
}

static void group_label(int g, char *label, size_t size)
{
	snprintf(label, size, "%d pipes, %d core%s", group_pipes(g), groups[g].cores,
		 groups[g].cores > 1 ? "s" : "");
}

static void add_group(int g, struct bench_row *rows[CONTENDERS])
{
	struct pipes_work *w = works[g];
	char label[48], variant[64];

	group_label(g, label, sizeof label);
	for (int i = 0; i < CONTENDERS; i++)
		w[i] = (struct pipes_work){ .pipes = group_pipes(g), .cores = groups[g].cores };
	w[URING].io = "uring";
	w[EPOLL].io = "epoll";
	w[BY_HAND_EDGE].edge = true;
	snprintf(variant, sizeof variant, "%s, uring", label);
	rows[URING] = server_add_weft(variant, "uring", measure, &w[URING]);
	snprintf(variant, sizeof variant, "%s, epoll", label);
	rows[EPOLL] = server_add_weft(variant, "epoll", measure, &w[EPOLL]);
	rows[BY_HAND] = bench_add(label, "epoll", pipes_epoll, &w[BY_HAND]);
	snprintf(variant, sizeof variant, "%s, by edges", label);
	rows[BY_HAND_EDGE] = bench_add(variant, "epoll", pipes_epoll, &w[BY_HAND_EDGE]);
	if (groups[g].pipes <= NPTL_MOST)
		rows[NPTL] = bench_add(label, "NPTL", pipes_nptl, &w[NPTL]);
}

/* On one core it is judged by CPU time, which others of the machine matter less to; on
 * several by what gets done. */
static void compare(int g, const struct bench_row *weft, const struct bench_row *peer,
		    const char *what)
{
	bool cpu = groups[g].cores == 1;
	char label[40], text[96];

	group_label(g, label, sizeof label);
	snprintf(text, sizeof text, "%s: the better weft, times as fast as %s", label, what);
	bench_ratio(text, cpu ? peer : weft, cpu ? weft : peer, cpu, BENCH_HIGHER, "at least 1");
}

static void derive(int g, struct bench_row *rows[CONTENDERS])
{
	bool cpu = groups[g].cores == 1;
	enum bench_better better = cpu ? BENCH_LOWER : BENCH_HIGHER;
	const struct bench_row *weft = rows[bench_pick(rows, BY_HAND, cpu, better)];

	compare(g, weft, rows[BY_HAND + bench_pick(rows + BY_HAND, 2, cpu, better)],
		"the better epoll");
	if (groups[g].pipes == 8)
		compare(g, weft, rows[NPTL], "NPTL");
}

static const struct bench_plan plan = {
	.name = "pipes",
	.work = "tokens of 12 bytes, one for four pipes, read from a pipe and written to the\n"
		"next; a thread for each pipe, or a loop on epoll (Capriccio, figure 2).\n"
		"2 cores: weft has a color for each pipe; epoll is still one loop",
	.metrics = { { "tokens", "K/s", BENCH_HIGHER }, { "CPU", "ns/token", BENCH_LOWER } },
	.metric_count = 2,
	.repeats = 3,
};

int bench_pipes(void)
{
	struct bench_row *rows[BENCH_COUNT(groups)][CONTENDERS] = { 0 };

	bench_begin(&plan);
	for (int g = 0; g < BENCH_COUNT(groups); g++)
		add_group(g, rows[g]);
	bench_run();
	for (int g = 0; g < BENCH_COUNT(groups); g++)
		derive(g, rows[g]);
	return bench_end();
}
