/* constant.c - S4: posting, taking and stealing look at a few events and colors, not
 * at all that are queued.
 *
 * Nothing is timed. Of 50,000 queued things, the memory of all but the first and
 * the last few is taken away: code that walks over them dies.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "harness/test.h"
#include "machine.h"

enum { MANY = 50000, FEW = 8 };

/* Changes the access to all whole pages in [from, to). */
static void protect(void *from, void *to, int access)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t low = ((uintptr_t)from + page - 1) / page * page;
	uintptr_t high = (uintptr_t)to / page * page;

	CHECK(high > low + 100 * page);
	CHECK_EQ(mprotect((char *)from + (low - (uintptr_t)from), high - low, access), 0);
}

static weft_event *events_new(void)
{
	void *at = mmap(NULL, (MANY + FEW) * sizeof(weft_event), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void nothing(void *arg)
{
	(void)arg;
}

static void post_from(struct sim *sim, struct wf_worker *self, weft_event *ev, weft_color color)
{
	struct wf_worker *at = self != NULL ? self : sim->cores[0].w;

	weft_event_init(ev, color, nothing, NULL);
	CHECK_EQ(wf_sched_post(&sim->sched, self, at, ev, WF_FROM_IO, NULL, false), 0);
}

static void post(struct sim *sim, weft_event *ev, weft_color color)
{
	post_from(sim, NULL, ev, color);
}

TEST(S4_one_color_with_many_events_is_posted_to_and_stolen_without_looking_at_them)
{
	struct sim *sim = sim_start(.workers = 2);
	struct wf_worker *thief = sim->cores[1].w;
	weft_event *events = events_new();

	for (int i = 0; i < MANY; i++)
		post(sim, &events[i], 7);
	protect(&events[FEW], &events[MANY - FEW], PROT_NONE);

	post(sim, &events[MANY], 7);
	CHECK(wf_sched_steal(thief));
	post(sim, &events[MANY + 1], 7);
	for (int i = 0; i < FEW - 1; i++)
		CHECK_EQ(wf_sched_take(thief), &events[i]);
	post_from(sim, thief, &events[MANY + 2], 7);
	wf_sched_turn_end(thief);
	CHECK(wf_sched_next(thief));
	CHECK_EQ(wf_sched_take(thief), &events[FEW - 1]);
	sim_stop(sim);
	munmap(events, (MANY + FEW) * sizeof(weft_event));
}

TEST(S4_many_colors_are_posted_to_and_stolen_without_looking_at_them)
{
	struct sim *sim = sim_start(.workers = 2);
	struct wf_worker *owner = sim->cores[0].w, *thief = sim->cores[1].w;
	struct wf_color *colors = (struct wf_color *)sim->sched.table.colors.base;
	weft_event *events = events_new();

	for (int i = 0; i < MANY; i++)
		post(sim, &events[i], (weft_color)i);
	CHECK_EQ(colors[MANY - 1].id, MANY - 1); /* they lie in this order */
	/* A thief takes several at a time. */
	protect(&colors[FEW * (WF_LOOT + 2)], &colors[MANY - FEW], PROT_NONE);
	protect(&events[FEW * (WF_LOOT + 2)], &events[MANY - FEW], PROT_NONE);

	post(sim, &events[MANY], MANY);
	for (int i = 0; i < FEW; i++) {
		CHECK(wf_sched_steal(thief));
		CHECK(wf_sched_take(thief) != NULL);
		wf_sched_turn_end(thief);
		CHECK(wf_sched_next(owner));
		CHECK(wf_sched_take(owner) != NULL);
		wf_sched_turn_end(owner);
	}
	post(sim, &events[MANY + 1], MANY + 1);
	sim_stop(sim);
	munmap(events, (MANY + FEW) * sizeof(weft_event));
}

TEST_MAIN
