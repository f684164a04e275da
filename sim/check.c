/* check.c - the promises, checked at every step.
 *
 * Posting takes time, and other cores come in between. So an event is posted
 * before another (S2) if the one post had returned when the other began; events
 * whose posts overlap may run in any order.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"

void sim_note(struct sim *sim, const char *what, weft_color color)
{
	sim->trace[sim->traced++ % SIM_TRACE] =
		(struct sim_trace){ .step = sim->steps,
				    .time = wf_ticks(),
				    .core = sim->current != NULL ? sim->current->id : -1,
				    .what = what,
				    .color = color };
}

void sim_breach(struct sim *sim, const char *fmt, ...)
{
	unsigned from = sim->traced > SIM_TRACE ? sim->traced - SIM_TRACE : 0;
	va_list ap;

	fprintf(stderr, "what happened last:\n");
	for (unsigned i = from; i < sim->traced; i++) {
		const struct sim_trace *t = &sim->trace[i % SIM_TRACE];

		fprintf(stderr,
			"  step %-6" PRIu64 " tick %-8" PRIu64 " core %-2d %s %#" PRIx64 "\n",
			t->step, t->time, t->core, t->what, t->color);
	}
	fprintf(stderr, "PROMISE BROKEN at step %" PRIu64 ", core %d: ", sim->steps,
		sim->current != NULL ? sim->current->id : -1);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n%d workers, steal %s, seed %" PRIu64 "%s%s\n", sim->opt.workers,
		sim->opt.steal, sim->opt.seed, sim->opt.repeat ? "; repeat with " : "",
		sim->opt.repeat ? sim->opt.repeat : "");
	abort();
}

static void link_queued(struct sim_color *k, struct sim_event *e)
{
	e->next = NULL;
	e->prev = k->last;
	*(k->last != NULL ? &k->last->next : &k->first) = e;
	k->last = e;
	k->queued++;
}

static void unlink_queued(struct sim_color *k, struct sim_event *e)
{
	*(e->prev != NULL ? &e->prev->next : &k->first) = e->next;
	*(e->next != NULL ? &e->next->prev : &k->last) = e->prev;
	k->queued--;
}

void sim_check_post(struct sim *sim, struct sim_event *e)
{
	e->color = sim_color(sim, e->job.color);
	e->state = SIM_COMING;
	e->posting = true;
	e->begin = ++sim->moment;
	e->color->posting++;
	e->color->had_shared |= e->job.shared;
	sim->unfinished++;
	sim_note(sim, e->job.shared ? "posts shared to" : "posts to", e->job.color);
}

void sim_check_posted(struct sim *sim, struct sim_event *e, int rc)
{
	e->posting = false;
	e->end = ++sim->moment;
	e->color->posting--;
	if (rc < 0) {
		if (e->state != SIM_COMING)
			sim_breach(sim, "S3: an event that was refused ran");
		sim->unfinished--;
		sim->stats.refused++;
		sim_event_free(sim, e);
	} else if (e->state == SIM_COMING) {
		e->state = SIM_QUEUED;
		link_queued(e->color, e);
	} else if (e->state != SIM_RUNNING) {
		sim_event_free(sim, e);
	}
}

/* S1, and the rule for shared events. */
static void check_alone(struct sim *sim, struct sim_color *k, bool shared)
{
	if (k->exclusive > 0 || (!shared && k->shared > 0))
		sim_breach(sim,
			   "S1: color %#" PRIx64 " runs %u exclusive and %u shared events, "
			   "and now one more %s",
			   k->id, k->exclusive, k->shared, shared ? "shared" : "exclusive");
}

/* S2: nothing is left behind that was posted before, unless both are shared. */
static void check_order(struct sim *sim, struct sim_color *k, const struct sim_event *e)
{
	const struct sim_event *f = k->first;

	while (f != NULL && f->end < e->begin && f->job.shared && e->job.shared)
		f = f->next;
	if (f != NULL && f->end < e->begin)
		sim_breach(sim,
			   "S2: color %#" PRIx64 " runs an event posted at moment %" PRIu64
			   " before one posted at %" PRIu64,
			   k->id, e->begin, f->end);
}

/* S3: others get their turn. Higher levels may go first, until the rotation has
 * come round. */
static void check_row(struct sim *sim, struct sim_core *core, const struct sim_event *e)
{
	bool others = WF_LOAD(&core->w->queue.colors) > 0 && !e->job.shared;

	if (!others || core->row_color != e->job.color)
		core->row = 0;
	core->row_color = e->job.color;
	core->row += others;
	if (core->row > sim->longest_row)
		sim->longest_row = core->row;
	if (core->row > sim->sched.policy.batch * WF_SKIPS * WF_LEVELS)
		sim_breach(sim, "S3: color %#" PRIx64 " ran %u events while others waited",
			   e->job.color, core->row);
}

void sim_check_begin(struct sim *sim, struct sim_core *core, struct sim_event *e)
{
	struct sim_color *k = e->color;

	sim_note(sim, "runs", e->job.color);
	if (e->state != SIM_COMING && e->state != SIM_QUEUED)
		sim_breach(sim, "S3: an event of color %#" PRIx64 " runs %s", e->job.color,
			   e->state == SIM_CANCELLED ? "after it was cancelled" : "twice");
	if (e->state == SIM_QUEUED)
		unlink_queued(k, e);
	e->state = SIM_RUNNING;
	k->overtaken |= e->end != 0 && e->end < k->newest;
	if (!e->job.shared && e->begin > k->newest)
		k->newest = e->begin;
	check_alone(sim, k, e->job.shared);
	check_order(sim, k, e);
	check_row(sim, core, e);
	if (k->pin >= 0 && k->pin != core->id && k->pinned < core->turn)
		sim_breach(sim, "color %#" PRIx64 " is pinned to worker %d", k->id, k->pin);
	*(e->job.shared ? &k->shared : &k->exclusive) += 1;
	if (k->exclusive + k->shared > k->most)
		k->most = k->exclusive + k->shared;
	if (++sim->running > sim->most_running)
		sim->most_running = sim->running;
	core->event = e;
}

