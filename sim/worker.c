/* worker.c - what a virtual core does all day. The same steps in the same order as
 * src/scheduler/worker.c, with little of the kernel: a turn for a color, a look at what was
 * brought, a theft, sleep.
 */
#include "scheduler/worker.h"

#include "machine.h"
#include "scheduler/handler.h"

static struct sim_core *core_of(const struct wf_worker *w)
{
	return &sim_machine->cores[w->id];
}

static void run_event(struct sim *sim, struct sim_core *core, struct sim_event *e)
{
	struct wf_worker *w = core->w;
	weft_fn *fn = e->ev.run;
	struct sim_job job = e->job;
	struct wf_handler *h = wf_handler_find(fn);
	bool sample = !wf_handler_known(h) || wf_sample_now(&w->sampler);
	uint64_t began, took;

	sim_check_begin(sim, core, e);
	e->ev.state_ = 0;
	WF_ADD_OWN(&w->counters.run, 1u);
	WF_ADD_OWN(&w->beat, 1u);
	sim_spend(sim, COST_EVENT);
	if (e->from != core->id)
		sim_spend(sim, LINES_EVENT * sim_fetch(sim, e->from, core->id));
	began = core->now;
	WF_STORE(&w->running, fn);
	if (job.ticks > 0)
		sim_spend(sim, job.ticks);
	if (job.run != NULL)
		job.run(job.arg);
	WF_STORE(&w->running, NULL);
	took = core->now - began;
	sim->stats.busy_ticks += took;
	if (core->stole)
		sim->stats.stolen_ticks += took;
	if (sample)
		wf_handler_ran(h, fn, took);
	sim_check_end(sim, core, e);
}

static void turn(struct sim *sim, struct sim_core *core)
{
	for (unsigned i = 0; i < sim->sched.policy.batch; i++) {
		weft_event *ev = wf_sched_take(core->w);

		if (ev == NULL)
			break;
		run_event(sim, core, (struct sim_event *)ev);
		wf_sched_ran(core->w);
	}
	wf_sched_turn_end(core->w);
	wf_sched_busy(core->w, wf_ticks());
}

static bool rouse(struct wf_worker *w)
{
	if (WF_LOAD(&w->parked) == WF_AWAKE)
		return false;
	WF_STORE(&w->parked, WF_AWAKE);
	atomic_fetch_sub(&w->sched->idle, 1);
	return true;
}

static void wake_roused(struct wf_worker *w)
{
	struct sim *sim = sim_machine;
	struct sim_core *core = core_of(w);

	sim_note(sim, "wakes the worker", (weft_color)w->id);
	sim->stats.wakes++;
	if (core->state == SIM_ASLEEP)
		sim_core_ready(sim, core, wf_ticks() + COST_WAKING);
	sim_spend(sim, COST_WAKE);
}

void wf_worker_wake(struct wf_worker *w)
{
	if (rouse(w))
		wake_roused(w);
}

void wf_sched_wake_thief(struct wf_worker *w)
{
	struct wf_sched *s = w->sched;

	if (atomic_load(&s->searching) != 0)
		return;
	atomic_store(&s->searching, 1);
	for (int i = 0; i < s->workers - 1; i++) {
		struct wf_worker *t = wf_sched_worker(s, WF_LOAD(&w->order[i]));

		if (!rouse(t))
			continue;
		WF_STORE(&t->searching, true);
		wake_roused(t);
		return;
	}
	atomic_store(&s->searching, 0);
}

static bool stop_searching(struct wf_worker *w)
{
	if (!WF_LOAD(&w->searching))
		return false;
	WF_STORE(&w->searching, false);
	atomic_store(&w->sched->searching, 0);
	return true;
}

static bool loot_in_sight(struct wf_worker *w)
{
	struct wf_sched *s = w->sched;

	for (int i = 0; i < s->workers; i++) {
		struct wf_worker *v = wf_sched_worker(s, i);

		if (s->policy.steal & WF_STEAL_ON &&
		    wf_runq_has_loot(&v->queue, wf_loot_lanes(wf_worker_least_worth(v))))
			return true;
	}
	return false;
}

static void park(struct sim *sim, struct sim_core *core)
{
	struct wf_worker *w = core->w;

	atomic_fetch_add(&w->sched->idle, 1);
	WF_STORE(&w->parked, WF_PARKED);
	stop_searching(w);
	sim_spend(sim, 0);
	if (!wf_worker_has_work(w) && core->brought == NULL && !loot_in_sight(w) &&
	    !sim->stopping) {
		sim_spend(sim, COST_PARK);
		/* As with the kernel's: a wake that came before is not lost. */
		if (WF_LOAD(&w->parked) != WF_AWAKE) {
			sim->stats.parks++;
			sim_core_stop(sim, SIM_ASLEEP);
		}
	}
	rouse(w);
}

static void bring(struct sim *sim, struct sim_event *e)
{
	struct sim_core *core = &sim->cores[e->job.worker];

	e->next = NULL;
	*(core->brought != NULL ? &core->brought_last->next : &core->brought) = e;
	core->brought_last = e;
	wf_worker_wake(core->w);
}

static void look(struct sim *sim, struct sim_core *core)
{
	while (core->brought != NULL) {
		struct sim_event *e = core->brought;

		core->brought = e->next;
		(void)sim_event_post(sim, core->w, e, true);
	}
}

static bool steal(struct sim *sim, struct sim_core *core)
{
	struct wf_worker *w = core->w;
	bool near_first = sim->sched.policy.steal & WF_STEAL_LOCALITY;
	bool got = wf_sched_steal(w);

	core->turn = ++sim->moment;
	if (got)
		sim_check_stolen(sim, core);
	/* Nearest first, a thief looks no further than the first that has some. */
	sim_spend(sim, COST_LOOK * (got && near_first ? 1 : (uint64_t)sim->opt.workers));
	if (!got)
		return false;
	core->stole = true;
	if (stop_searching(w) && WF_LOAD(&w->sched->idle) > 0 && loot_in_sight(w))
		wf_sched_wake_thief(w);
	return true;
}

void sim_worker_main(struct sim *sim, struct sim_core *core)
{
	struct wf_worker *w = core->w;

	while (!sim->stopping) {
		core->stole = false;
		look(sim, core);
		if (wf_sched_next(w)) {
			core->turn = ++sim->moment;
			stop_searching(w);
			sim_spend(sim, COST_TURN);
			turn(sim, core);
		} else if (steal(sim, core)) {
			turn(sim, core);
		} else {
			park(sim, core);
			wf_worker_idle(w, wf_ticks());
		}
	}
}

/* The outside: posts what comes, when it comes. */
void sim_outside_main(struct sim *sim, struct sim_core *core)
{
	while (!sim->stopping) {
		struct sim_event *e = sim->coming;

		if (e == NULL) {
			sim_core_stop(sim, SIM_ASLEEP);
		} else if (e->job.at > core->now) {
			sim_spend(sim, e->job.at - core->now);
		} else {
			sim->coming = e->next;
			if (e->job.brought)
				bring(sim, e);
			else
				sim_event_post(sim, NULL, e, false);
		}
	}
}
