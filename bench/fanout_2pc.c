/* fanout_2pc.c - two-phase commit from one process to N others (AC, figure 10).
 *
 * The coordinator asks all participants to prepare, waits for their votes, and sends
 * the outcome to all. In turn ("seq"), by handlers ("event"), by an async body for each
 * participant, which is the code of "seq" with two words more ("async"), and by sending
 * all before receiving any ("batch"). Each participant is a process with one thread. The
 * coordinator has a CPU of its own; the participants share another, so that most of
 * them sleep when they are asked, as in the paper's figure 10 (b).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include "bench.h"

enum { MOST = 16, OPERATIONS = 1500 };

enum message { PREPARE, VOTE, COMMIT };

struct fanout {
	int participants;
	int (*operation)(void);
};

static const struct fanout *work;
static weft_channel *channels[MOST];
static char prefix[48];
static double results[OPERATIONS];

static int open_channel(int i, weft_channel **ch)
{
	char name[64];

	snprintf(name, sizeof name, "%s-%d", prefix, i);
	return weft_channel_open(ch, name, sizeof(int), NULL);
}

/* Participants */

static int participate(void *arg)
{
	int message, rc;
	weft_channel *ch;

	rc = open_channel(*(const int *)arg, &ch);
	while (rc == 0) {
		rc = weft_channel_receive(ch, &message);
		if (rc == 0 && message == PREPARE)
			rc = weft_channel_send(ch, &(int){ VOTE });
	}
	weft_channel_free(ch);
	return rc == -EPIPE ? 0 : rc;
}

static void participant(const void *arg)
{
	weft_options opt = { .workers = 1 };
	int number = *(const int *)arg;

	bench_pin(bench_cpus() > 1);
	_exit(weft_run(participate, &number, &opt) < 0);
}

/* The second phase is the same for all. */

static int send_outcome(void)
{
	int rc = 0;

	for (int i = 0; i < work->participants && rc == 0; i++)
		rc = weft_channel_send(channels[i], &(int){ COMMIT });
	return rc;
}

/* One after the other */

static int ask(weft_channel *ch)
{
	int vote, rc = weft_channel_send(ch, &(int){ PREPARE });

	if (rc == 0)
		rc = weft_channel_receive(ch, &vote);
	return rc;
}

static int in_turn(void)
{
	int rc = 0;

	for (int i = 0; i < work->participants && rc == 0; i++)
		rc = ask(channels[i]);
	return rc == 0 ? send_outcome() : rc;
}

/* All at once, by async bodies */

static int ask_async(void *channel)
{
	return ask(channel);
}

static int by_async(void)
{
	weft_scope scope;
	int rc = 0, first;

	weft_scope_begin(&scope);
	for (int i = 0; i < work->participants && rc == 0; i++)
		rc = weft_async_call(ask_async, channels[i]);
	first = weft_scope_end(&scope);
	if (rc == 0)
		rc = first;
	return rc == 0 ? send_outcome() : rc;
}

/* Sending all before receiving any */

static int in_batches(void)
{
	int vote, rc = 0;

	for (int i = 0; i < work->participants && rc == 0; i++)
		rc = weft_channel_send(channels[i], &(int){ PREPARE });
	for (int i = 0; i < work->participants && rc == 0; i++)
		rc = weft_channel_receive(channels[i], &vote);
	return rc == 0 ? send_outcome() : rc;
}

/* By handlers: a state for each participant, and one for the whole operation. They run
 * in the coordinator's color, when that waits. */

static struct event_state {
	weft_event event;
	weft_channel *ch;
} states[MOST];
static int votes_missing, event_error;
static weft_sem all_voted;

static void on_vote(void *arg)
{
	struct event_state *s = arg;
	int vote, rc = weft_channel_try_receive(s->ch, &vote);

	if (rc == -EAGAIN) {
		weft_event_post(&s->event);
		return;
	}
	if (rc < 0)
		event_error = rc;
	if (--votes_missing == 0)
		weft_sem_post(&all_voted);
}

