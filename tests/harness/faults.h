/* faults.h - the nth call to the outside world fails, for every n: what can be said of any program.
 *
 * A program counts its steps. Either the run does not begin, or it does all of them; and no
 * descriptor is left over.
 */
#ifndef HARNESS_FAULTS_H
#define HARNESS_FAULTS_H

#include <dirent.h>
#include <errno.h>

#include <weft/weft.h>

#include "base/fault.h"
#include "harness/test.h"

/* What a call may give when one below it failed. */
static inline void fault_expected_at(int64_t n, const char *file, int line)
{
	static const int fine[] = { ENOMEM, EMFILE,    EAGAIN, EBADF,      ENOBUFS,
				    EIO,    ETIMEDOUT, EPIPE,  ECONNRESET, ENODATA };

	for (size_t i = 0; n < 0 && i < sizeof fine / sizeof *fine; i++)
		if (n == -fine[i])
			return;
	if (n < 0)
		test_fail(file, line, "%lld after a fault in %s", (long long)n, wf_fault_site());
}

static inline int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

static inline void check_descriptors(int before, long n)
{
	if (open_descriptors() != before)
		test_fail(__FILE__, __LINE__, "descriptors left over after %s, call %ld",
			  wf_fault_site(), n);
}

/* Runs `program`, which counts *steps up to `all`. */
static inline void fail_each_call(int (*program)(void *), int *steps, int all)
{
	weft_options opt = { .workers = 1 };
	int rc, before = open_descriptors();
	long n = 0;

	do {
		*steps = 0;
		wf_fault_arm(++n);
		rc = weft_run(program, NULL, &opt);
		if (*steps != all && (rc == 0 || *steps != 0))
			test_fail(__FILE__, __LINE__, "the run returned %d after %s, call %ld", rc,
				  wf_fault_site(), n);
		check_descriptors(before, n);
	} while (wf_fault_site() != NULL);
	CHECK_EQ(rc, 0);
	CHECK(n > 20);
}

#endif
