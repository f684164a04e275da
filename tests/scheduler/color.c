/* Colors on real workers: one at a time (S1), in order (S2), nothing lost or
 * starved (S3), no aliases (C1), serial by default (C2).
 */
#include "scheduler/color.h"

#include <semaphore.h>

#include "common.h"
#include "scheduler/runtime.h"

/* One at a time and in order */

enum { COLORS = 5, FOREIGN = 3, POSTERS = COLORS + FOREIGN, BASE = 1000 };

struct item {
	int color, poster;
	long seq;
};

static atomic_int inside[COLORS];
static long seen[COLORS][POSTERS];        /* in its color */
static long sent[POSTERS][COLORS];        /* by its poster, which is serial */
static uint64_t color_seed[COLORS];       /* in its color */
static atomic_long budget, accepted, ran; /* follow-ups left; posts; handlers */

static void item_run(void *arg);

static void item_post(int poster, int color)
{
	struct item *it = malloc(sizeof *it);

	*it = (struct item){ .color = color, .poster = poster, .seq = ++sent[poster][color] };
	CHECK_EQ(weft_post((weft_color)(BASE + color), item_run, it), 0);
	atomic_fetch_add(&accepted, 1);
}

static void item_run(void *arg)
{
	struct item it = *(struct item *)arg;
	uint64_t *seed = &color_seed[it.color];

	free(arg);
	CHECK_EQ(weft_color_current(), BASE + it.color);
	CHECK_EQ(atomic_fetch_add(&inside[it.color], 1), 0);
	CHECK_EQ(it.seq, seen[it.color][it.poster] + 1);
	seen[it.color][it.poster] = it.seq;
	for (uint64_t n = random_below(seed, 3); n > 0; n--) {
		if (atomic_fetch_sub(&budget, 1) > 0)
			item_post(it.color, (int)random_below(seed, COLORS));
	}
	if (random_below(seed, 50) == 0)
		sched_yield();
	CHECK_EQ(atomic_fetch_sub(&inside[it.color], 1), 1);
	atomic_fetch_add(&ran, 1);
}

static uint64_t round_seed;

static void *post_items(void *arg)
{
	int poster = (int)(intptr_t)arg;
	uint64_t seed = round_seed + (uint64_t)poster;

	for (int i = 0; i < TEST_SIZE(3000); i++) {
		item_post(poster, (int)random_below(&seed, COLORS));
		if (random_below(&seed, 200) == 0)
			sched_yield();
	}
	return NULL;
}

static pthread_t posters[FOREIGN];

