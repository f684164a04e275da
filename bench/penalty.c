/* penalty.c - Mely's test of penalty-aware stealing (table V).
 *
 * Events A, of different colors, are posted on the first worker. Each writes an
 * array and starts a chain of events B of its color, which go through the array
 * piece by piece. An idle worker should take an A, not a B whose array is warm
 * elsewhere; B carries a penalty of 1000, as in the paper. Where cores share a
 * large cache, as most do today, a stolen B loses less than in the paper.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mely.h"

#define CHAINS 96
#define PIECES 16
#define PIECE 256 /* words of 8 bytes: an array has 32 KB */
#define FIRST_COLOR ((weft_color)1000)

struct chain {
	weft_event a, b;
	int worker; /* that wrote the array */
	int piece;
	uint64_t sum;
	uint64_t array[PIECES * PIECE];
};

static struct chain *chains[CHAINS];

static void b_event(void *arg)
{
	struct chain *c = arg;
	const uint64_t *piece = &c->array[c->piece * PIECE];

	for (int i = 0; i < PIECE; i++)
		c->sum += piece[i] ^ (uint64_t)i;
	mely_data_of(c->worker);
	if (++c->piece < PIECES)
		mely_post(&c->b);
	mely_event_done(PIECE);
}

static void a_event(void *arg)
{
	struct chain *c = arg;

	for (int i = 0; i < PIECES * PIECE; i++)
		c->array[i] = c->sum + (uint64_t)i;
	c->worker = weft_worker_current();
	c->piece = 0;
	mely_post(&c->b);
	mely_event_done(PIECES * PIECE);
}

static int prepare(int workers)
{
	(void)workers;
	for (int i = 0; i < CHAINS; i++) {
		struct chain *c = calloc(1, sizeof *c);

		if (c == NULL)
			return -ENOMEM;
		weft_event_init(&c->a, FIRST_COLOR + (weft_color)i, a_event, c);
		weft_event_init(&c->b, FIRST_COLOR + (weft_color)i, b_event, c);
		chains[i] = c;
	}
	return weft_handler_penalty(b_event, 1000);
}

static void round_post(int start)
{
	(void)start;
	for (int i = 0; i < CHAINS; i++)
		mely_post(&chains[i]->a);
}

static const struct mely_test test = { .round = round_post,
				       .events = CHAINS * (1 + PIECES),
				       .prepare = prepare };

static const struct bench_paper paper[] = {
	{ "8 cores, stealing off", "Libasync-smp", { 1103, NAN, NAN, NAN, NAN } },
	{ "8 cores, stealing", "Libasync-smp", { 190, NAN, NAN, NAN, NAN } },
	{ "8 cores, stealing base", "Mely", { 1386, NAN, NAN, NAN, NAN } },
	{ "8 cores, stealing penalty", "Mely", { 2122, NAN, NAN, NAN, NAN } },
	{ 0 },
};

static const struct bench_plan plan = {
	.name = "penalty",
	.work = "rounds of 96 events A on the first worker, each of which writes 32 KB and\n"
		"starts 16 events B that read it; 'B away' ran on another core than their A",
	.metrics = MELY_METRICS,
	.metric_count = MELY_AWAY + 1,
	.repeats = 3,
};

int bench_penalty(void)
{
	return mely_bench(&plan, &test, paper, "");
}
