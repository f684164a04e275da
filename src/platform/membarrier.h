/* membarrier.h - a full barrier on every CPU that runs this process, paid for by who
 * asks for it: the other side of a pair needs none.
 */
#ifndef WF_MEMBARRIER_H
#define WF_MEMBARRIER_H

#include "base/compiler.h"

/* Whether the kernel offers it. */
extern bool wf_membarrier_works;

/* Only if it works. About a microsecond; more with many CPUs. */
void wf_membarrier(void);

#endif
