/* sim.c - starting the pretend machine, giving it work, and asking what it did. */
#include "sim.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/report.h"
#include "machine.h"
#include "scheduler/handler.h"

enum { SLAB_EVENTS = 256, KEEP_FREE = 1000, USUAL_TICKS = 1000 };

struct sim_slab {
	struct sim_slab *next;
	struct sim_event events[SLAB_EVENTS];
};

struct sim *sim_machine;

static int policy_init(struct sim *sim)
{
	struct wf_policy *p = &sim->sched.policy;

	p->batch = sim->opt.batch;
	wf_policy_init(p, SIM_TICKS_PER_US, sim->opt.steal_cost);
	p->wake_cost = COST_WAKE + COST_WAKING;
	return wf_policy_parse_steal(sim->opt.steal, &p->steal);
}

static int machine_init(struct sim *sim)
{
	int n = sim->opt.workers;
	struct wf_sched *s = &sim->sched;
	int rc;

	s->workers = s->limit = n;
	s->worker = wf_new_array((size_t)n, sizeof *s->worker);
	sim->cores = wf_new_array((size_t)n + 1, sizeof *sim->cores);
	sim->heap = wf_new_array((size_t)n + 1, sizeof(struct sim_core *));
	if (s->worker == NULL || sim->cores == NULL || sim->heap == NULL)
		return -ENOMEM;
	rc = policy_init(sim);
	if (rc == 0)
		rc = wf_table_init(&s->table, sim->opt.max_colors);
	for (int i = 0; rc == 0 && i <= n; i++)
		rc = sim_core_init(sim, i);
	atomic_init(&s->started, n);
	return rc == 0 ? sim_shape_init(sim) : rc;
}

struct sim *sim_start_with(const struct sim_options *opt)
{
	struct sim *sim = wf_new_aligned(sizeof *sim);
	int rc;

	if (sim == NULL)
		wf_bug("the simulator is out of memory");
	sim->opt = *opt;
	sim->opt.workers = opt->workers ? opt->workers : 2;
	sim->opt.steal = opt->steal ? opt->steal : "all";
	sim->opt.batch = opt->batch ? opt->batch : 10;
	sim->shape = opt->shape ? opt->shape : &sim_shape_mely;
	sim->random = opt->seed;
	/* Measured times would carry over from the machine before. */
	memset(wf_handlers, 0, sizeof wf_handlers);
	sim_machine = sim;
	rc = machine_init(sim);
	if (rc < 0)
		wf_bug("the simulator does not start: %s", strerror(-rc));
	return sim;
}

void sim_stop(struct sim *sim)
{
	sim->stopping = true;
	for (int i = 0; i <= sim->opt.workers; i++)
		if (sim->cores[i].state == SIM_ASLEEP)
			sim_core_ready(sim, &sim->cores[i], sim->now);
	sim_cores_run(sim);
	for (int i = 0; i <= sim->opt.workers; i++)
		sim_core_fini(&sim->cores[i]);
	wf_table_fini(&sim->sched.table);
	sim_shape_fini(sim);
	sim_colors_fini(sim);
	while (sim->slabs != NULL) {
		struct sim_slab *slab = sim->slabs;

		sim->slabs = slab->next;
		free(slab);
	}
	free(sim->sched.worker);
	free(sim->cores);
	free(sim->heap);
	free(sim);
	sim_machine = NULL;
}

/* The handler of events that only take time. Its address is what the scheduler
 * keeps the time of. */
static void only_work(void *arg)
{
	(void)arg;
}

static struct sim_event *event_memory(struct sim *sim)
{
	struct sim_event *e = sim->free_first;

	/* The freed longest ago, and late: one run twice shall be noticed. */
	if (sim->free_count > KEEP_FREE) {
		sim->free_first = e->next;
		sim->free_count--;
		return e;
	}
	if (sim->slabs == NULL || sim->slab_used == SLAB_EVENTS) {
		struct sim_slab *slab = calloc(1, sizeof *slab);

		if (slab == NULL)
			wf_bug("the simulator is out of memory");
		slab->next = sim->slabs;
		sim->slabs = slab;
		sim->slab_used = 0;
	}
	return &sim->slabs->events[sim->slab_used++];
}

struct sim_event *sim_event_new(struct sim *sim, const struct sim_job *job)
{
	struct sim_event *e = event_memory(sim);

	*e = (struct sim_event){ .job = *job };
	if (job->ticks == 0 && job->run == NULL)
		e->job.ticks = USUAL_TICKS;
	weft_event_init(&e->ev, job->color, job->run != NULL ? job->run : only_work, job->arg);
	e->ev.priority = (uint8_t)job->priority;
	e->ev.shared = job->shared;
	return e;
}

void sim_event_free(struct sim *sim, struct sim_event *e)
{
	e->next = NULL;
	if (sim->free_count++ > 0)
		sim->free_last->next = e;
	else
		sim->free_first = e;
	sim->free_last = e;
}

/* What the kernel brought is never refused. */
static int post(struct sim *sim, struct wf_worker *self, struct wf_worker *at, weft_event *ev,
		bool brought)
{
	if (!brought)
		return wf_sched_post(&sim->sched, self, at, ev,
				     self == NULL ? WF_FROM_IO : WF_FROM_CPU, NULL, false);
	wf_sched_post_io(&sim->sched, self, at, &ev, 1);
	return 0;
}

