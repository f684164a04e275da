/* sanitizer.c - looks for the sanitizers of the program, which are not known until it is linked.
 *
 * With a library that was compiled without it, a sanitizer reports false errors. ThreadSanitizer
 * does not see what orders the events of a color, and AddressSanitizer takes a thread's stack for
 * a part of the kernel thread's. Rejected: a plain library that announces its switches to
 * AddressSanitizer by weak symbols. Each switch would check for them, in all programs.
 */
#include "platform/sanitizer.h"

#include "base/compiler.h"

extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

const char *wf_sanitizer_missing(void)
{
#ifndef WF_ASAN
	if (__asan_init != NULL)
		return "asan";
#endif
#ifndef WF_TSAN
	if (__tsan_init != NULL)
		return "tsan";
#endif
	return NULL;
}
