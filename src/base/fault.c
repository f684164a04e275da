/* fault.c - makes the nth call to the outside world fail, for tests. */
#include "base/fault.h"

#ifdef WEFT_FAULTS
#include <stdatomic.h>
#include <stddef.h>

static atomic_long seen, target;
static const char *_Atomic failed_site;
static void (*_Atomic on_visit)(const char *site);

int wf_fault(int error, const char *site)
{
	void (*visit)(const char *) = atomic_load(&on_visit);
	long n = atomic_fetch_add(&seen, 1) + 1;

	if (visit != NULL)
		visit(site);
	if (n != atomic_load(&target))
		return 0;
	atomic_store(&failed_site, site);
	return -error;
}

void wf_fault_on_visit(void (*visit)(const char *site))
{
	atomic_store(&on_visit, visit);
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
