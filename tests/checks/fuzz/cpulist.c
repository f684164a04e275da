/* cpulist.c - lists of CPUs as the kernel writes them.
 * With: src/platform/cpulist.c
 */
#include "platform/cpulist.h"
#include "harness/fuzz.h"

FUZZ(in, size)
{
	static struct wf_cpuset set;
	int seen = 0, n = wf_cpulist_parse(in, size, &set);

	for (int cpu = wf_cpuset_next(&set, 0); cpu >= 0; cpu = wf_cpuset_next(&set, cpu + 1))
		seen++;
	MUST(seen == (n > 0 ? n : 0));
}
