/* bench.c - the harness: rows, interleaved measurements in children, medians. */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench_options bench_options;

/* What a child sends to its parent. */
struct message {
	int result;
	char why[BENCH_WHY];
	double values[BENCH_METRICS];
};

static struct {
	struct bench_plan plan;
	struct bench_row *first, **last;
	struct bench_derived *derived, **derived_last;
	int repeats;
	double noise;
} now;

/* The reason that a measurement gave, in the child. */
static char failure[BENCH_WHY];

static void *zalloc(size_t size)
{
	void *p = calloc(1, size);

	if (p == NULL) {
		fprintf(stderr, "weft-bench: out of memory\n");
		exit(2);
	}
	return p;
}

double bench_seconds(double usual)
{
	return bench_options.seconds > 0 ? bench_options.seconds : usual;
}

int bench_repeats(int usual)
{
	return bench_options.repeats > 0 ? bench_options.repeats : usual;
}

int bench_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(failure, sizeof failure, format, args);
	va_end(args);
	return -EIO;
}

const char *bench_why(void)
{
	return failure;
}

void bench_begin(const struct bench_plan *plan)
{
	now.plan = *plan;
	now.repeats = bench_repeats(plan->repeats > 0 ? plan->repeats : 3);
	now.first = NULL;
	now.last = &now.first;
	now.derived = NULL;
	now.derived_last = &now.derived;
}

static struct bench_row *row_new(const char *label, const char *who)
{
	struct bench_row *row = zalloc(sizeof *row);

	snprintf(row->label, sizeof row->label, "%s", label);
	snprintf(row->who, sizeof row->who, "%s", who);
	for (int m = 0; m < BENCH_METRICS; m++)
		row->median[m] = row->spread[m] = NAN;
	*now.last = row;
	now.last = &row->next;
	return row;
}

struct bench_row *bench_add(const char *label, const char *who, bench_measure *fn, const void *arg)
{
	struct bench_row *row = row_new(label, who);

	row->fn = fn;
	row->arg = arg;
	return row;
}

void bench_add_missing(const char *label, const char *who, const char *why)
{
	struct bench_row *row = row_new(label, who);

	row->missing = true;
	snprintf(row->why, sizeof row->why, "%s", why);
}

void bench_add_paper(const char *label, const char *who, const double *values)
{
	struct bench_row *row = row_new(label, who);

	row->paper = true;
	for (int m = 0; m < now.plan.metric_count; m++)
		row->median[m] = values[m];
}

void bench_add_papers(const struct bench_paper *figures)
{
	for (; figures->label != NULL; figures++)
		bench_add_paper(figures->label, figures->who, figures->values);
}

int bench_spawn(void (*fn)(const void *arg), const void *arg)
{
	pid_t parent = getpid();
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid != 0)
		return pid < 0 ? -errno : pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	fn(arg);
	_exit(0);
}

struct child {
	const struct bench_row *row;
	int pipe;
};

static void child_main(const void *arg)
{
	const struct child *c = arg;
	struct message msg = { 0 };

	/* A group of its own, so that its servers end with it. */
	setpgid(0, 0);
	for (int m = 0; m < BENCH_METRICS; m++)
		msg.values[m] = NAN;
	msg.result = c->row->fn(c->row->arg, msg.values);
	memcpy(msg.why, failure, sizeof msg.why);
	if (write(c->pipe, &msg, sizeof msg) != (ssize_t)sizeof msg)
		_exit(1);
}

