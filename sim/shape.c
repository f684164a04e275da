/* shape.c - how the cores of the pretend machine lie, as the real topology code
 * is told it. */
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "machine.h"

/* 15 ticks from a cache that is shared; 7.3 times as many, as the paper says in
 * section III-A, from the cache of a core that shares none. */
const struct sim_shape sim_shape_mely = {
	.share_l2 = 2, .share_l3 = 2, .package = 4, .fetch = { 0, 15, 15, 110, 110 }
};

const struct sim_shape sim_shape_wide = {
	.share_l2 = 2, .share_l3 = 8, .package = 8, .fetch = { 0, 15, 45, 110, 200 }
};

static int first_of(int cpu, int group)
{
	return cpu / group * group;
}

int sim_shape_init(struct sim *sim)
{
	const struct sim_shape *shape = sim->shape;
	struct wf_topology *t = &sim->topology;
	int n = sim->opt.workers;
	int *cpus = wf_new_array((size_t)n, sizeof *cpus);
	int *order = wf_new_array((size_t)n, sizeof *order);

	t->cpus = n;
	t->cpu = wf_new_array((size_t)n, sizeof *t->cpu);
	sim->distance = wf_new_array((size_t)n * (size_t)n, 1);
	if (cpus == NULL || order == NULL || t->cpu == NULL || sim->distance == NULL) {
		free(cpus);
		free(order);
		return -ENOMEM;
	}
	for (int i = 0; i < n; i++) {
		cpus[i] = i;
		t->cpu[i] = (struct wf_topology_cpu){ .core = first_of(i, shape->share_l2),
						      .cache = first_of(i, shape->share_l3),
						      .package = i / shape->package };
	}
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++)
			sim->distance[i * n + j] = (uint8_t)wf_topology_distance(t, i, j);
		wf_topology_order(t, cpus, n, i, order);
		for (int j = 0; j < n - 1; j++)
			atomic_init(&sim->cores[i].w->order[j], order[j]);
	}
	free(cpus);
	free(order);
	return 0;
}

void sim_shape_fini(struct sim *sim)
{
	free(sim->topology.cpu);
	free(sim->distance);
}
