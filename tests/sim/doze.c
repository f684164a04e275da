/* doze.c - a color that ran dry stays in its worker's hand: for that one's next event, and for
 * whoever else posts to it. */
#include <errno.h>

#include "harness/test.h"
#include "machine.h"

enum { COLOR = 7, OTHER = 8 };

static struct {
	struct sim *sim;
	struct wf_worker *one, *two;
	weft_event ev[8];
} t;

static void nothing(void *arg)
{
	(void)arg;
}

static weft_event *event(int i, weft_color color)
{
	weft_event_init(&t.ev[i], color, nothing, NULL);
	return &t.ev[i];
}

static void post(struct wf_worker *self, int i, weft_color color)
{
	struct wf_worker *at = self != NULL ? self : t.one;

	CHECK_EQ(wf_sched_post(&t.sim->sched, self, at, event(i, color), WF_FROM_CPU, NULL, false),
		 0);
}

/* As the kernel's, which w has found. */
static void find(struct wf_worker *w, int i, weft_color color)
{
	weft_event *ev = event(i, color);

	wf_sched_post_io(&t.sim->sched, w, w, &ev, 1);
	CHECK(ev == NULL);
}

static void take(struct wf_worker *w, int i)
{
	CHECK_EQ(wf_sched_take(w), &t.ev[i]);
	__atomic_store_n(&t.ev[i].state_, 0, __ATOMIC_RELAXED);
}

static void run_one(struct wf_worker *w, int i)
{
	CHECK(wf_sched_next(w));
	take(w, i);
	wf_sched_turn_end(w);
}

static void start(size_t max_colors)
{
	t.sim = sim_start(.workers = 2, .max_colors = max_colors);
	t.one = t.sim->cores[0].w;
	t.two = t.sim->cores[1].w;
	find(t.one, 0, COLOR);
	run_one(t.one, 0);
}

static bool dozes(const struct wf_worker *w, weft_color color)
{
	const struct wf_color *c = WF_LOAD(&w->dozing);

	return c != NULL && c->id == color;
}

TEST(what_a_worker_finds_for_the_color_that_dozes_there_needs_no_queue)
{
	start(0);
	CHECK(dozes(t.one, COLOR));
	find(t.one, 1, COLOR);
	find(t.one, 2, COLOR);
	CHECK_EQ(WF_LOAD(&t.one->queue.colors), 0);
	CHECK(wf_worker_has_work(t.one));
	CHECK(wf_sched_next(t.one));
	take(t.one, 1);
	take(t.one, 2);
	wf_sched_turn_end(t.one);
	CHECK(dozes(t.one, COLOR));
	CHECK(!wf_sched_next(t.one));
	sim_stop(t.sim);
}

TEST(S2_others_post_behind_what_woke_a_color)
{
	start(0);
	find(t.one, 1, COLOR);
	post(t.two, 2, COLOR);
	find(t.one, 3, COLOR);
	CHECK(!wf_sched_next(t.two));
	CHECK(wf_sched_next(t.one));
	take(t.one, 1);
	take(t.one, 2);
	take(t.one, 3);
	wf_sched_turn_end(t.one);
	sim_stop(t.sim);
}

TEST(S1_whoever_posts_to_a_color_that_dozes_takes_it_away)
{
	start(0);
	post(t.two, 1, COLOR);
	CHECK(WF_LOAD(&t.one->dozing) == NULL);
	find(t.one, 2, COLOR);
	CHECK(!wf_sched_next(t.one));
	CHECK(wf_sched_next(t.two));
	take(t.two, 1);
	take(t.two, 2);
	wf_sched_turn_end(t.two);
	CHECK(!dozes(t.two, COLOR));
	sim_stop(t.sim);
}

TEST(S3_the_color_that_woke_stands_in_line_with_others)
{
	start(0);
	find(t.one, 1, COLOR);
	find(t.one, 2, OTHER);
	run_one(t.one, 2);
	run_one(t.one, 1);
	sim_stop(t.sim);
}