static int by_events(void)
{
	int rc = 0;

	votes_missing = work->participants;
	for (int i = 0; i < work->participants; i++) {
		struct event_state *s = &states[i];

		rc = weft_channel_try_send(channels[i], &(int){ PREPARE });
		if (rc < 0)
			return rc;
		s->ch = channels[i];
		weft_event_init(&s->event, WEFT_MAIN, on_vote, s);
		weft_event_post(&s->event);
	}
	rc = weft_sem_wait(&all_voted);
	if (rc == 0)
		rc = event_error;
	return rc == 0 ? send_outcome() : rc;
}

/* The coordinator */

static int coordinate(void *unused)
{
	int rc = 0;

	(void)unused;
	for (int i = 0; i < work->participants && rc == 0; i++)
		rc = open_channel(i, &channels[i]);
	for (int i = 0; i < OPERATIONS && rc == 0; i++) {
		uint64_t start = bench_now();

		rc = work->operation();
		results[i] = (double)(bench_now() - start) / 1000;
	}
	for (int i = 0; i < work->participants; i++)
		weft_channel_free(channels[i]);
	return rc;
}

static int measure(const void *arg, double *values)
{
	weft_options opt = { .workers = 1 };
	int pids[MOST], numbers[MOST], rc, failed = 0;

	work = arg;
	snprintf(prefix, sizeof prefix, "shm:fanout-%d", (int)getpid());
	for (int i = 0; i < work->participants; i++) {
		numbers[i] = i;
		pids[i] = bench_spawn(participant, &numbers[i]);
		if (pids[i] < 0)
			return bench_fail("no process");
	}
	bench_pin(0);
	rc = weft_run(coordinate, NULL, &opt);
	for (int i = 0; i < work->participants; i++) {
		int status = 1;

		if (rc < 0)
			kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		failed += status != 0;
	}
	if (rc < 0 || failed > 0)
		return bench_fail("a side failed: %s", strerror(-rc));
	values[0] = bench_median(results, OPERATIONS);
	values[1] = results[OPERATIONS * 95 / 100];
	return 0;
}

/* The table */

static const struct bench_plan plan = {
	.name = "fanout-2pc",
	.work = "two-phase commit from one process to N others over channels in shared memory: "
		"time\n"
		"from asking the first until the outcome was sent to the last. The N share a CPU",
	.metrics = { { "median", "us", BENCH_LOWER }, { "95%", "us", BENCH_LOWER } },
	.metric_count = 2,
	.repeats = 3,
};

static const int counts[] = { 1, 2, 4, 8, 16 };
static const struct {
	const char *who;
	int (*operation)(void);
} ways[] = {
	{ "seq", in_turn },
	{ "event", by_events },
	{ "async", by_async },
	{ "batch", in_batches },
};
enum { SEQ, EVENT, ASYNC, BATCH };

int bench_fanout_2pc(void)
{
	static struct fanout fanouts[BENCH_COUNT(counts)][BENCH_COUNT(ways)];
	struct bench_row *rows[BENCH_COUNT(counts)][BENCH_COUNT(ways)];
	struct bench_row **last = rows[BENCH_COUNT(counts) - 1];

	bench_begin(&plan);
	for (int n = 0; n < BENCH_COUNT(counts); n++)
		for (int w = 0; w < BENCH_COUNT(ways); w++) {
			char label[32];

			snprintf(label, sizeof label, "%d participants", counts[n]);
			fanouts[n][w] = (struct fanout){ counts[n], ways[w].operation };
			rows[n][w] = bench_add(label, ways[w].who, measure, &fanouts[n][w]);
		}
	bench_run();
	bench_ratio("16 participants: seq / async", last[SEQ], last[ASYNC], 0, BENCH_HIGHER,
		    "above 1");
	bench_ratio("16 participants: async / event", last[ASYNC], last[EVENT], 0, BENCH_LOWER,
		    "paper: about 1");
	bench_ratio("16 participants: async / batch", last[ASYNC], last[BATCH], 0, BENCH_LOWER,
		    "paper: about 1");
	return bench_end();
}
