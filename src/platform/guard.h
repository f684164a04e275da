/* guard.h - memory below a stack that nobody can touch. */
#ifndef WF_GUARD_H
#define WF_GUARD_H

#include "base/compiler.h"

/* It is only address space, so it is wide: a large frame cannot step over it. */
#define WF_GUARD_SIZE ((size_t)64 * 1024)

enum wf_guard_kind {
	WF_GUARD_UNKNOWN, /* nobody has asked the kernel yet */
	WF_GUARD_MADVISE, /* markers in the page table: Linux 6.13 and later */
	WF_GUARD_MPROTECT /* a mapping each */
};

/* The best kind that works here, tried out on the page at `at`. */
enum wf_guard_kind wf_guard_kind(char *at);

/* Makes up to `count` guards, one each `step` bytes. Returns how many it made, or if
 * none -ENOMEM; -EAGAIN if there are as many mappings as vm.max_map_count allows. */
int wf_guard_install(enum wf_guard_kind kind, char *first, size_t step, unsigned count);

#endif