void sim_check_end(struct sim *sim, struct sim_core *core, struct sim_event *e)
{
	struct sim_color *k = e->color;

	*(e->job.shared ? &k->shared : &k->exclusive) -= 1;
	sim->running--;
	sim->unfinished--;
	sim->stats.events++;
	core->ran++;
	core->event = NULL;
	e->state = SIM_DONE;
	if (!e->posting)
		sim_event_free(sim, e);
}

void sim_check_cancelled(struct sim *sim, struct sim_event *e)
{
	if (e->state != SIM_COMING && e->state != SIM_QUEUED)
		sim_breach(sim, "an event was cancelled that ran");
	sim_note(sim, "cancels in", e->job.color);
	if (e->state == SIM_QUEUED)
		unlink_queued(e->color, e);
	e->state = SIM_CANCELLED;
	sim->unfinished--;
	sim->stats.cancelled++;
	if (!e->posting)
		sim_event_free(sim, e);
}

/* S5. Only a time that was set can be compared with: a measured one moves. */
void sim_check_stolen(struct sim *sim, struct sim_core *core)
{
	const struct wf_policy *p = &sim->sched.policy;
	const struct wf_color *c = core->w->current;
	const struct sim_color *k = sim_color(sim, c->id);
	uint64_t left = WF_LOAD(&c->local_cost) + WF_LOAD(&c->inbox_cost);
	unsigned count = WF_LOAD(&c->local_count) + WF_LOAD(&c->inbox_count);

	sim_note(sim, "steals", c->id);
	for (int i = 0; i < sim->opt.workers; i++)
		sim->cores[i].row = 0; /* what waited there may be what was stolen */
	if (k->exclusive > 0)
		sim_breach(sim, "S5: color %#" PRIx64 " was stolen while it ran", k->id);
	if (!k->had_shared && (count < k->queued || count > k->queued + k->posting))
		sim_breach(sim,
			   "S5: %u events of color %#" PRIx64 " were stolen, but %u are queued",
			   count, k->id, k->queued);
	if (p->steal & WF_STEAL_TIME && p->fixed_steal_cost && left <= p->fixed_steal_cost)
		sim_breach(sim,
			   "S5: color %#" PRIx64 " was stolen for %" PRIu64 " ticks of work, "
			   "a steal costs %" PRIu64,
			   k->id, left, p->fixed_steal_cost);
	if (!(p->steal & WF_STEAL_ON))
		sim_breach(sim, "S5: color %#" PRIx64 " was stolen with stealing off", k->id);
}

void sim_check_pin(struct sim *sim, struct sim_color *k)
{
	sim_note(sim, "pins", k->id);
	sim->pins++;
	k->pin = -1;
	if (++k->pinning > 1)
		k->pins_overlap = true;
}

void sim_check_pinned(struct sim *sim, struct sim_color *k, int worker)
{
	if (--k->pinning > 0)
		return;
	k->pin = k->pins_overlap ? -1 : worker;
	k->pins_overlap = false;
	k->pinned = ++sim->moment;
}

/* S3: when all cores sleep, all is done and nothing is left over. */
void sim_check_idle(struct sim *sim)
{
	size_t known = sim_colors_known(sim), dozing = 0;

	if (sim->unfinished > 0)
		sim_breach(sim, "S3: all cores sleep, but %" PRIu64 " events did not run",
			   sim->unfinished);
	for (int i = 0; i < sim->opt.workers; i++)
		if (sim->cores[i].brought != NULL)
			sim_breach(sim, "S6: worker %d sleeps, and was brought something", i);
	for (int i = 0; i < sim->opt.workers; i++) {
		const struct wf_color *c = WF_LOAD(&sim->cores[i].w->dozing);

		dozing += c != NULL && WF_LOAD(&c->place.pin) < 0;
	}
	if (known > sim->pins + dozing)
		sim_breach(sim, "%zu colors are kept that have nothing queued", known);
	for (int i = 0; i < sim->opt.workers; i++) {
		const struct wf_runq *q = &sim->cores[i].w->queue;

		if (WF_LOAD(&q->colors) != 0 || WF_LOAD(&q->occupied) != 0 ||
		    WF_LOAD(&q->steal_time) != 0)
			sim_breach(sim,
				   "the queue of worker %d is empty but says %u colors, "
				   "lanes %#" PRIx64 ", %" PRIu64 " ticks",
				   i, WF_LOAD(&q->colors), WF_LOAD(&q->occupied),
				   WF_LOAD(&q->steal_time));
	}
	if (atomic_load(&sim->sched.searching) != 0 ||
	    atomic_load(&sim->sched.idle) != sim->opt.workers)
		sim_breach(sim, "all %d cores sleep, but %d are counted, and %d search",
			   sim->opt.workers, atomic_load(&sim->sched.idle),
			   atomic_load(&sim->sched.searching));
}