static void *wait_for_posters(void *unused)
{
	for (int i = 0; i < FOREIGN; i++)
		thread_join(posters[i]);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static pthread_t waiter;

static int start_posters(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	for (intptr_t i = 0; i < FOREIGN; i++)
		posters[i] = thread_start(post_items, (void *)(COLORS + i));
	waiter = thread_start(wait_for_posters, NULL);
	return 0;
}

static void random_round(int workers, const char *steal, uint64_t seed)
{
	weft_options opt = { .workers = workers, .steal = steal, .batch = 1 + (int)(seed % 12) };

	round_seed = seed;
	memset(seen, 0, sizeof seen);
	memset(sent, 0, sizeof sent);
	for (int i = 0; i < COLORS; i++)
		color_seed[i] = seed * 31 + (uint64_t)i;
	atomic_store(&budget, TEST_SIZE(30000));
	atomic_store(&accepted, 0);
	atomic_store(&ran, 0);
	CHECK_EQ(weft_run(start_posters, NULL, &opt), 0);
	thread_join(waiter);
	CHECK_EQ(atomic_load(&ran), atomic_load(&accepted));
	CHECK(atomic_load(&ran) >= FOREIGN * TEST_SIZE(3000));
}

TEST(events_of_a_color_run_one_at_a_time_in_order_and_none_is_lost)
{
	static const int workers[] = { 1, 2, 4, 8 };
	static const char *const steals[] = { "base", "all", "off", "locality" };
	uint64_t seed = TEST_SEED;

	for (int i = 0; i < 8; i++)
		random_round(workers[i % 4], steals[(i + i / 4) % 4], test_random(&seed));
}

/* Order between posters that know of each other */

enum { A = 77, B = 78 };

static sem_t ask;
static atomic_int answered;
static int expect, relay_rounds;
static bool post_in_own_color;
static weft_event older, newer;

static void run_older(void *unused)
{
	(void)unused;
	CHECK_EQ(expect++ % 2, 0);
}

static void relay(void *unused);

static void run_newer(void *unused)
{
	(void)unused;
	CHECK_EQ(expect++ % 2, 1);
	if (expect < 2 * relay_rounds)
		CHECK_EQ(weft_post(post_in_own_color ? A : B, relay, NULL), 0);
	else
		CHECK_EQ(weft_drop(), 0);
}

/* Asks the foreign thread to post `older` to A, and then posts `newer`. */
static void relay(void *unused)
{
	int before = atomic_load(&answered);

	(void)unused;
	sem_post(&ask);
	WAIT_FOR(atomic_load(&answered) != before);
	weft_event_init(&newer, A, run_newer, NULL);
	CHECK_EQ(weft_event_post(&newer), 0);
}

static void *post_older(void *unused)
{
	for (int i = 0; i < relay_rounds; i++) {
		while (sem_wait(&ask) != 0)
			continue;
		weft_event_init(&older, A, run_older, NULL);
		CHECK_EQ(weft_event_post(&older), 0);
		atomic_fetch_add(&answered, 1);
	}
	return unused;
}

static int start_relay(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	return weft_post(post_in_own_color ? A : B, relay, NULL);
}

static void causal_rounds(int workers)
{
	weft_options opt = { .workers = workers, .steal = "base", .stall_ms = -1 };
	pthread_t thread;

	relay_rounds = TEST_SIZE(3000);
	expect = 0;
	CHECK_EQ(sem_init(&ask, 0, 0), 0);
	thread = thread_start(post_older, NULL);
	CHECK_EQ(weft_run(start_relay, NULL, &opt), 0);
	thread_join(thread);
	CHECK_EQ(expect, 2 * relay_rounds);
}

TEST(what_a_handler_posts_to_its_own_color_runs_behind_what_it_knows_was_posted)
{
	post_in_own_color = true;
	causal_rounds(1);
	causal_rounds(2);
}

TEST(what_a_handler_posts_to_another_color_runs_behind_what_it_knows_was_posted)
{
	post_in_own_color = false;
	causal_rounds(1);
	causal_rounds(3);
}

/* Nothing lost, nothing twice */

enum { TREE = 20000 };

struct node {
	weft_event event;
	atomic_int ran;
};

static struct node *nodes;
static uint64_t node_colors;

static void node_post(int i);

static void node_run(void *arg)
{
	int i = (int)((struct node *)arg - nodes);

	atomic_fetch_add(&nodes[i].ran, 1);
	node_post(2 * i + 1);
	node_post(2 * i + 2);
}

static void node_post(int i)
{
	if (i >= TREE)
		return;
	weft_event_init(&nodes[i].event, (weft_color)i * 7919 % node_colors, node_run, &nodes[i]);
	nodes[i].event.priority = (uint8_t)(i % 4);
	nodes[i].event.shared = i % 5 == 0;
	CHECK_EQ(weft_event_post(&nodes[i].event), 0);
}

static int plant(void *unused)
{
	(void)unused;
	node_post(0);
	return 0;
}

TEST(every_event_runs_exactly_once_on_any_number_of_workers)
{
	static const int workers[] = { 1, 2, 4, 8 };
	static const uint64_t colors[] = { 3, 100, 100000 };

	nodes = calloc(TREE, sizeof *nodes);
	for (int i = 0; i < 12; i++) {
		weft_options opt = { .workers = workers[i % 4], .steal = i % 2 ? "all" : "base" };

		node_colors = colors[i / 4];
		for (int k = 0; k < TREE; k++)
			atomic_store(&nodes[k].ran, 0);
		CHECK_EQ(weft_run(plant, NULL, &opt), 0);
		for (int k = 0; k < TREE; k++)
			CHECK_EQ(atomic_load(&nodes[k].ran), 1);
	}
	free(nodes);
}

/* Nothing starves */

static atomic_bool enough;
static long busy_runs, busy_runs_seen;

static void busy(void *unused)
{
	(void)unused;
	busy_runs++;
	if (!atomic_load(&enough))
		CHECK_EQ(weft_post(A, busy, NULL), 0);
}

static void other(void *unused)
{
	(void)unused;
	busy_runs_seen = busy_runs; /* one worker: nobody else is there */
	atomic_store(&enough, true);
}

static int busy_and_other(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_post(A, busy, NULL), 0);
	return weft_post(B, other, NULL);
}

