/* cpus.c - asks the kernel what CPUs we may use.
 *
 * A container that may use 1.5 CPUs of 64 has a mask of 64 and a quota of 1.5:
 * 64 workers would be throttled most of the time, all at once. So the quota,
 * rounded up, bounds the number of workers.
 */
#include "platform/cpus.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "platform/file.h"

/* ---- affinity ---- */

/* More than any Linux can be built for: 65,536 CPUs. */
enum { MASK_WORDS_FIRST = 16, MASK_WORDS_MOST = 1024 };

static int append_mask(struct wf_cpus *cpus, const unsigned long *mask, size_t words)
{
	const size_t bits = 8 * sizeof *mask;
	size_t n = 0;

	for (size_t i = 0; i < words; i++)
		n += (size_t)__builtin_popcountl(mask[i]);
	cpus->cpu = wf_new_array(n, sizeof *cpus->cpu);
	if (cpus->cpu == NULL)
		return -ENOMEM;
	for (size_t cpu = 0; cpu < words * bits; cpu++)
		if (mask[cpu / bits] >> (cpu % bits) & 1)
			cpus->cpu[cpus->in_mask++] = (int)cpu;
	return 0;
}

/* The kernel refuses a mask shorter than its own: 1024 bits, glibc's cpu_set_t,
 * are not enough on the largest machines. Gives -EINVAL for too short. */
static int try_mask(struct wf_cpus *cpus, size_t words)
{
	unsigned long *mask = wf_new_array(words, sizeof *mask);
	int rc;

	if (mask == NULL)
		return -ENOMEM;
	if (WF_FAULT(EPERM))
		rc = -EPERM;
	else
		rc = sched_getaffinity(0, words * sizeof *mask, (cpu_set_t *)mask) ? -errno : 0;
	if (rc == 0)
		rc = append_mask(cpus, mask, words);
	free(mask);
	return rc;
}

/* Without a mask, all CPUs that are online, by whatever number. */
static int assume_all(struct wf_cpus *cpus)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	n = n < 1 ? 1 : n;
	cpus->cpu = wf_new_array((size_t)n, sizeof *cpus->cpu);
	if (cpus->cpu == NULL)
		return -ENOMEM;
	while (cpus->in_mask < n) {
		cpus->cpu[cpus->in_mask] = cpus->in_mask;
		cpus->in_mask++;
	}
	return 0;
}

static int read_mask(struct wf_cpus *cpus)
{
	int rc = -EINVAL;

	for (size_t words = MASK_WORDS_FIRST; rc == -EINVAL && words <= MASK_WORDS_MOST; words *= 2)
		rc = try_mask(cpus, words);
	return rc == 0 || rc == -ENOMEM ? rc : assume_all(cpus);
}

/* ---- quota ---- */

static int whole_cpus(long long quota, long long period)
{
	long long cpus;

	if (quota <= 0 || period <= 0)
		return INT_MAX;
	cpus = quota / period + (quota % period != 0);
	return cpus < INT_MAX ? (int)cpus : INT_MAX;
}

/* Version 2: "max 100000" or "150000 100000". */
static int quota_v2(const char *dir)
{
	char buf[WF_FILE_SIZE];
	long long quota, period;

	if (wf_file_read(buf, "%s/cpu.max", dir) < 0 ||
	    sscanf(buf, "%lld %lld", &quota, &period) != 2)
		return INT_MAX;
	return whole_cpus(quota, period);
}

/* Version 1: two files; -1 is no limit. */
static int quota_v1(const char *dir)
{
	long long quota, period;

	if (wf_file_number(&quota, "%s/cpu.cfs_quota_us", dir) != 0 ||
	    wf_file_number(&period, "%s/cpu.cfs_period_us", dir) != 0)
		return INT_MAX;
	return whole_cpus(quota, period);
}

/* The tightest quota from `root``path` up to `root`. A container may see a path
 * of the host here that does not exist in its tree: then the root is its own. */
static int tightest(int (*quota_at)(const char *dir), const char *root, const char *path)
{
	char dir[PATH_MAX];
	int least = INT_MAX, n = snprintf(dir, sizeof dir, "%s%s", root, path);
	size_t top = strlen(root);

	if (n < 0 || (size_t)n >= sizeof dir)
		return INT_MAX;
	/* A cgroup above the root that we see: only the root itself helps. */
	if (strstr(path, "/..") != NULL)
		dir[top] = '\0';
	for (;;) {
		int here = quota_at(dir);
		char *slash = strrchr(dir, '/');

		least = here < least ? here : least;
		if (slash == NULL || slash < dir + top)
			return least;
		*slash = '\0';
	}
}

static bool names_cpu(char *controllers)
{
	char *rest = NULL;

	for (char *c = strtok_r(controllers, ",", &rest); c; c = strtok_r(NULL, ",", &rest))
		if (strcmp(c, "cpu") == 0)
			return true;
	return false;
}

/* One line of /proc/self/cgroup: "4:cpu,cpuacct:/a/b", or "0::/a/b" for the tree
 * of version 2, which lies in "unified" where both are in use. */
static int quota_of_line(char *line, const char *cgroup)
{
	static const char *const v1_dirs[] = { "cpu", "cpu,cpuacct", "cpuacct,cpu" };
	char root[PATH_MAX];
	char *id = strsep(&line, ":"), *controllers = strsep(&line, ":"), *path = line;
	int least = INT_MAX;

	if (id == NULL || controllers == NULL || path == NULL)
		return INT_MAX;
	if (strcmp(id, "0") == 0 && *controllers == '\0') {
		snprintf(root, sizeof root, "%s/unified", cgroup);
		least = tightest(quota_v2, root, path);
		return least < INT_MAX ? least : tightest(quota_v2, cgroup, path);
	}
	if (!names_cpu(controllers))
		return INT_MAX;
	for (size_t i = 0; i < WF_COUNT(v1_dirs) && least == INT_MAX; i++) {
		snprintf(root, sizeof root, "%s/%s", cgroup, v1_dirs[i]);
		least = tightest(quota_v1, root, path);
	}
	return least;
}

int wf_cpus_quota(const char *proc, const char *cgroup)
{
	char buf[WF_FILE_SIZE], *rest = NULL;
	int least = INT_MAX;

	if (proc == NULL)
		proc = "/proc";
	if (cgroup == NULL)
		cgroup = "/sys/fs/cgroup";
	if (wf_file_read(buf, "%s/self/cgroup", proc) < 0)
		return INT_MAX;
	for (char *line = strtok_r(buf, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		int quota = quota_of_line(line, cgroup);

		least = quota < least ? quota : least;
	}
	return least;
}

/* ---- both ---- */

int wf_cpus_init(struct wf_cpus *cpus, const char *proc, const char *cgroup)
{
	int rc, quota;

	memset(cpus, 0, sizeof *cpus);
	rc = read_mask(cpus);
	if (rc != 0)
		return rc;
	quota = wf_cpus_quota(proc, cgroup);
	cpus->count = quota < cpus->in_mask ? quota : cpus->in_mask;
	return 0;
}

void wf_cpus_fini(struct wf_cpus *cpus)
{
	free(cpus->cpu);
	memset(cpus, 0, sizeof *cpus);
}

void wf_thread_name(const char *name)
{
	char shown[16];

	snprintf(shown, sizeof shown, "%s", name);
	pthread_setname_np(pthread_self(), shown);
}
