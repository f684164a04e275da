/* machine.c - clocks, CPU time of processes, pinning and limits of this machine. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"

double bench_tick_ns(void)
{
	static double ns;

	if (ns == 0) {
		uint64_t t0 = bench_ticks(), n0 = bench_now(), n1;

		do
			n1 = bench_now();
		while (n1 - n0 < 20000000);
		ns = (double)(n1 - n0) / (double)(bench_ticks() - t0);
	}
	return ns;
}

#if defined(__x86_64__)
double bench_ghz(void)
{
	return 1 / bench_tick_ns();
}
#else
double bench_ghz(void)
{
	static double ghz;

	/* The best of several: anything else that runs only makes it slower. */
	for (int i = 0; ghz == 0 || i < 20; i++) {
		uint64_t start = bench_now();

		bench_work(1000000);
		double now = 1e6 / (double)(bench_now() - start);
		ghz = now > ghz ? now : ghz;
	}
	return ghz;
}
#endif

double bench_cpu_ns(int pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) < 0)
		return -1;
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double task_switches(int pid, const char *task)
{
	char path[320], line[128];
	double n = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%s/status", pid, task);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "voluntary_ctxt_switches: %lf", &n) == 1)
			break;
	fclose(f);
	return n;
}

double bench_switches(int pid)
{
	char path[64];
	struct dirent *e;
	double sum = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	dir = opendir(path);
	if (dir == NULL)
		return -1;
	while ((e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.')
			sum += task_switches(pid, e->d_name);
	closedir(dir);
	return sum;
}

/* A number of /proc/PID/statm: pages that are mapped, pages that are resident. */
static double memory_of(int pid, bool resident)
{
	long mapped, pages = -1;
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/statm", pid);
	f = fopen(path, "re");
	if (f == NULL)
		return -1;
	if (fscanf(f, "%ld %ld", &mapped, &pages) != 2)
		pages = mapped = -1;
	fclose(f);
	return pages < 0 ? -1 : (double)(resident ? pages : mapped) * (double)sysconf(_SC_PAGESIZE);
}

double bench_resident(int pid)
{
	return memory_of(pid, true);
}

double bench_mapped(int pid)
{
	return memory_of(pid, false);
}

/* Clock ticks that all CPUs together were busy, and that they had, since boot. */
static void machine_ticks(double *busy, double *all)
{
	double v[8] = { 0 };
	FILE *f = fopen("/proc/stat", "re");

	*busy = *all = 0;
	if (f == NULL)
		return;
	if (fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3], &v[4],
		   &v[5], &v[6], &v[7]) == 8)
		for (int i = 0; i < 8; i++) {
			*all += v[i];
			*busy += i == 3 || i == 4 ? 0 : v[i]; /* idle, waiting for a disk */
		}
	fclose(f);
}

static double own_seconds(int who)
{
	struct rusage r;

	if (getrusage(who, &r) < 0)
		return 0;
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

double bench_noise(bool begin)
{
	static double busy0, all0, own0;
	double busy, all, own = own_seconds(RUSAGE_SELF) + own_seconds(RUSAGE_CHILDREN);
	double others;

	machine_ticks(&busy, &all);
	if (begin) {
		busy0 = busy;
		all0 = all;
		own0 = own;
		return 0;
	}
	if (all <= all0)
		return 0;
	others = busy - busy0 - (own - own0) * (double)sysconf(_SC_CLK_TCK);
	return others > 0 ? 100 * others / (all - all0) : 0;
}

int bench_cpus(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set) < 0)
		return 1;
	return CPU_COUNT(&set);
}

int bench_pin(int nth)
{
	cpu_set_t set, one;

	CPU_ZERO(&set);
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof set, &set) < 0)
		return -errno;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set) || nth-- > 0)
			continue;
		CPU_SET(cpu, &one);
		return sched_setaffinity(0, sizeof one, &one) < 0 ? -errno : 0;
	}
	return -EINVAL;
}

long bench_raise_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return 1024;
	r.rlim_cur = r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r) < 0)
		getrlimit(RLIMIT_NOFILE, &r);
	return (long)r.rlim_cur;
}
