/* memory.h - allocation that can be made to fail, and never aborts (E2). */
#ifndef WF_MEMORY_H
#define WF_MEMORY_H

#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/fault.h"

/* Zeroed memory for `count` things of `size`, or NULL. Free with free(). */
static inline void *wf_new_array(size_t count, size_t size)
{
	return WF_FAULT(ENOMEM) ? NULL : calloc(count, size);
}

/* The same, aligned to WF_CACHE_LINE. */
static inline void *wf_new_aligned(size_t size)
{
	size_t whole = (size + WF_CACHE_LINE - 1) & ~(size_t)(WF_CACHE_LINE - 1);
	void *p = WF_FAULT(ENOMEM) ? NULL : aligned_alloc(WF_CACHE_LINE, whole);

	if (p != NULL)
		__builtin_memset(p, 0, whole);
	return p;
}

#define WF_NEW(type) ((type *)wf_new_array(1, sizeof(type)))

#endif
