/* Everything at once, at random, for WEFT_STRESS_SECONDS (default 2): colors,
 * shared events, priorities, pins, drops, cancels, timers, foreign threads,
 * stalls, stops. Checks S1, S2 (by poster), S3, and readers and writers.
 */
#include "common.h"

#include <stdio.h>
#include <time.h>

enum { COLORS = 12, FOREIGN = 3, POSTERS = COLORS + FOREIGN, BASE = 500, FLIGHT = 5000 };

struct item {
	weft_event event;
	int color, poster;
	long seq; /* of this poster in this color; 0: shared, has none */
	struct item *next;
};

/* One color's state; what is not atomic is touched in its exclusive use only. */
static struct {
	atomic_int writers, readers;
	long seen[POSTERS];
	uint64_t seed;
	weft_event victim; /* posted and taken back */
	bool victim_queued;
	weft_timer timer;
	bool timer_on;
	atomic_int timer_calls;
} color[COLORS];
static long sent[POSTERS][COLORS];
static struct item *kept[POSTERS]; /* where a stop may leave some that never run */
static atomic_long posted, done, in_flight;
static atomic_bool winding_down;
static bool stopped; /* this round ends by weft_stop */
static uint64_t round_seed;

static void exclusive(void *arg);
static void dropped(void *arg);
static void shared(void *arg);

static void post_item(int poster, int to, uint64_t *seed)
{
	struct item *it = calloc(1, sizeof *it);
	uint64_t kind = random_below(seed, 10);
	int rc;

	CHECK(it != NULL);
	it->color = to;
	it->poster = poster;
	weft_event_init(&it->event, (weft_color)(BASE + to), kind < 3 ? shared : exclusive, it);
	it->event.shared = kind < 3;
	it->event.priority = (uint8_t)random_below(seed, 4);
	if (kind >= 3) {
		it->seq = ++sent[poster][to];
		if (kind == 9)
			it->event.drop = dropped;
	}
	atomic_fetch_add(&in_flight, 1);
	atomic_fetch_add(&posted, 1);
	rc = weft_event_post(&it->event);
	if (rc < 0) {
		CHECK(stopped && rc == -ESHUTDOWN);
		atomic_fetch_sub(&in_flight, 1);
		atomic_fetch_sub(&posted, 1);
		sent[poster][to] -= it->seq != 0;
	}
	if (stopped) {
		it->next = kept[poster];
		kept[poster] = it;
	}
}

static void end_item(struct item *it)
{
	if (!stopped)
		free(it);
	atomic_fetch_sub(&in_flight, 1);
	atomic_fetch_add(&done, 1);
}

static void on_victim(void *arg)
{
	color[(intptr_t)arg].victim_queued = false;
}

static void on_timer(void *arg)
{
	intptr_t c = (intptr_t)arg;

	CHECK_EQ(atomic_load(&color[c].readers), 0);
	color[c].timer_on = false;
	atomic_fetch_add(&color[c].timer_calls, 1);
}

static void play_with_victim(int c)
{
	weft_event *ev = &color[c].victim;

	if (color[c].victim_queued) {
		CHECK_EQ(weft_event_cancel(ev), 0);
		CHECK_EQ(weft_event_cancel(ev), -ENOENT);
		color[c].victim_queued = false;
	} else {
		weft_event_init(ev, (weft_color)(BASE + c), on_victim, (void *)(intptr_t)c);
		color[c].victim_queued = weft_event_post(ev) == 0;
		CHECK(color[c].victim_queued || stopped);
	}
}

static void play_with_timer(int c, uint64_t *seed)
{
	weft_timer *t = &color[c].timer;
	int rc;

	if (color[c].timer_on) {
		rc = weft_timer_cancel(t); /* in its own color: exact */
		CHECK_EQ(rc, 0);
		color[c].timer_on = false;
	} else {
		weft_timer_init(t, (weft_color)(BASE + c), on_timer, (void *)(intptr_t)c);
		rc = weft_timer_start(t, random_below(seed, 300) * WEFT_US);
		CHECK(rc == 0 || (stopped && rc == -ESHUTDOWN));
		color[c].timer_on = rc == 0;
	}
}

static void play(int c)
{
	uint64_t *seed = &color[c].seed;

	if (random_below(seed, 4) == 0)
		play_with_victim(c);
	if (random_below(seed, 8) == 0)
		play_with_timer(c, seed);
	if (random_below(seed, 100) == 0)
		CHECK_EQ(weft_color_pin((weft_color)(BASE + random_below(seed, COLORS)),
					(int)random_below(seed, 3) - 1),
			 0);
	if (random_below(seed, 50) == 0)
		CHECK(weft_post(weft_color_new(), nothing, NULL) == 0 || stopped);
	if (random_below(seed, 5000) == 0) {
		struct timespec stall = { .tv_nsec = 3 * 1000 * 1000 };

		nanosleep(&stall, NULL); /* not to wait for anything: a worker gets stuck */
	}
	if (atomic_load(&winding_down) || atomic_load(&in_flight) > FLIGHT)
		return;
	for (uint64_t n = random_below(seed, 4); n > 0; n--)
		post_item(c, (int)random_below(seed, COLORS), seed);
}

