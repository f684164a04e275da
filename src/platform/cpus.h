/* cpus.h - which CPUs this process may use, and how much of them. */
#ifndef WF_CPUS_H
#define WF_CPUS_H

#include "base/compiler.h"

struct wf_cpus {
	int *cpu;    /* the numbers of those in the affinity mask, ascending */
	int in_mask; /* how many; at least 1 */
	int count;   /* how many the CPU quota lets run at a time; 1 to in_mask */
};

/* Finds them out. The affinity mask is the calling thread's. The quota is the
 * tightest on the way from the process's cgroup, named in `proc`/self/cgroup, to
 * the root of the tree at `cgroup`; NULL: "/proc" and "/sys/fs/cgroup". What
 * cannot be read does not limit. Returns 0 or -ENOMEM. */
int wf_cpus_init(struct wf_cpus *cpus, const char *proc, const char *cgroup);
void wf_cpus_fini(struct wf_cpus *cpus);

/* How many CPUs' worth of time the cgroup may use, rounded up; INT_MAX: all. */
int wf_cpus_quota(const char *proc, const char *cgroup);

/* Names the calling thread, for ps, top and debuggers. At most 15 bytes show. */
void wf_thread_name(const char *name);

#endif
