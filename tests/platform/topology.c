/* Distances and victims on made-up machines of 8, 64 and 256 CPUs. */
#include "platform/topology.h"

#include "base/fault.h"
#include "platform/tree.h"

/* Consecutive CPUs share: `core` of them a core, `cache` a level 3 cache,
 * `package` a package; each package is one node. */
struct machine {
	int cpus, core, cache, package;
};

static const struct machine desk = { 8, 2, 8, 8 };
static const struct machine server = { 64, 2, 8, 32 };
static const struct machine large = { 256, 2, 16, 64 };

static void put_cache(int cpu, int index, const char *level, const char *type, int sharing)
{
	int first = cpu / sharing * sharing;

	tree_put(level, "devices/system/cpu/cpu%d/cache/index%d/level", cpu, index);
	tree_put(type, "devices/system/cpu/cpu%d/cache/index%d/type", cpu, index);
	tree_put(tree_range(first, first + sharing - 1),
		 "devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
}

static void put_cpu(const struct machine *m, int cpu)
{
	char package[16];

	put_cache(cpu, 0, "1\n", "Data\n", m->core);
	/* A wide instruction cache, as no machine has: it must not count. */
	put_cache(cpu, 1, "1\n", "Instruction\n", m->cpus);
	put_cache(cpu, 2, "2\n", "Unified\n", m->core);
	put_cache(cpu, 3, "3\n", "Unified\n", m->cache);
	snprintf(package, sizeof package, "%d\n", cpu / m->package);
	tree_put(package, "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
}

/* A ring of packages: neighbours are at 21, the next at 31, and so on. */
static void put_node(const struct machine *m, int node)
{
	int nodes = m->cpus / m->package;
	char row[256];
	size_t used = 0;

	for (int to = 0; to < nodes; to++) {
		int way = abs(to - node), hops = way < nodes - way ? way : nodes - way;

		used += (size_t)snprintf(row + used, sizeof row - used, "%s%d", to ? " " : "",
					 hops ? 11 + 10 * hops : 10);
	}
	snprintf(row + used, sizeof row - used, "\n");
	tree_put(tree_range(node * m->package, (node + 1) * m->package - 1),
		 "devices/system/node/node%d/cpulist", node);
	tree_put(row, "devices/system/node/node%d/distance", node);
}

static void put_machine(const struct machine *m)
{
	tree_begin();
	tree_put(tree_range(0, m->cpus - 1), "devices/system/cpu/possible");
	tree_put(tree_range(0, m->cpus - 1), "devices/system/cpu/online");
	tree_put(tree_range(0, m->cpus / m->package - 1), "devices/system/node/online");
	for (int cpu = 0; cpu < m->cpus; cpu++)
		put_cpu(m, cpu);
	for (int node = 0; node < m->cpus / m->package; node++)
		put_node(m, node);
}

/* The distance by the rules of the machine, not by its files. */
static int true_distance(const struct machine *m, int a, int b)
{
	int nodes = m->cpus / m->package, way = abs(a / m->package - b / m->package);

	if (a == b)
		return WF_SAME_CPU;
	if (a / m->core == b / m->core)
		return WF_SAME_CORE;
	if (a / m->cache == b / m->cache)
		return WF_SAME_CACHE;
	if (way == 0)
		return WF_SAME_PACKAGE;
	return WF_FAR - 1 + (way < nodes - way ? way : nodes - way);
}

static void check_distances(const struct machine *m)
{
	struct wf_topology t;

	put_machine(m);
	CHECK_EQ(wf_topology_init(&t, tree), 0);
	CHECK_EQ(t.cpus, m->cpus);
	for (int a = 0; a < m->cpus; a++)
		for (int b = 0; b < m->cpus; b++)
			CHECK_EQ(wf_topology_distance(&t, a, b), true_distance(m, a, b));
	wf_topology_fini(&t);
	tree_end();
}

TEST(distances_on_8_cpus_are_those_of_the_machine)
{
	check_distances(&desk);
}
TEST(distances_on_64_cpus_are_those_of_the_machine)
{
	check_distances(&server);
}
TEST(distances_on_256_cpus_are_those_of_the_machine)
{
	check_distances(&large);
}

/* Each victim once, none nearer than the one before. */
static void check_order(const struct wf_topology *t, const int *cpus, int n, int self,
			const int *order)
{
	bool seen[256] = { false };

	for (int i = 0; i < n - 1; i++) {
		CHECK(order[i] >= 0 && order[i] < n && order[i] != self && !seen[order[i]]);
		seen[order[i]] = true;
		if (i > 0)
			CHECK(wf_topology_distance(t, cpus[self], cpus[order[i - 1]]) <=
			      wf_topology_distance(t, cpus[self], cpus[order[i]]));
	}
}

static void check_orders(const struct machine *m)
{
	struct wf_topology t;
	int cpus[256], order[256];

	put_machine(m);
	CHECK_EQ(wf_topology_init(&t, tree), 0);
	for (int i = 0; i < m->cpus; i++)
		cpus[i] = i;
	for (int self = 0; self < m->cpus; self++) {
		wf_topology_order(&t, cpus, m->cpus, self, order);
		check_order(&t, cpus, m->cpus, self, order);
		CHECK_EQ(order[0], self ^ 1); /* the other half of its core */
	}
	wf_topology_fini(&t);
	tree_end();
}

TEST(victims_on_8_cpus_come_nearest_first)
{
	check_orders(&desk);
}
TEST(victims_on_64_cpus_come_nearest_first)
{
	check_orders(&server);
}
TEST(victims_on_256_cpus_come_nearest_first)
{
	check_orders(&large);
}

TEST(thieves_at_one_cache_begin_with_different_far_victims)
{
	struct wf_topology t;
	int cpus[64], order[64];
	bool first[64] = { false };

	put_machine(&server);
	CHECK_EQ(wf_topology_init(&t, tree), 0);
	for (int i = 0; i < 64; i++)
		cpus[i] = i;
	for (int self = 0; self < 8; self++) {
		wf_topology_order(&t, cpus, 64, self, order);
		/* Behind 7 victims at the same cache and 24 in the package. */
		CHECK(order[31] >= 32 && !first[order[31]]);
		first[order[31]] = true;
	}
	wf_topology_fini(&t);
	tree_end();
}

TEST(workers_on_one_cpu_are_each_others_nearest_victims)
{
	struct wf_topology t;
	int cpus[4] = { 0, 5, 0, 1 }, order[3];

	put_machine(&desk);
	CHECK_EQ(wf_topology_init(&t, tree), 0);
	wf_topology_order(&t, cpus, 4, 0, order);
	CHECK_EQ(order[0], 2);
	CHECK_EQ(order[1], 3);
	CHECK_EQ(order[2], 1);
	wf_topology_order(&t, cpus, 1, 0, order);
	wf_topology_fini(&t);
	tree_end();
}

static void check_flat(void)
{
	struct wf_topology t;
	int cpus[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, order[8];

	CHECK_EQ(wf_topology_init(&t, tree), 0);
	for (int a = 0; a < 8; a++)
		for (int b = 0; b < 8; b++)
			CHECK_EQ(wf_topology_distance(&t, a, b), a == b ? 0 : WF_SAME_PACKAGE);
	wf_topology_order(&t, cpus, 8, 3, order);
	check_order(&t, cpus, 8, 3, order);
	wf_topology_fini(&t);
}

TEST(a_machine_that_says_nothing_is_flat)
{
	tree_begin();
	check_flat();
	tree_put("0-7\n", "devices/system/cpu/online");
	check_flat();
	tree_end();
}

TEST(a_machine_that_talks_nonsense_is_flat)
{
	tree_begin();
	tree_put("0-7\n", "devices/system/cpu/online");
	tree_put("seven\n", "devices/system/cpu/possible");
	tree_put("0-1000\n", "devices/system/node/online");
	tree_put("4-2\n", "devices/system/node/node0/cpulist");
	tree_put("10 x\n", "devices/system/node/node1/distance");
	tree_put("0-99999\n", "devices/system/node/node1/cpulist");
	for (int cpu = 0; cpu < 8; cpu++) {
		put_cache(cpu, 0, "first\n", "Data\n", 8);
		put_cache(cpu, 1, "2\n", "Data\n", 8);
		tree_put("-5\n", "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
	}
	check_flat();
	/* A cache shared by others only, and one by nobody. */
	put_cache(0, 0, "2\n", "Data\n", 1);
	tree_put("1-7\n", "devices/system/cpu/cpu0/cache/index0/shared_cpu_list");
	put_cache(1, 0, "2\n", "Data\n", 1);
	tree_put("", "devices/system/cpu/cpu1/cache/index0/shared_cpu_list");
	tree_put("", "devices/system/cpu/cpu1/cache/index1/level");
	tree_put("", "devices/system/cpu/cpu0/cache/index1/level");
	check_flat();
	tree_end();
}

TEST(this_machine_has_a_shape)
{
	struct wf_topology t;
	int first;

	CHECK_EQ(wf_topology_init(&t, NULL), 0);
	first = wf_cpuset_next(&t.online, 0);
	CHECK(first >= 0 && first < t.cpus);
	wf_topology_fini(&t);
}

#ifdef WEFT_FAULTS
TEST(every_failing_call_is_survived)
{
	put_machine(&desk);
	for (long nth = 1;; nth++) {
		struct wf_topology t;
		long calls;
		int rc;

		wf_fault_arm(nth);
		rc = wf_topology_init(&t, tree);
		calls = wf_fault_count();
		wf_fault_arm(0);
		CHECK(rc == 0 || rc == -ENOMEM);
		if (rc == 0)
			wf_topology_fini(&t);
		if (nth > calls)
			break;
	}
	tree_end();
}
#endif

TEST_MAIN
