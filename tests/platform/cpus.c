/* Which CPUs may be used, by mask and by quota. */
#include "platform/cpus.h"

#include <sched.h>

#include "base/fault.h"
#include "platform/tree.h"

static char proc[PATH_MAX], cgroup[PATH_MAX];

static void begin(const char *membership)
{
	tree_begin();
	snprintf(proc, sizeof proc, "%s/proc", tree);
	snprintf(cgroup, sizeof cgroup, "%s/cgroup", tree);
	tree_put(membership, "proc/self/cgroup");
}

TEST(without_cgroups_the_mask_alone_counts)
{
	struct wf_cpus cpus;

	tree_begin();
	CHECK_EQ(wf_cpus_init(&cpus, tree, tree), 0);
	CHECK(cpus.in_mask >= 1);
	CHECK_EQ(cpus.count, cpus.in_mask);
	for (int i = 1; i < cpus.in_mask; i++)
		CHECK(cpus.cpu[i - 1] < cpus.cpu[i]);
	wf_cpus_fini(&cpus);
	tree_end();
}

TEST(a_narrow_mask_gives_its_one_cpu)
{
	struct wf_cpus all, one;
	cpu_set_t set;
	int last;

	tree_begin();
	CHECK_EQ(wf_cpus_init(&all, tree, tree), 0);
	last = all.cpu[all.in_mask - 1];
	CPU_ZERO(&set);
	CPU_SET(last, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof set, &set), 0);
	CHECK_EQ(wf_cpus_init(&one, tree, tree), 0);
	CHECK_EQ(one.in_mask, 1);
	CHECK_EQ(one.count, 1);
	CHECK_EQ(one.cpu[0], last);
	wf_cpus_fini(&one);
	wf_cpus_fini(&all);
	tree_end();
}

TEST(a_quota_is_rounded_up)
{
	begin("0::/a\n");
	tree_put("150000 100000\n", "cgroup/a/cpu.max");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 2);
	tree_put("200000 100000\n", "cgroup/a/cpu.max");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 2);
	tree_put("1000 100000\n", "cgroup/a/cpu.max");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 1);
	tree_put("max 100000\n", "cgroup/a/cpu.max");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), INT_MAX);
	tree_end();
}

TEST(a_quota_bounds_the_count_but_not_the_mask)
{
	struct wf_cpus cpus;

	begin("0::/\n");
	tree_put("50000 100000\n", "cgroup/cpu.max");
	CHECK_EQ(wf_cpus_init(&cpus, proc, cgroup), 0);
	CHECK_EQ(cpus.count, 1);
	CHECK(cpus.in_mask >= 1);
	wf_cpus_fini(&cpus);
	tree_put("99999999 1000\n", "cgroup/cpu.max");
	CHECK_EQ(wf_cpus_init(&cpus, proc, cgroup), 0);
	CHECK_EQ(cpus.count, cpus.in_mask);
	wf_cpus_fini(&cpus);
	tree_end();
}

TEST(the_tightest_quota_on_the_way_to_the_root_counts)
{
	begin("0::/a/b/c\n");
	tree_put("800000 100000\n", "cgroup/a/b/c/cpu.max");
	tree_put("max 100000\n", "cgroup/a/b/cpu.max");
	tree_put("300000 100000\n", "cgroup/a/cpu.max");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 3);
	tree_put("100000 100000\n", "cgroup/cpu.max");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 1);
	tree_end();
}

TEST(a_path_of_the_host_falls_back_to_the_containers_root)
{
	begin("0::/system.slice/docker-1234.scope\n");
	tree_put("400000 100000\n", "cgroup/cpu.max");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 4);
	tree_put("0::/../../other\n", "proc/self/cgroup");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 4);
	tree_end();
}

TEST(version_1_quotas_count_too)
{
	begin("5:memory:/m\n4:cpu,cpuacct:/a/b\n3:cpuset:/\n");
	tree_put("-1\n", "cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us");
	tree_put("100000\n", "cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), INT_MAX);
	tree_put("250000\n", "cgroup/cpu,cpuacct/a/cpu.cfs_quota_us");
	tree_put("100000\n", "cgroup/cpu,cpuacct/a/cpu.cfs_period_us");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 3);
	tree_put("50000\n", "cgroup/cpu/a/cpu.cfs_quota_us");
	tree_put("100000\n", "cgroup/cpu/a/cpu.cfs_period_us");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 1);
	tree_end();
}

TEST(a_mixed_system_is_asked_in_both_trees)
{
	begin("1:cpu:/\n0::/u\n");
	tree_put("700000\n", "cgroup/cpu/cpu.cfs_quota_us");
	tree_put("100000\n", "cgroup/cpu/cpu.cfs_period_us");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 7);
	tree_put("500000 100000\n", "cgroup/unified/u/cpu.max");
	CHECK_EQ(wf_cpus_quota(proc, cgroup), 5);
	tree_end();
}

TEST(nonsense_does_not_limit)
{
	static const char *const membership[] = { "",     "\n",  "0\n",     "0:\n",    "0::\n",
						  "::\n", ":::", "4:cpu\n", "4:cpu:\n" };
	static const char *const quota[] = { "",         "much\n",     "100000\n", "5 0\n",
					     "-7 100\n", "0 100000\n", "5 -5\n" };

	begin("0::/\n");
	for (size_t i = 0; i < WF_COUNT(quota); i++) {
		tree_put(quota[i], "cgroup/cpu.max");
		CHECK_EQ(wf_cpus_quota(proc, cgroup), INT_MAX);
	}
	for (size_t i = 0; i < WF_COUNT(membership); i++) {
		tree_put(membership[i], "proc/self/cgroup");
		CHECK_EQ(wf_cpus_quota(proc, cgroup), INT_MAX);
	}
	tree_end();
}

TEST(a_long_thread_name_is_cut_not_refused)
{
	char shown[32] = "";
	FILE *comm;

	wf_thread_name("weft worker number 12345");
	comm = fopen("/proc/thread-self/comm", "r");
	CHECK(comm != NULL);
	CHECK(fgets(shown, sizeof shown, comm) != NULL);
	fclose(comm);
	CHECK_STR(shown, "weft worker num\n");
}

#ifdef WEFT_FAULTS
TEST(every_failing_call_is_survived)
{
	begin("0::/\n");
	tree_put("100000 100000\n", "cgroup/cpu.max");
	for (long nth = 1;; nth++) {
		struct wf_cpus cpus;
		long calls;
		int rc;

		wf_fault_arm(nth);
		rc = wf_cpus_init(&cpus, proc, cgroup);
		calls = wf_fault_count();
		wf_fault_arm(0);
		CHECK(rc == 0 || rc == -ENOMEM);
		if (rc == 0) {
			CHECK(cpus.count >= 1 && cpus.count <= cpus.in_mask);
			wf_cpus_fini(&cpus);
		}
		if (nth > calls)
			break;
	}
	tree_end();
}
#endif

TEST_MAIN
