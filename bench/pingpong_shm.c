/* pingpong_shm.c - round trips between two processes on one host (AC, section 5.1).
 *
 * Each side is a process, kept on a CPU of its own, or both on one. Weft's sides are
 * threads (straight-line code), async bodies, or handlers, which try and post themselves
 * again. The floor is two processes that spin on a word each; pipes and MPI are measured beside.
 * Each round trip is timed by itself: the median is what it costs, the mean tells of
 * the noise too.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include "threads.h"

enum { ROUNDS = 40000 };

struct ping_pong {
	int (*ask)(void);    /* the side that measures */
	int (*answer)(void); /* the other */
	int cpus[2];         /* which it is kept on, and the other */
};

/* Times */

static uint64_t times[ROUNDS], last;
static int timed;

static void begin_times(void)
{
	timed = 0;
	last = bench_ticks();
}

static bool round_ends(void)
{
	uint64_t now = bench_ticks();

	times[timed++] = now - last;
	last = now;
	return timed == ROUNDS;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The last nine tenths: the first are there to warm up. */
static void set_values(double *values)
{
	const int skip = ROUNDS / 10;
	double sum = 0;

	for (int i = skip; i < ROUNDS; i++)
		sum += (double)times[i];
	qsort(times + skip, ROUNDS - skip, sizeof *times, compare);
	values[0] = (double)times[skip + (ROUNDS - skip) / 2] * bench_tick_ns();
	values[1] = sum / (ROUNDS - skip) * bench_tick_ns();
	values[2] = values[0] * bench_ghz();
}

/* Both sides */

static const struct ping_pong *work;

static void answer_and_exit(const void *unused)
{
	(void)unused;
	bench_pin(work->cpus[1]);
	_exit(work->answer() < 0);
}

static int measure(const void *arg, double *values)
{
	int pid, status, rc;

	work = arg;
	if (work->cpus[0] != work->cpus[1] && bench_cpus() < 2)
		return bench_fail("this machine has one CPU");
	pid = bench_spawn(answer_and_exit, NULL);
	if (pid < 0)
		return bench_fail("no process");
	bench_pin(work->cpus[0]);
	rc = work->ask();
	if (rc < 0)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (rc < 0 || status != 0)
		return bench_fail("a side failed: %s", strerror(-rc));
	set_values(values);
	return 0;
}

/* Weft */

static char name[64];
static weft_channel *ch;

static int open_channel(void)
{
	return weft_channel_open(&ch, name, sizeof(uint64_t), NULL);
}

static int run_side(int (*fn)(void *))
{
	weft_options opt = { .workers = 1 };

	return weft_run(fn, NULL, &opt);
}

static int thread_asks(void *unused)
{
	uint64_t value = 0;
	int rc = open_channel();

	(void)unused;
	if (rc < 0)
		return rc;
	begin_times();
	do {
		rc = weft_channel_send(ch, &value);
		if (rc == 0)
			rc = weft_channel_receive(ch, &value);
	} while (rc == 0 && !round_ends());
	weft_channel_free(ch);
	return rc;
}

static int thread_answers(void *unused)
{
	uint64_t value;
	int rc = open_channel();

	(void)unused;
	while (rc == 0) {
		rc = weft_channel_receive(ch, &value);
		if (rc == 0)
			rc = weft_channel_send(ch, &value);
	}
	weft_channel_free(ch);
	return rc == -EPIPE ? 0 : rc;
}

/* An async body for each round trip, which waits, and a finish block around it. */

static int ask_once(void *value)
{
	int rc = weft_channel_send(ch, value);

	return rc == 0 ? weft_channel_receive(ch, value) : rc;
}

static int answer_once(void *value)
{
	int rc = weft_channel_receive(ch, value);

	return rc == 0 ? weft_channel_send(ch, value) : rc;
}

static int once(weft_thread_fn *fn, uint64_t *value)
{
	weft_scope scope;
	int rc, error;

	weft_scope_begin(&scope);
	rc = weft_async_call(fn, value);
	error = weft_scope_end(&scope);
	return rc == 0 ? error : rc;
}

static int async_asks(void *unused)
{
	uint64_t value = 0;
	int rc = open_channel();

	(void)unused;
	begin_times();
	while (rc == 0) {
		rc = once(ask_once, &value);
		if (rc == 0 && round_ends())
			break;
	}
	weft_channel_free(ch);
	return rc;
}

static int async_answers(void *unused)
{
	uint64_t value;
	int rc = open_channel();

	(void)unused;
	while (rc == 0)
		rc = once(answer_once, &value);
	weft_channel_free(ch);
	return rc == -EPIPE ? 0 : rc;
}

/* As the paper's: one thread looks for messages, another waits for them. The first goes
 * straight to the second when there is one, or lets it be ready only. */

static weft_wait message = WEFT_WAIT_INIT("message", NULL);
static uint64_t received;
static int receive_rc;
static bool stop_looking;

static int look(int (*schedule)(weft_wait *w))
{
	int rc = 0;

	while (rc == 0 && !stop_looking) {
		rc = weft_channel_try_receive(ch, &received);
		if (rc == -EAGAIN) {
			rc = weft_yield();
			continue;
		}
		receive_rc = rc;
		(void)schedule(&message);
	}
	return rc;
}

static int look_and_go_to(void *unused)
{
	(void)unused;
	return look(weft_schedule_to);
}

static int look_and_schedule(void *unused)
{
	(void)unused;
	return look(weft_schedule);
}

static int receive(void)
{
	int rc = weft_suspend(&message);

	return rc < 0 ? rc : receive_rc;
}

static int beside(weft_thread_fn *looks, int (*fn)(void))
{
	weft_thread *thread;
	int rc = open_channel();

	if (rc == 0)
		rc = weft_thread_start(&thread, NULL, looks, NULL);
	if (rc == 0) {
		rc = fn();
		stop_looking = true;
		(void)weft_join(thread, NULL);
	}
	stop_looking = false;
	weft_channel_free(ch);
	return rc;
}

static int ask_waiting(void)
{
	int rc;

	begin_times();
	do {
		rc = weft_channel_send(ch, &received);
		if (rc == 0)
			rc = receive();
	} while (rc == 0 && !round_ends());
	return rc;
}

static int answer_waiting(void)
{
	int rc = receive();

	while (rc == 0) {
		rc = weft_channel_send(ch, &received);
		if (rc == 0)
			rc = receive();
	}
	return rc == -EPIPE ? 0 : rc;
}

static int yield_to_asks(void *unused)
{
	(void)unused;
	return beside(look_and_go_to, ask_waiting);
}

static int yield_to_answers(void *unused)
{
	(void)unused;
	return beside(look_and_go_to, answer_waiting);
}

static int schedule_asks(void *unused)
{
	(void)unused;
	return beside(look_and_schedule, ask_waiting);
}

static int schedule_answers(void *unused)
{
	(void)unused;
	return beside(look_and_schedule, answer_waiting);
}

/* Handlers: one event that posts itself until there is something. */

static weft_event event;
static int outcome;

static void handler_asks(void *unused)
{
	uint64_t value;
	int rc = weft_channel_try_receive(ch, &value);

	(void)unused;
	if (rc == 0 && !round_ends())
		rc = weft_channel_try_send(ch, &value);
	else if (rc == 0)
		return;
	if (rc == 0 || rc == -EAGAIN)
		weft_event_post(&event);
	else
		outcome = rc;
}

static void handler_answers(void *unused)
{
	uint64_t value;
	int rc = weft_channel_try_receive(ch, &value);

	(void)unused;
	if (rc == 0)
		rc = weft_channel_try_send(ch, &value);
	if (rc == 0 || rc == -EAGAIN)
		weft_event_post(&event);
	else if (rc != -EPIPE)
		outcome = rc;
}

static int begin_asking(void *unused)
{
	uint64_t value = 0;
	int rc = open_channel();

	(void)unused;
	if (rc < 0)
		return rc;
	weft_event_init(&event, WEFT_MAIN, handler_asks, NULL);
	begin_times();
	rc = weft_channel_try_send(ch, &value);
	return rc < 0 ? rc : weft_event_post(&event);
}

static int begin_answering(void *unused)
{
	int rc = open_channel();

	(void)unused;
	if (rc < 0)
		return rc;
	weft_event_init(&event, WEFT_MAIN, handler_answers, NULL);
	return weft_event_post(&event);
}

static int run_handlers(int (*begin)(void *))
{
	int rc = run_side(begin);

	weft_channel_free(ch);
	return rc < 0 ? rc : outcome;
}

static int ask_by_thread(void)
{
	return run_side(thread_asks);
}

static int answer_by_thread(void)
{
	return run_side(thread_answers);
}

static int ask_by_async(void)
{
	return run_side(async_asks);
}

static int answer_by_async(void)
{
	return run_side(async_answers);
}

static int ask_by_yield_to(void)
{
	return run_side(yield_to_asks);
}

static int answer_by_yield_to(void)
{
	return run_side(yield_to_answers);
}

static int ask_by_schedule(void)
{
	return run_side(schedule_asks);
}

static int answer_by_schedule(void)
{
	return run_side(schedule_answers);
}

static int ask_by_handler(void)
{
	return run_handlers(begin_asking);
}

static int answer_by_handler(void)
{
	return run_handlers(begin_answering);
}

/* Spinning, and pipes: made before the fork */

static struct {
	_Alignas(128) _Atomic uint64_t there;
	_Alignas(128) _Atomic uint64_t back;
} * words;
static int there[2], back[2];

static int make_shared(void)
{
	words = mmap(NULL, sizeof *words, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return words == MAP_FAILED || pipe(there) < 0 || pipe(back) < 0 ? -errno : 0;
}

static void await(_Atomic uint64_t *word, uint64_t value)
{
	while (atomic_load_explicit(word, memory_order_acquire) != value)
		;
}

static int spin_asks(void)
{
	begin_times();
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		atomic_store_explicit(&words->there, i, memory_order_release);
		await(&words->back, i);
		(void)round_ends();
	}
	return 0;
}

static int spin_answers(void)
{
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		await(&words->there, i);
		atomic_store_explicit(&words->back, i, memory_order_release);
	}
	return 0;
}

