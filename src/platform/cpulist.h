/* cpulist.h - sets of CPUs, and the kernel's way to write them: "0-3,8,10-11". */
#ifndef WF_CPULIST_H
#define WF_CPULIST_H

#include "base/compiler.h"

/* The most that any Linux can be built for. */
#define WF_CPU_LIMIT 8192

struct wf_cpuset {
	uint64_t bits[WF_CPU_LIMIT / 64];
};

static inline bool wf_cpuset_has(const struct wf_cpuset *set, int cpu)
{
	return cpu >= 0 && cpu < WF_CPU_LIMIT && (set->bits[cpu / 64] >> (cpu % 64) & 1);
}

static inline void wf_cpuset_add(struct wf_cpuset *set, int cpu)
{
	set->bits[cpu / 64] |= (uint64_t)1 << (cpu % 64);
}

/* The lowest CPU of the set from `cpu` on, or -1. */
int wf_cpuset_next(const struct wf_cpuset *set, int cpu);

/* Reads a list of `size` bytes, strictly as the kernel writes it: ascending, no
 * blanks, at most one newline, at the end. An empty list is a list.
 *
 * Returns:  how many CPUs are in it
 *           -EINVAL     not such a list; *set is empty
 *           -ERANGE     a CPU number of WF_CPU_LIMIT or more; *set is empty
 */
int wf_cpulist_parse(const char *text, size_t size, struct wf_cpuset *set);

#endif
