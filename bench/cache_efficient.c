/* cache_efficient.c - Mely's test of locality-aware stealing (table VI).
 *
 * One worker of each pair starts with 100 events A. Each fills an array and
 * posts two events B, of different colors, which sort a half each and post an
 * event C in the color of the array; the second C merges the halves.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mely.h"

#define ARRAYS 100
#define HALF 2048 /* numbers of 4 bytes: an array has 16 KB */
#define FIRST_COLOR ((weft_color)1000)

struct half {
	weft_event b, c;
	struct array *array;
	uint32_t *numbers;
};

struct array {
	weft_event a;
	struct half halves[2];
	int worker; /* that filled it */
	int sorted;
	uint64_t seed;
	uint32_t numbers[2 * HALF];
	uint32_t merged[2 * HALF];
};

static struct array *arrays[MELY_WORKERS_MAX][ARRAYS];

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void merge(struct array *a)
{
	const uint32_t *x = a->numbers, *y = a->numbers + HALF;
	const uint32_t *x_end = y, *y_end = y + HALF;

	for (int i = 0; i < 2 * HALF; i++)
		a->merged[i] = y == y_end || (x < x_end && *x <= *y) ? *x++ : *y++;
}

static void c_event(void *arg)
{
	struct half *h = arg;

	if (++h->array->sorted == 2)
		merge(h->array);
	mely_event_done(HALF);
}

static void b_event(void *arg)
{
	struct half *h = arg;

	qsort(h->numbers, HALF, sizeof h->numbers[0], compare);
	mely_data_of(h->array->worker);
	mely_post(&h->c);
	mely_event_done(HALF * 60);
}

static void a_event(void *arg)
{
	struct array *a = arg;

	for (int i = 0; i < 2 * HALF; i++)
		a->numbers[i] = bench_random(&a->seed);
	a->worker = weft_worker_current();
	a->sorted = 0;
	mely_post(&a->halves[0].b);
	mely_post(&a->halves[1].b);
	mely_event_done(HALF * 2);
}

static void array_init(struct array *a, weft_color color)
{
	a->seed = color;
	weft_event_init(&a->a, color, a_event, a);
	for (int i = 0; i < 2; i++) {
		struct half *h = &a->halves[i];

		h->array = a;
		h->numbers = a->numbers + i * HALF;
		weft_event_init(&h->b, color + 1 + (weft_color)i, b_event, h);
		weft_event_init(&h->c, color, c_event, h);
	}
}

static int prepare(int workers)
{
	for (int w = 0; w < workers; w += 2) {
		for (int i = 0; i < ARRAYS; i++) {
			struct array *a = calloc(1, sizeof *a);

			if (a == NULL)
				return -ENOMEM;
			array_init(a, FIRST_COLOR + (weft_color)(w * ARRAYS + i) * 3);
			arrays[w][i] = a;
		}
	}
	return 0;
}

static void round_post(int start)
{
	for (int i = 0; i < ARRAYS; i++)
		mely_post(&arrays[start][i]->a);
}

static const struct mely_test test = {
	.round = round_post, .start_every = 2, .events = ARRAYS * 5, .prepare = prepare
};

static const struct bench_paper paper[] = {
	{ "8 cores, stealing off", "Libasync-smp", { 1156, NAN, NAN, NAN, NAN } },
	{ "8 cores, stealing", "Libasync-smp", { 1497, NAN, NAN, NAN, NAN } },
	{ "8 cores, stealing base", "Mely", { 1426, NAN, NAN, NAN, NAN } },
	{ "8 cores, stealing locality", "Mely", { 1869, NAN, NAN, NAN, NAN } },
	{ 0 },
};

static const struct bench_plan plan = {
	.name = "cache-efficient",
	.work = "rounds of 100 arrays on one worker of each pair: fill, sort two halves in two\n"
		"colors, merge (5 events); 'B away' sorted on another core than the filling",
	.metrics = MELY_METRICS,
	.metric_count = MELY_AWAY + 1,
	.repeats = 3,
};

int bench_cache_efficient(void)
{
	return mely_bench(&plan, &test, paper, "");
}