static int pipe_asks(void)
{
	uint64_t value = 0;

	begin_times();
	do
		if (write(there[1], &value, sizeof value) < 0 ||
		    read(back[0], &value, sizeof value) <= 0)
			return -EIO;
	while (!round_ends());
	return 0;
}

static int pipe_answers(void)
{
	uint64_t value;

	for (int i = 0; i < ROUNDS; i++)
		if (read(there[0], &value, sizeof value) <= 0 ||
		    write(back[1], &value, sizeof value) < 0)
			return -EIO;
	return 0;
}

static int mpi_asks(const void *unused, double *values)
{
	static const struct thread_work mpi = { .threads = 2, .rounds = ROUNDS, .cores = 2 };
	int rc = program_work("mpi", values, "round-trip", &mpi);

	(void)unused;
	values[2] = values[0] * bench_ghz();
	return rc;
}

/* The table */

static const struct bench_plan plan = {
	.name = "pingpong-shm",
	.work = "a message of 8 bytes goes from one process to another and back: time from "
		"sending\n"
		"it until its answer is received. The paper's figures are of a machine of 2008",
	.metrics = { { "median", "ns", BENCH_LOWER },
		     { "mean", "ns", BENCH_LOWER },
		     { "median", "cycles", BENCH_LOWER } },
	.metric_count = 3,
	.repeats = 5,
};

