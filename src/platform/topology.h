/* topology.h - which CPUs are near to each other, as sysfs tells.
 *
 * A CPU of which nothing is known shares no cache and sits in package 0 and
 * node 0: where files are missing or wrong, the machine is flat. Never an error,
 * as only speed depends on it.
 */
#ifndef WF_TOPOLOGY_H
#define WF_TOPOLOGY_H

#include "base/compiler.h"
#include "platform/cpulist.h"

enum wf_distance {
	WF_SAME_CPU,
	WF_SAME_CORE,  /* shares a cache of level 1 or 2 */
	WF_SAME_CACHE, /* shares one of level 3 or above */
	WF_SAME_PACKAGE,
	WF_FAR, /* + 1 for each ring of memory nodes further out */
};

struct wf_topology_cpu {
	int core, cache;   /* lowest CPU that shares it */
	int package, node; /* as the kernel numbers them */
};

struct wf_topology {
	int cpus;  /* one more than the highest number possible */
	int nodes; /* the same */
	struct wf_topology_cpu *cpu;
	uint8_t *rings; /* [from * nodes + to]: how many other rings are nearer; NULL: unknown */
	struct wf_cpuset online;
};

/* Reads the tree at `sysfs` (NULL: "/sys"). Returns 0 or -ENOMEM. */
int wf_topology_init(struct wf_topology *t, const char *sysfs);
void wf_topology_fini(struct wf_topology *t);

/* How far CPUs a and b are apart: enum wf_distance, or more than WF_FAR. */
int wf_topology_distance(const struct wf_topology *t, int a, int b);

/* Workers i sit on CPUs cpus[i], for 0 <= i < n. Fills in order[0 .. n - 2] with
 * the others in the order in which worker `self` should rob them: nearest first.
 * Of victims equally near, each thief begins with another one, always the same. */
void wf_topology_order(const struct wf_topology *t, const int *cpus, int n, int self, int *order);

#endif