TEST(a_color_that_is_never_done_yields_after_a_batch)
{
	static const int batches[] = { 1, 3, 10, 100 };

	for (int i = 0; i < 4; i++) {
		weft_options opt = { .workers = 1, .batch = batches[i], .stall_ms = -1 };

		atomic_store(&enough, false);
		busy_runs = 0;
		CHECK_EQ(weft_run(busy_and_other, NULL, &opt), 0);
		CHECK_EQ(busy_runs_seen, batches[i]);
	}
}

static void again(void *color)
{
	if (!atomic_load(&enough))
		CHECK_EQ(weft_post((weft_color)(uintptr_t)color, again, color), 0);
}

static void foreign_event(void *unused)
{
	(void)unused;
	atomic_store(&enough, true);
}

static void *post_foreign(void *unused)
{
	CHECK_EQ(weft_post(5000, foreign_event, NULL), 0);
	return unused;
}

static pthread_t poster;

static int crowd_and_foreign(void *unused)
{
	(void)unused;
	for (uintptr_t c = 1; c <= 100; c++)
		again((void *)c);
	poster = thread_start(post_foreign, NULL);
	return 0;
}

TEST(what_comes_from_outside_is_not_starved_by_what_handlers_post)
{
	for (int workers = 1; workers <= 2; workers++) {
		weft_options opt = { .workers = workers };

		atomic_store(&enough, false);
		CHECK_EQ(weft_run(crowd_and_foreign, NULL, &opt), 0);
		thread_join(poster);
	}
}

/* No aliases */

static sem_t other_ran;
static weft_color pair[2];

static void blocks(void *unused)
{
	(void)unused;
	while (sem_wait(&other_ran) != 0)
		continue;
}

static void unblocks(void *unused)
{
	(void)unused;
	sem_post(&other_ran);
}

static int post_pair(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_post(pair[0], blocks, NULL), 0);
	return weft_post(pair[1], unblocks, NULL);
}

/* The first color's handler returns only after the second's ran. */
static void check_apart(weft_color a, weft_color b)
{
	weft_options opt = { .workers = 2, .steal = "base" };

	pair[0] = a;
	pair[1] = b;
	CHECK_EQ(weft_run(post_pair, NULL, &opt), 0);
}

/* The next color above b that the table looks for where it looks for a. */
static weft_color collide(weft_color a, weft_color b, uint64_t mask)
{
	do
		b++;
	while ((wf_color_hash(a) & mask) != (wf_color_hash(b) & mask));
	return b;
}

TEST(colors_that_collide_in_the_table_run_side_by_side)
{
	uint64_t mask = (uint64_t)WF_COLOR_SHARDS * WF_COLOR_SLOTS - 1;

	catch_reports();
	CHECK_EQ(sem_init(&other_ran, 0, 0), 0);
	check_apart(1, collide(1, 1, mask));
	check_apart(12345, collide(12345, 99999, mask));
	check_apart(WEFT_MAIN + 1, collide(1, 1, 0xfffff));
}

TEST(colors_that_are_equal_modulo_any_power_of_two_run_side_by_side)
{
	catch_reports();
	CHECK_EQ(sem_init(&other_ran, 0, 0), 0);
	for (int bit = 4; bit < 63; bit += 7)
		check_apart(5, 5 + ((weft_color)1 << bit));
	check_apart(5, 5 + ((weft_color)1 << 62));
	check_apart(weft_color_new(), weft_color_new());
}

/* Serial by default */

static long unguarded; /* no atomic: color 0 is enough */
static atomic_int in_main;