/* Waits for the child's numbers, and ends it and all that it started. */
static void receive(int fd, pid_t pid, struct message *msg)
{
	int limit = now.plan.limit_s > 0 ? now.plan.limit_s : 60;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ready, status = 0;

	do
		ready = poll(&p, 1, limit * 1000);
	while (ready < 0 && errno == EINTR);
	if (ready <= 0) {
		msg->result = -ETIMEDOUT;
		snprintf(msg->why, sizeof msg->why, "no result after %d s", limit);
	} else if (read(fd, msg, sizeof *msg) != (ssize_t)sizeof *msg) {
		msg->result = -EPIPE;
	}
	if (msg->result != -EPIPE)
		kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (msg->result == -EPIPE) {
		kill(-pid, SIGKILL);
		snprintf(msg->why, sizeof msg->why, "ended without a result (%s %d)",
			 WIFSIGNALED(status) ? "signal" : "status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
}

static void measure(struct bench_row *row)
{
	struct message msg = { 0 };
	struct child c = { .row = row };
	int ends[2];
	int pid;

	if (pipe(ends) < 0) {
		snprintf(row->why, sizeof row->why, "pipe: %s", strerror(errno));
		return;
	}
	c.pipe = ends[1];
	pid = bench_spawn(child_main, &c);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		snprintf(row->why, sizeof row->why, "fork: %s", strerror(-pid));
		return;
	}
	setpgid(pid, pid);
	receive(ends[0], pid, &msg);
	close(ends[0]);
	if (msg.result < 0) {
		snprintf(row->why, sizeof row->why, "%s",
			 msg.why[0] != '\0' ? msg.why : strerror(-msg.result));
		return;
	}
	for (int m = 0; m < now.plan.metric_count; m++)
		row->values[m][row->runs] = msg.values[m];
	row->runs++;
}

/* The median of the values that are there, and their spread; both NAN if none is. */
static void summarise(const double *values, int count, double *median, double *spread)
{
	double v[BENCH_REPEATS_MAX];
	int n = 0;

	for (int i = 0; i < count; i++)
		if (!isnan(values[i]))
			v[n++] = values[i];
	*median = bench_median(v, n);
	*spread = NAN;
	if (n > 0)
		*spread = *median != 0 ? (v[n - 1] - v[0]) / fabs(*median) : 0;
}

/* Forth in one round, back in the next: the contenders of a case stay neighbours, and none
 * is always measured before another. */
static void run_round(int r, int rows)
{
	for (int i = 0; i < rows; i++) {
		struct bench_row *row = now.first;

		for (int skip = r % 2 == 0 ? i : rows - 1 - i; skip > 0; skip--)
			row = row->next;
		if (row->fn != NULL && row->why[0] == '\0')
			measure(row);
	}
}

void bench_run(void)
{
	int rows = 0;

	if (bench_options.cases)
		return;
	bench_noise(true);
	for (struct bench_row *row = now.first; row != NULL; row = row->next)
		rows++;
	for (int r = 0; r < now.repeats && rows > 0; r++)
		run_round(r, rows);
	now.noise = bench_noise(false);
	for (struct bench_row *row = now.first; row != NULL; row = row->next)
		if (!row->paper)
			for (int m = 0; m < now.plan.metric_count; m++)
				summarise(row->values[m], row->runs, &row->median[m],
					  &row->spread[m]);
}

/* Computed figures */

/* Rows are measured once in each round until they fail, so values of one index are of one
 * round. Returns how many there are. */
static int pair(const struct bench_row *a, const struct bench_row *b, int metric, bool ratio,
		double *values)
{
	int runs = a == NULL || b == NULL ? 0 : a->runs < b->runs ? a->runs : b->runs;

	for (int r = 0; r < runs; r++) {
		double x = a->values[metric][r], y = b->values[metric][r];

		values[r] = ratio ? x / y : x - y;
	}
	return runs;
}

static bool measured(const struct bench_row *row, int metric)
{
	return row != NULL && !isnan(row->median[metric]);
}

int bench_pick(struct bench_row *const *rows, int count, int metric, enum bench_better which)
{
	double values[BENCH_REPEATS_MAX], ratio, spread;
	int best = 0;

	for (int i = 1; i < count; i++) {
		summarise(values, pair(rows[i], rows[best], metric, true, values), &ratio, &spread);
		if (which == BENCH_LOWER ? ratio < 1 : ratio > 1)
			best = i;
		else if (measured(rows[i], metric) && !measured(rows[best], metric))
			best = i;
	}
	return best;
}

/* A line under the table; it is left out if nothing was measured for it. */
static void derive(const char *label, const double *values, int count, const char *unit,
		   enum bench_better better, const char *aim)
{
	struct bench_derived *d = zalloc(sizeof *d);

	snprintf(d->label, sizeof d->label, "%s", label);
	snprintf(d->aim, sizeof d->aim, "%s", aim);
	d->unit = unit;
	d->better = better;
	summarise(values, count, &d->value, &d->spread);
	if (isnan(d->value) && !bench_options.cases) {
		free(d);
		return;
	}
	*now.derived_last = d;
	now.derived_last = &d->next;
}

void bench_figure(const char *label, const struct bench_row *row, int metric, const char *aim)
{
	const struct bench_metric *m = &now.plan.metrics[metric];

	derive(label, row != NULL ? row->values[metric] : NULL, row != NULL ? row->runs : 0,
	       m->unit, m->better, aim);
}

void bench_difference(const char *label, const struct bench_row *row, const struct bench_row *than,
		      int metric, const char *aim)
{
	const struct bench_metric *m = &now.plan.metrics[metric];
	double values[BENCH_REPEATS_MAX];

	derive(label, values, pair(row, than, metric, false, values), m->unit, m->better, aim);
}

void bench_ratio(const char *label, const struct bench_row *row, const struct bench_row *to,
		 int metric, enum bench_better better, const char *aim)
{
	double values[BENCH_REPEATS_MAX];

	derive(label, values, pair(row, to, metric, true, values), "x", better, aim);
}

void bench_relate(struct bench_row *row, int column, const struct bench_row *to, int metric)
{
	if (row != NULL)
		summarise(row->values[column], pair(row, to, metric, true, row->values[column]),
			  &row->median[column], &row->spread[column]);
}

int bench_end(void)
{
	int failed = 0;

	bench_print(&now.plan, now.first, now.derived, now.repeats, now.noise);
	while (now.first != NULL) {
		struct bench_row *row = now.first;

		failed += row->why[0] != '\0' && !row->missing;
		now.first = row->next;
		free(row);
	}
	while (now.derived != NULL) {
		struct bench_derived *d = now.derived;

		now.derived = d->next;
		free(d);
	}
	return failed;
}