static void enter_exclusive(struct item *it)
{
	int c = it->color;

	CHECK_EQ(weft_color_current(), BASE + c);
	CHECK_EQ(atomic_fetch_add(&color[c].writers, 1), 0);
	CHECK_EQ(atomic_load(&color[c].readers), 0);
	CHECK_EQ(it->seq, color[c].seen[it->poster] + 1);
	color[c].seen[it->poster] = it->seq;
}

static void exclusive(void *arg)
{
	struct item *it = arg;
	int c = it->color;

	enter_exclusive(it);
	play(c);
	CHECK_EQ(atomic_load(&color[c].readers), 0);
	CHECK_EQ(atomic_fetch_sub(&color[c].writers, 1), 1);
	end_item(it);
}

static void dropped(void *arg)
{
	struct item *it = arg;
	int c = it->color;

	enter_exclusive(it);
	CHECK_EQ(atomic_fetch_sub(&color[c].writers, 1), 1);
	end_item(it);
}

static void shared(void *arg)
{
	struct item *it = arg;
	int c = it->color;

	atomic_fetch_add(&color[c].readers, 1);
	CHECK_EQ(atomic_load(&color[c].writers), 0);
	sched_yield();
	CHECK_EQ(atomic_load(&color[c].writers), 0);
	atomic_fetch_sub(&color[c].readers, 1);
	end_item(it);
}

static atomic_int posters_left;

static void *post_outside(void *arg)
{
	int poster = (int)(intptr_t)arg;
	uint64_t seed = round_seed + (uint64_t)poster;

	for (long i = 0; i < TEST_SIZE(3000); i++) {
		if (atomic_load(&in_flight) < FLIGHT)
			post_item(poster, (int)random_below(&seed, COLORS), &seed);
		else
			sched_yield();
		if (random_below(&seed, 100) == 0)
			weft_stats(NULL, NULL, 0);
	}
	if (atomic_fetch_sub(&posters_left, 1) == 1) {
		atomic_store(&winding_down, true);
		CHECK_EQ(stopped ? weft_stop() : weft_drop(), 0);
	}
	return NULL;
}

static pthread_t outside[FOREIGN];

static int start(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	for (intptr_t i = 0; i < FOREIGN; i++)
		outside[i] = thread_start(post_outside, (void *)(COLORS + i));
	return 0;
}

static void free_kept(void)
{
	for (int i = 0; i < POSTERS; i++) {
		for (struct item *next; kept[i] != NULL; kept[i] = next) {
			next = kept[i]->next;
			free(kept[i]);
		}
	}
}

/* One run with settings and work by the seed. */
static void one_round(uint64_t seed)
{
	static const char *const steals[] = { "off", "base", "all", "locality", "time" };
	weft_options opt = { .workers = 1 + (int)random_below(&seed, 5),
			     .steal = steals[random_below(&seed, 5)],
			     .batch = 1 + (int)random_below(&seed, 20),
			     .stall_ms = 1 + (int)random_below(&seed, 3),
			     .color_depth = (uint32_t)random_below(&seed, 50),
			     .queue_delay_ms = (uint32_t)random_below(&seed, 3) };

	if (opt.workers < 2)
		opt.workers = 2; /* play pins to 0 and 1 */
	stopped = random_below(&seed, 8) == 0;
	round_seed = seed;
	memset(color, 0, sizeof color);
	memset(sent, 0, sizeof sent);
	for (int c = 0; c < COLORS; c++)
		color[c].seed = seed + 1000 + (uint64_t)c;
	atomic_store(&posted, 0);
	atomic_store(&done, 0);
	atomic_store(&in_flight, 0);
	atomic_store(&winding_down, false);
	atomic_store(&posters_left, FOREIGN);
	CHECK_EQ(weft_run(start, NULL, &opt), 0);
	for (int i = 0; i < FOREIGN; i++)
		thread_join(outside[i]);
	if (!stopped)
		CHECK_EQ(atomic_load(&done), atomic_load(&posted));
	free_kept();
}

TEST(random_use_of_everything_keeps_the_promises)
{
	const char *text = getenv("WEFT_STRESS_SECONDS");
	uint64_t seconds = text != NULL ? strtoull(text, NULL, 10) : 2;
	uint64_t seed = TEST_SEED, end = weft_now() + seconds * WEFT_SEC;
	long rounds = 0;

	catch_reports();
	do
		one_round(test_random(&seed));
	while (rounds++, weft_now() < end);
	printf("%ld rounds\n", rounds);
}

TEST_MAIN