static void no_color_named(void *unused)
{
	weft_event *ev = unused;

	CHECK_EQ(weft_color_current(), WEFT_MAIN);
	CHECK_EQ(atomic_fetch_add(&in_main, 1), 0);
	unguarded++;
	atomic_fetch_sub(&in_main, 1);
	free(ev);
}

static void *post_without_color(void *unused)
{
	for (int i = 0; i < TEST_SIZE(5000); i++) {
		weft_event *ev = calloc(1, sizeof *ev); /* all zeros but the function */

		ev->run = no_color_named;
		ev->arg = ev;
		CHECK_EQ(weft_event_post(ev), 0);
	}
	return unused;
}

static void *post_from_two(void *unused)
{
	pthread_t one = thread_start(post_without_color, NULL);

	post_without_color(NULL);
	thread_join(one);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static pthread_t both;

static int start_serial(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_color_current(), WEFT_MAIN);
	CHECK_EQ(atomic_fetch_add(&in_main, 1), 0); /* the first function is serial too */
	CHECK_EQ(weft_hold(), 0);
	both = thread_start(post_from_two, NULL);
	post_without_color(NULL);
	atomic_fetch_sub(&in_main, 1);
	return 0;
}

TEST(work_that_names_no_color_is_serial)
{
	weft_options opt = { .workers = 4, .steal = "base" };

	CHECK_EQ(weft_color_current(), WEFT_MAIN);
	CHECK_EQ(weft_run(start_serial, NULL, &opt), 0);
	thread_join(both);
	CHECK_EQ(unguarded, 3 * TEST_SIZE(5000));
}

/* Fresh colors */

enum { FRESH = 20000 };

static weft_color fresh[2 * FRESH];

static void *make_colors(void *arg)
{
	weft_color *mine = arg;

	for (int i = 0; i < FRESH; i++)
		mine[i] = i % 3 ? weft_color_new() : weft_color_new_in(2 + i % 14);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	weft_color x = *(const weft_color *)a, y = *(const weft_color *)b;

	return x < y ? -1 : x > y;
}

TEST(fresh_colors_are_all_different_and_know_their_class)
{
	pthread_t thread = thread_start(make_colors, fresh);

	make_colors(fresh + FRESH);
	thread_join(thread);
	for (int i = 0; i < FRESH; i++)
		CHECK_EQ(wf_color_class(fresh[i]), i % 3 ? WEFT_CLASS_FRESH : 2 + i % 14);
	qsort(fresh, 2 * FRESH, sizeof *fresh, by_value);
	for (int i = 1; i < 2 * FRESH; i++)
		CHECK(fresh[i - 1] != fresh[i]);
	CHECK_EQ(weft_color_new_in(WEFT_CLASS_CHOSEN), WEFT_MAIN);
	CHECK_EQ(weft_color_new_in(-1), WEFT_MAIN);
	CHECK_EQ(weft_color_new_in(WEFT_CLASSES), WEFT_MAIN);
}

static long hops;

static void hop(void *unused)
{
	(void)unused;
	if (++hops < TEST_SIZE(50000))
		CHECK_EQ(weft_post(weft_color_new(), hop, NULL), 0);
	else
		CHECK(wf_rt->sched.table.colors.fresh <= 2 * WF_POOL_CACHE + 4);
}

static int start_hops(void *unused)
{
	hop(unused);
	return 0;
}

TEST(colors_with_nothing_queued_cost_nothing)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(start_hops, NULL, &opt), 0);
	CHECK_EQ(hops, TEST_SIZE(50000));
}

/* Taking events back */

static weft_event victim;
static atomic_int victim_runs;

static void victim_run(void *unused)
{
	(void)unused;
	atomic_fetch_add(&victim_runs, 1);
}

static void *post_victim(void *unused)
{
	CHECK_EQ(weft_event_post(&victim), 0);
	CHECK_EQ(weft_event_cancel(&victim), -EPERM);
	return unused;
}