static const char two[] = "a CPU each", one[] = "both on one CPU";

static const struct {
	const char *label, *who;
	struct ping_pong work;
} rows[] = {
	{ two, "spinning by hand", { spin_asks, spin_answers, { 0, 1 } } },
	{ two, "weft, handlers", { ask_by_handler, answer_by_handler, { 0, 1 } } },
	{ two, "weft, a thread on one side", { ask_by_thread, answer_by_handler, { 0, 1 } } },
	{ two, "weft, threads on both sides", { ask_by_thread, answer_by_thread, { 0, 1 } } },
	{ two, "weft, async bodies on both sides", { ask_by_async, answer_by_async, { 0, 1 } } },
	{ two, "weft, one looks: yield-to", { ask_by_yield_to, answer_by_yield_to, { 0, 1 } } },
	{ two, "weft, without yield-to", { ask_by_schedule, answer_by_schedule, { 0, 1 } } },
	{ two, "pipes", { pipe_asks, pipe_answers, { 0, 1 } } },
	{ one, "weft, threads on both sides", { ask_by_thread, answer_by_thread, { 0, 0 } } },
	{ one, "pipes", { pipe_asks, pipe_answers, { 0, 0 } } },
};
enum {
	SPINNING,
	HANDLERS,
	ONE_SIDE,
	BOTH_SIDES,
	ASYNC,
	YIELD_TO,
	SCHEDULE,
	PIPES,
	BOTH_ON_ONE,
	PIPES_ON_ONE
};

