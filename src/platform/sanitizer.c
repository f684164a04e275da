/* sanitizer.c - looks for the sanitizers of the program, which are not known until it is linked.
 *
 * Without its part in this library a sanitizer reports errors that are none. ThreadSanitizer does
 * not see what orders the events of a color, and AddressSanitizer takes a thread's stack for a
 * part of the kernel thread's. A plain library could announce its switches to AddressSanitizer,
 * by weak symbols; but then each switch would look for them, in all programs.
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