static void cancel_in_color(void *unused)
{
	(void)unused;
	weft_event_init(&victim, A, victim_run, NULL);
	CHECK_EQ(weft_event_cancel(&victim), -ENOENT); /* never posted */
	CHECK_EQ(weft_event_post(&victim), 0);
	CHECK_EQ(weft_post(A, nothing, NULL), 0);
	CHECK_EQ(weft_event_cancel(&victim), 0); /* first of two */
	CHECK_EQ(weft_event_cancel(&victim), -ENOENT);
	CHECK_EQ(weft_event_post(&victim), 0);
	CHECK_EQ(weft_event_cancel(&victim), 0); /* last of two */
	thread_join(thread_start(post_victim, NULL));
	CHECK_EQ(weft_event_cancel(&victim), 0); /* posted by another thread */
	CHECK_EQ(atomic_load(&victim_runs), 0);
	CHECK_EQ(weft_event_post(&victim), 0); /* this one runs */
}

static void cancel_elsewhere(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_event_cancel(&victim), -EPERM);
}

static int start_cancel(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_post(A, cancel_in_color, NULL), 0);
	return weft_post(B, cancel_elsewhere, NULL);
}

static int cancel_when_over(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_event_cancel(&victim), -EPERM); /* this is color 0 */
	return 0;
}

TEST(an_event_can_be_taken_back_in_its_own_color_until_it_runs)
{
	/* No stand-in either: the color that may not take it back would look at it meanwhile. */
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	weft_event_init(&victim, A, victim_run, NULL);
	CHECK_EQ(weft_run(start_cancel, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&victim_runs), 1);
	CHECK_EQ(weft_event_cancel(&victim), -EPERM);
	CHECK_EQ(weft_run(cancel_when_over, NULL, &opt), 0);
}

/* Taking back what a foreign thread posts at that moment. Every post is either run
 * or taken back, and what else is in the color's queue is not disturbed. */

static atomic_long raced, taken_back, bystanders_ran;
static long bystanders; /* in its color */
static long races;

static void raced_run(void *unused)
{
	(void)unused;
	atomic_fetch_add(&raced, 1);
}

static void bystander(void *unused)
{
	(void)unused;
	atomic_fetch_add(&bystanders_ran, 1);
}

static long races_over(void)
{
	return atomic_load(&raced) + atomic_load(&taken_back);
}

/* Two threads that yield to each other could stay on one CPU, where the moment is
 * never met. */
static void use_cpu(int nth)
{
	cpu_set_t all, one;

	CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &all) && nth-- == 0)
			CPU_SET(cpu, &one);
	}
	if (CPU_COUNT(&one) != 0)
		CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

static void take_back_again(void *unused)
{
	bool idle = true;

	if (bystanders == 0)
		use_cpu(0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(weft_post(A, bystander, NULL), 0);
	bystanders += 3;
	for (int i = 0; i < 10000; i++) {
		if (weft_event_cancel(&victim) == 0) {
			atomic_fetch_add(&taken_back, 1);
			idle = false;
		}
	}
	if (idle)
		sched_yield(); /* to the poster, if there is one CPU for both */
	if (races_over() < races)
		CHECK_EQ(weft_post(A, take_back_again, unused), 0);
}

static void *post_to_be_taken_back(void *unused)
{
	use_cpu(1);
	for (long i = 0; i < races; i++) {
		for (int n = 1; races_over() != i; n++) {
			if (n % 10000 == 0)
				sched_yield();
		}
		CHECK_EQ(weft_event_post(&victim), 0);
	}
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static int start_races(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(weft_color_pin(A, 0), 0);
	poster = thread_start(post_to_be_taken_back, unused);
	return weft_post(A, take_back_again, NULL);
}

TEST(an_event_taken_back_while_it_is_posted_is_lost_nowhere)
{
	/* The limit, never met, makes a post take longer: all workers are counted. */
	weft_options opt = { .workers = 8, .queue_depth = UINT32_MAX, .stall_ms = -1 };

	races = TEST_SIZE(500);
	weft_event_init(&victim, A, raced_run, NULL);
	victim.drop = raced_run;
	CHECK_EQ(weft_run(start_races, NULL, &opt), 0);
	thread_join(poster);
	CHECK_EQ(races_over(), races);
	CHECK_EQ(atomic_load(&bystanders_ran), bystanders);
}

TEST_MAIN