static const struct {
	const char *who;
	double cycles;
} paper[] = {
	{ "paper: callbacks", 1121 },           { "paper: AC one side", 1198 },
	{ "paper: AC both sides", 1274 },       { "paper: AC without YieldTo", 1437 },
	{ "paper: MPI (HPC-Pack 2008)", 2780 },
};

int bench_pingpong_shm(void)
{
	struct bench_row *row[BENCH_COUNT(rows)], *mpi = NULL;

	if (make_shared() < 0)
		return 1;
	snprintf(name, sizeof name, "shm:bench-%d", (int)getpid());
	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(rows); i++)
		row[i] = bench_add(rows[i].label, rows[i].who, measure, &rows[i].work);
	if (program_built("mpi"))
		mpi = bench_add(two, "OpenMPI", mpi_asks, NULL);
	else
		bench_add_missing(two, "OpenMPI", "MPI was not found when weft-bench was built");
	for (int i = 0; i < BENCH_COUNT(paper); i++)
		bench_add_paper("AC, 16 cores of 2008", paper[i].who,
				(const double[]){ NAN, NAN, paper[i].cycles });
	bench_run();
	bench_ratio("threads on both sides / handlers", row[BOTH_SIDES], row[HANDLERS], 0,
		    BENCH_LOWER, "paper: 1.14");
	bench_ratio("async bodies on both sides / handlers", row[ASYNC], row[HANDLERS], 0,
		    BENCH_LOWER, "paper: 1.14");
	bench_ratio("without yield-to / with it", row[SCHEDULE], row[YIELD_TO], 0, BENCH_LOWER,
		    "paper: 1.13");
	bench_ratio("threads on both sides / spinning by hand", row[BOTH_SIDES], row[SPINNING], 0,
		    BENCH_LOWER, "");
	bench_ratio("OpenMPI / threads on both sides", mpi, row[BOTH_SIDES], 0, BENCH_HIGHER,
		    "above 1; paper: 2.18");
	bench_ratio("pipes / threads on both sides", row[PIPES], row[BOTH_SIDES], 0, BENCH_HIGHER,
		    "above 1");
	bench_ratio("on one CPU: pipes / threads on both sides", row[PIPES_ON_ONE],
		    row[BOTH_ON_ONE], 0, BENCH_HIGHER, "");
	return bench_end();
}