int sim_event_post(struct sim *sim, struct wf_worker *self, struct sim_event *e, bool brought)
{
	struct wf_worker *at = self == NULL || brought ? sim->cores[e->job.worker].w : self;
	int rc;

	e->from = self != NULL ? self->id : -1;
	sim_check_post(sim, e);
	sim_spend(sim, COST_POST);
	rc = post(sim, self, at, &e->ev, brought);
	sim_check_posted(sim, e, rc);
	return rc;
}

/* Into the list of what will come, behind what comes at the same time. */
static void expect(struct sim *sim, struct sim_event *e)
{
	struct sim_event **at = &sim->coming;
	struct sim_core *outside = &sim->cores[sim->opt.workers];

	while (*at != NULL && (*at)->job.at <= e->job.at)
		at = &(*at)->next;
	e->next = *at;
	*at = e;
	if (outside->state == SIM_ASLEEP)
		sim_core_ready(sim, outside, sim->now);
}

static int post_now(struct sim *sim, struct sim_event *e)
{
	struct wf_worker *self = sim->current != NULL ? sim->current->w : NULL;

	return sim_event_post(sim, self, e, self != NULL && e->job.deliver);
}

struct sim_event *sim_post_with(struct sim *sim, const struct sim_job *job)
{
	struct sim_event *e = NULL;

	for (unsigned i = 0; i < (job->count ? job->count : 1); i++) {
		e = sim_event_new(sim, job);
		if (sim->current == NULL && job->at > sim->now) {
			expect(sim, e);
			e = NULL;
		} else if (post_now(sim, e) < 0) {
			e = NULL;
		}
	}
	return e;
}

int sim_cancel(struct sim *sim, struct sim_event *ev)
{
	int rc = wf_sched_cancel(sim->current->w, &ev->ev);

	if (rc == 0)
		sim_check_cancelled(sim, ev);
	return rc;
}

int sim_pin(struct sim *sim, weft_color color, int worker)
{
	struct sim_color *k = sim_color(sim, color);
	int rc;

	sim_check_pin(sim, k);
	rc = wf_sched_pin(&sim->sched, sim->current ? sim->current->w : NULL, color, worker);
	sim_check_pinned(sim, k, rc < 0 ? -1 : worker);
	return rc;
}

int sim_handler_penalty(weft_fn *fn, uint32_t penalty)
{
	return weft_handler_penalty(fn, penalty);
}

static void use_data(struct sim *sim, const struct sim_color *k, unsigned lines)
{
	int here = sim->current->id;
	unsigned fetch = k->home < 0 ? 0 : sim_fetch(sim, k->home, here);

	if (k->home >= 0 && sim_distance(sim, k->home, here) > WF_SAME_CORE)
		sim->stats.misses += lines;
	sim_spend(sim, (uint64_t)lines * (COST_LINE + fetch));
}

void sim_create(struct sim *sim, weft_color color, unsigned lines)
{
	struct sim_color *k = sim_color(sim, color);

	k->home = sim->current->id;
	use_data(sim, k, lines);
}

void sim_read(struct sim *sim, weft_color color, unsigned lines)
{
	use_data(sim, sim_color(sim, color), lines);
}

void sim_write(struct sim *sim, weft_color color, unsigned lines)
{
	struct sim_color *k = sim_color(sim, color);

	use_data(sim, k, lines);
	k->home = sim->current->id;
}

int sim_core_here(const struct sim *sim)
{
	return sim->current != NULL ? sim->current->id : -1;
}

void sim_run_until_idle(struct sim *sim)
{
	sim_cores_run(sim);
	sim_check_idle(sim);
}

void sim_stats(const struct sim *sim, struct sim_stats *stats)
{
	*stats = sim->stats;
	stats->time = sim_time(sim);
	stats->steps = sim->steps;
	stats->steal_cost = WF_LOAD(&sim->sched.policy.steal_cost);
	stats->turns = 0;
	stats->steals = sim_steals(sim);
	for (int i = 0; i < sim->opt.workers; i++)
		stats->turns += WF_LOAD(&sim->cores[i].w->counters.turns);
}

uint64_t sim_time(const struct sim *sim)
{
	return sim->current != NULL ? sim->current->now : sim->now;
}

uint64_t sim_steals(const struct sim *sim)
{
	uint64_t steals = 0;

	for (int i = 0; i < sim->opt.workers; i++)
		steals += WF_LOAD(&sim->cores[i].w->counters.steals);
	return steals;
}

uint64_t sim_events_run(const struct sim *sim)
{
	return sim->stats.events;
}

unsigned sim_most_at_once(const struct sim *sim, weft_color color)
{
	const struct sim_color *k = sim_color_find(sim, color);

	return k != NULL ? k->most : 0;
}

bool sim_ran_in_post_order(const struct sim *sim, weft_color color)
{
	const struct sim_color *k = sim_color_find(sim, color);

	return k == NULL || !k->overtaken;
}

unsigned sim_most_running(const struct sim *sim)
{
	return sim->most_running;
}

unsigned sim_longest_row(const struct sim *sim)
{
	return sim->longest_row;
}

static size_t colors_counted;

static void count_color(struct wf_color *c)
{
	(void)c;
	colors_counted++;
}

size_t sim_colors_known(struct sim *sim)
{
	colors_counted = 0;
	wf_table_each(&sim->sched.table, count_color);
	return colors_counted;
}

uint64_t sim_ran_on(const struct sim *sim, int worker)
{
	return sim->cores[worker].ran;
}
