/* topology.c - reads the machine's shape from sysfs, and sorts CPUs by it. */
#include "platform/topology.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "platform/file.h"

#define CPU_DIR "%s/devices/system/cpu"
#define NODE_DIR "%s/devices/system/node"

/* More caches on the way from a CPU to memory than any machine has. */
enum { CACHES = 16, NODE_LIMIT = 1024 };

/* ---- reading ---- */

static int parse(const char *buf, ssize_t size, struct wf_cpuset *set)
{
	return size < 0 ? (int)size : wf_cpulist_parse(buf, (size_t)size, set);
}

/* The number of things of which such a list holds the names: its highest + 1. */
static int span(const struct wf_cpuset *set)
{
	int last = -1;

	for (int i = wf_cpuset_next(set, 0); i >= 0; i = wf_cpuset_next(set, i + 1))
		last = i;
	return last + 1;
}

/* Takes in one cache of a CPU. Returns false if there is no such cache. */
static bool read_cache(struct wf_topology *t, const char *sysfs, int cpu, int index)
{
	char buf[WF_FILE_SIZE];
	struct wf_cpuset sharing;
	long long level;
	ssize_t size;
	int first;

	if (wf_file_number(&level, CPU_DIR "/cpu%d/cache/index%d/level", sysfs, cpu, index) != 0)
		return false;
	if (wf_file_read(buf, CPU_DIR "/cpu%d/cache/index%d/type", sysfs, cpu, index) < 0 ||
	    strcmp(buf, "Instruction\n") == 0)
		return true;
	size = wf_file_read(buf, CPU_DIR "/cpu%d/cache/index%d/shared_cpu_list", sysfs, cpu, index);
	if (parse(buf, size, &sharing) <= 0 || !wf_cpuset_has(&sharing, cpu))
		return true;
	first = wf_cpuset_next(&sharing, 0);
	/* The outermost of several is the widest, and files come in that order. */
	if (level <= 2)
		t->cpu[cpu].core = first;
	else
		t->cpu[cpu].cache = first;
	return true;
}

static void read_cpu(struct wf_topology *t, const char *sysfs, int cpu)
{
	struct wf_topology_cpu *c = &t->cpu[cpu];
	long long package;
	int rc;

	c->core = c->cache = cpu;
	for (int i = 0; i < CACHES && read_cache(t, sysfs, cpu, i); i++)
		;
	rc = wf_file_number(&package, CPU_DIR "/cpu%d/topology/physical_package_id", sysfs, cpu);
	if (rc == 0 && package >= 0 && package <= INT_MAX)
		c->package = (int)package;
}

/* Counts, for each node, the different distances that are shorter: the kernel's
 * numbers ("10 21 31") have an order, but no unit. */
static void rank_rings(uint8_t *rings, const int *distance, int nodes)
{
	for (int to = 0; to < nodes; to++) {
		int shorter = 0;

		for (int i = 0; i < nodes; i++) {
			bool counts = distance[i] > 10 && distance[i] < distance[to];

			for (int j = 0; j < i; j++)
				counts = counts && distance[j] != distance[i];
			shorter += counts;
		}
		rings[to] = (uint8_t)(shorter < UINT8_MAX ? shorter : UINT8_MAX);
	}
}

/* One number for each online node, in order. Anything else counts as no word:
 * all nodes equally far. */
static void read_distances(struct wf_topology *t, const char *sysfs, int node,
			   const struct wf_cpuset *online)
{
	char buf[WF_FILE_SIZE], *at = buf, *end;
	int distance[NODE_LIMIT] = { 0 };

	if (wf_file_read(buf, NODE_DIR "/node%d/distance", sysfs, node) < 0)
		return;
	for (int to = wf_cpuset_next(online, 0); to >= 0; to = wf_cpuset_next(online, to + 1)) {
		long d = strtol(at, &end, 10);

		if (end == at || d < 0 || d > INT_MAX)
			return;
		distance[to] = (int)d;
		at = end;
	}
	rank_rings(t->rings + (size_t)node * (size_t)t->nodes, distance, t->nodes);
}

