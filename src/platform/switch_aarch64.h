/* switch_aarch64.h - leaves one stack and goes on, on another. FPCR is not kept (see
 * switch_x86_64.h for why).
 */
#ifndef WF_SWITCH_AARCH64_H
#define WF_SWITCH_AARCH64_H

#include "base/compiler.h"

void wf_switch(void **save, void *to);

static inline bool wf_fp_mode_is_default(void)
{
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	return fpcr == 0;
}

#endif
