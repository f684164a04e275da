/* fault.c - makes the nth call to the outside world fail, for tests. */
#include "base/fault.h"

#ifdef WEFT_FAULTS
#include <stdatomic.h>
#include <stddef.h>

static atomic_long seen, target;
static const char *_Atomic failed_site;

int wf_fault(int error, const char *site)
{
	long n = atomic_fetch_add(&seen, 1) + 1;

	if (n != atomic_load(&target))
		return 0;
	atomic_store(&failed_site, site);
	return -error;
}

void wf_fault_arm(long nth)
{
	atomic_store(&failed_site, NULL);
	atomic_store(&target, nth);
	atomic_store(&seen, 0);
}

long wf_fault_count(void)
{
	return atomic_load(&seen);
}

const char *wf_fault_site(void)
{
	return atomic_load(&failed_site);
}
#else
typedef int wf_no_faults_in_this_build;
#endif