static void read_node(struct wf_topology *t, const char *sysfs, int node,
		      const struct wf_cpuset *online)
{
	char buf[WF_FILE_SIZE];
	struct wf_cpuset set;

	if (parse(buf, wf_file_read(buf, NODE_DIR "/node%d/cpulist", sysfs, node), &set) < 0)
		return;
	for (int cpu = wf_cpuset_next(&set, 0); cpu >= 0; cpu = wf_cpuset_next(&set, cpu + 1))
		if (cpu < t->cpus)
			t->cpu[cpu].node = node;
	read_distances(t, sysfs, node, online);
}

static int read_nodes(struct wf_topology *t, const char *sysfs)
{
	char buf[WF_FILE_SIZE];
	struct wf_cpuset online;

	if (parse(buf, wf_file_read(buf, NODE_DIR "/online", sysfs), &online) <= 0 ||
	    span(&online) > NODE_LIMIT)
		return 0;
	t->nodes = span(&online);
	t->rings = wf_new_array((size_t)t->nodes * (size_t)t->nodes, 1);
	if (t->rings == NULL)
		return -ENOMEM;
	for (int node = wf_cpuset_next(&online, 0); node >= 0;
	     node = wf_cpuset_next(&online, node + 1))
		read_node(t, sysfs, node, &online);
	return 0;
}

int wf_topology_init(struct wf_topology *t, const char *sysfs)
{
	struct wf_cpuset possible;
	char buf[WF_FILE_SIZE];

	memset(t, 0, sizeof *t);
	if (sysfs == NULL)
		sysfs = "/sys";
	if (parse(buf, wf_file_read(buf, CPU_DIR "/online", sysfs), &t->online) < 0)
		memset(&t->online, 0, sizeof t->online);
	if (parse(buf, wf_file_read(buf, CPU_DIR "/possible", sysfs), &possible) <= 0)
		possible = t->online;
	t->cpus = span(&possible);
	if (t->cpus == 0)
		return 0;
	t->cpu = wf_new_array((size_t)t->cpus, sizeof *t->cpu);
	if (t->cpu == NULL)
		return -ENOMEM;
	for (int cpu = 0; cpu < t->cpus; cpu++)
		read_cpu(t, sysfs, cpu);
	if (read_nodes(t, sysfs) != 0) {
		wf_topology_fini(t);
		return -ENOMEM;
	}
	return 0;
}

void wf_topology_fini(struct wf_topology *t)
{
	free(t->cpu);
	free(t->rings);
	memset(t, 0, sizeof *t);
}

/* ---- distances ---- */

static struct wf_topology_cpu describe(const struct wf_topology *t, int cpu)
{
	if (cpu >= 0 && cpu < t->cpus)
		return t->cpu[cpu];
	return (struct wf_topology_cpu){ .core = cpu, .cache = cpu };
}

int wf_topology_distance(const struct wf_topology *t, int a, int b)
{
	struct wf_topology_cpu x = describe(t, a), y = describe(t, b);

	if (a == b)
		return WF_SAME_CPU;
	if (x.core == y.core)
		return WF_SAME_CORE;
	if (x.cache == y.cache)
		return WF_SAME_CACHE;
	/* Even if it has several nodes: they are a short way apart. */
	if (x.package == y.package)
		return WF_SAME_PACKAGE;
	return t->rings == NULL ? WF_FAR : WF_FAR + t->rings[x.node * t->nodes + y.node];
}

/* Thieves of one neighbourhood have consecutive numbers: rotating a group of
 * victims by the thief's number spreads them. */
static void rotate(int *group, int size, int by)
{
	if (size < 2)
		return;
	for (by %= size; by > 0; by--) {
		int first = group[0];

		memmove(group, group + 1, (size_t)(size - 1) * sizeof *group);
		group[size - 1] = first;
	}
}

void wf_topology_order(const struct wf_topology *t, const int *cpus, int n, int self, int *order)
{
	int filled = 0, distance = -1;

	while (filled < n - 1) {
		int begin = filled, next = INT_MAX;

		for (int i = 0; i < n; i++) {
			int d = wf_topology_distance(t, cpus[self], cpus[i]);

			if (i != self && d > distance && d < next)
				next = d;
		}
		distance = next;
		for (int i = 0; i < n; i++)
			if (i != self && wf_topology_distance(t, cpus[self], cpus[i]) == distance)
				order[filled++] = i;
		rotate(order + begin, filled - begin, self);
	}
}
