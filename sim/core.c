/* core.c - whose turn it is: the core whose clock is behind all others. */
#include <errno.h>

#include "base/memory.h"
#include "machine.h"

/* splitmix64 */
uint64_t sim_random(struct sim *sim)
{
	uint64_t z = sim->random += 0x9E3779B97F4A7C15u;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

uint64_t wf_ticks(void)
{
	const struct sim *sim = sim_machine;

	return sim->current != NULL ? sim->current->now : sim->now;
}

/* The heap of cores that are ready, except for the current one. */

static bool earlier(const struct sim_core *a, const struct sim_core *b)
{
	return a->now != b->now ? a->now < b->now : a->draw < b->draw;
}

static void push(struct sim *sim, struct sim_core *core)
{
	int i = sim->heap_size++;

	core->draw = (uint32_t)sim_random(sim);
	for (; i > 0 && earlier(core, sim->heap[(i - 1) / 2]); i = (i - 1) / 2)
		sim->heap[i] = sim->heap[(i - 1) / 2];
	sim->heap[i] = core;
}

static struct sim_core *pop(struct sim *sim)
{
	struct sim_core *first = sim->heap[0], *last = sim->heap[--sim->heap_size];
	int i = 0, child;

	while ((child = 2 * i + 1) < sim->heap_size) {
		if (child + 1 < sim->heap_size && earlier(sim->heap[child + 1], sim->heap[child]))
			child++;
		if (!earlier(sim->heap[child], last))
			break;
		sim->heap[i] = sim->heap[child];
		i = child;
	}
	sim->heap[i] = last;
	return first;
}

/* Goes on with whoever is next, or with the caller of sim_cores_run. */
static void go_on(struct sim *sim, struct sim_fiber *from)
{
	struct sim_core *next = sim->heap_size > 0 ? pop(sim) : NULL;
	struct sim_fiber *to = next != NULL ? &next->fiber : &sim->main;

	if (sim->current != NULL && sim->current->now > sim->now)
		sim->now = sim->current->now;
	sim->current = next;
	if (to != from)
		sim_fiber_switch(from, to);
}

void sim_core_ready(struct sim *sim, struct sim_core *core, uint64_t when)
{
	if (core->now < when)
		core->now = when;
	core->state = SIM_READY;
	push(sim, core);
}

void sim_core_stop(struct sim *sim, enum sim_state state)
{
	struct sim_core *core = sim->current;

	core->state = state;
	go_on(sim, &core->fiber);
}

void sim_cores_run(struct sim *sim)
{
	if (sim->heap_size > 0)
		go_on(sim, &sim->main);
}

void sim_spend(struct sim *sim, uint64_t ticks)
{
	struct sim_core *core = sim->current;

	if (core == NULL)
		return; /* setting up takes no time */
	if (++sim->steps == sim->opt.max_steps)
		sim_breach(sim, "S3: the work does not come to an end");
	core->now += ticks;
	if (sim->opt.jitter > 0)
		core->now += sim_random(sim) % (sim->opt.jitter + 1);
	if (sim->heap_size == 0 || core->now < sim->heap[0]->now)
		return;
	push(sim, core);
	go_on(sim, &core->fiber);
}

static void core_main(void *arg)
{
	struct sim_core *core = arg;
	struct sim *sim = core->sim;

	if (core->w != NULL)
		sim_worker_main(sim, core);
	else
		sim_outside_main(sim, core);
	sim_core_stop(sim, SIM_GONE);
}

static int worker_new(struct sim *sim, struct sim_core *core)
{
	struct wf_worker *w = wf_new_aligned(sizeof *w);

	core->w = w;
	if (w == NULL)
		return -ENOMEM;
	w->order = wf_new_array((size_t)sim->opt.workers, sizeof *w->order);
	if (w->order == NULL)
		return -ENOMEM;
	w->sched = &sim->sched;
	w->id = core->id;
	atomic_init(&w->cpu, core->id);
	wf_runq_init(&w->queue);
	atomic_init(&w->covers, -1);
	atomic_init(&sim->sched.worker[core->id], w);
	return 0;
}

int sim_core_init(struct sim *sim, int id)
{
	struct sim_core *core = &sim->cores[id];

	core->sim = sim;
	core->id = id;
	if (id < sim->opt.workers && worker_new(sim, core) < 0)
		return -ENOMEM;
	if (sim_fiber_init(&core->fiber, core_main, core) < 0)
		return -ENOMEM;
	sim_core_ready(sim, core, 0);
	return 0;
}

void sim_core_fini(struct sim_core *core)
{
	sim_fiber_fini(&core->fiber);
	if (core->w != NULL)
		free(core->w->order);
	free(core->w);
}
