/* switch_aarch64.h - leaves one stack and goes on, on another. FPCR is not kept (see
 * switch_x86_64.h for why).
 */
#ifndef WF_SWITCH_AARCH64_H
#define WF_SWITCH_AARCH64_H

#include "base/compiler.h"

void wf_switch(void **save, void *to);

/* The same for a flow that nobody goes on with. */
static inline _Noreturn void wf_switch_last(void *to)
{
	void *nowhere;

	wf_switch(&nowhere, to);
	__builtin_unreachable();
}

static inline bool wf_fp_mode_is_default(void)
{
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	return fpcr == 0;
}

#endif