TEST(S1_in_the_turn_of_another_color_one_that_dozes_is_posted_to_as_ever)
{
	start(0);
	post(NULL, 1, OTHER);
	CHECK(wf_sched_next(t.one));
	take(t.one, 1);
	find(t.one, 2, COLOR);
	CHECK_EQ(WF_LOAD(&t.one->queue.colors), 1);
	wf_sched_turn_end(t.one);
	find(t.one, 3, OTHER);
	run_one(t.one, 2);
	run_one(t.one, 3);
	sim_stop(t.sim);
}

TEST(a_color_in_the_hand_is_as_urgent_as_the_most_urgent_that_it_has)
{
	weft_event *evs[] = { event(1, COLOR), event(2, COLOR), event(3, COLOR) };
	weft_event *other = event(4, OTHER);

	start(0);
	t.ev[2].priority = WEFT_PRIORITY_URGENT;
	other->priority = WEFT_PRIORITY_HIGH;
	wf_sched_post_io(&t.sim->sched, t.one, t.one, evs, 3);
	wf_sched_post_io(&t.sim->sched, t.one, t.one, &other, 1);
	CHECK(wf_sched_next(t.one));
	take(t.one, 1);
	take(t.one, 2);
	take(t.one, 3);
	wf_sched_turn_end(t.one);
	run_one(t.one, 4);
	sim_stop(t.sim);
}

/* The user's mistake: queued in one color, it is posted to another. */
TEST(S3_a_color_sleeps_on_that_was_posted_what_is_queued_elsewhere)
{
	start(0);
	post(NULL, 1, OTHER);
	t.ev[1].color = COLOR;
	CHECK_EQ(wf_sched_post(&t.sim->sched, t.two, t.two, &t.ev[1], WF_FROM_CPU, NULL, false),
		 -EALREADY);
	post(t.two, 2, COLOR);
	run_one(t.two, 2);
	run_one(t.one, 1);
	sim_stop(t.sim);
}

TEST(S3_a_color_sleeps_on_that_wakes_for_what_is_queued_elsewhere)
{
	weft_event *ev = &t.ev[1];

	start(0);
	post(t.two, 1, OTHER);
	t.ev[1].color = COLOR;
	wf_sched_post_io(&t.sim->sched, t.one, t.one, &ev, 1);
	CHECK(ev == &t.ev[1]);
	post(NULL, 2, OTHER + 1);
	run_one(t.one, 2);
	CHECK(!wf_sched_next(t.one));
	find(t.one, 3, COLOR);
	run_one(t.one, 3);
	run_one(t.two, 1);
	sim_stop(t.sim);
}

TEST(a_worker_lets_go_of_the_color_that_dozed_when_it_has_run_another)
{
	start(0);
	find(t.one, 1, OTHER);
	run_one(t.one, 1);
	CHECK(dozes(t.one, OTHER));
	CHECK_EQ(sim_colors_known(t.sim), 1);
	sim_stop(t.sim);
}

TEST(a_color_that_is_pinned_while_it_dozes_wakes_where_it_is_pinned)
{
	start(0);
	CHECK_EQ(wf_sched_pin(&t.sim->sched, NULL, COLOR, 1), 0);
	find(t.one, 1, COLOR);
	CHECK(!wf_sched_next(t.one));
	run_one(t.two, 1);
	CHECK(!dozes(t.two, COLOR));
	sim_stop(t.sim);
}

TEST(a_color_that_others_post_to_does_not_doze)
{
	start(0);
	post(NULL, 1, OTHER);
	run_one(t.one, 1);
	CHECK(WF_LOAD(&t.one->dozing) == NULL);
	post(t.two, 2, COLOR);
	run_one(t.two, 2);
	CHECK(WF_LOAD(&t.two->dozing) == NULL);
	CHECK_EQ(sim_colors_known(t.sim), 0);
	sim_stop(t.sim);
}

TEST(where_colors_are_limited_none_dozes)
{
	start(1);
	CHECK(WF_LOAD(&t.one->dozing) == NULL);
	post(NULL, 1, OTHER);
	run_one(t.one, 1);
	sim_stop(t.sim);
}

TEST_MAIN
