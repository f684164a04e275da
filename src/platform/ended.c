/* ended.c - a pthread key whose destructor notices that a kernel thread of ours ends.
 *
 * pthread_exit unwinds the stack that it is called on, also one of Weft's, and then ends the kernel
 * thread. None of our frames runs again: only the destructor of a key can still report it.
 * Rejected: a cleanup in each frame that calls a function of the user's: bodies have no such frame.
 */
#include "platform/ended.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#ifdef WF_ASAN
#include <sanitizer/asan_interface.h>

enum { FRAMES = 128 * 1024 };
#endif

static pthread_key_t key;
static bool have_key;

/* AddressSanitizer still has the unwound frames marked as in use. */
static void forget_frames(void)
{
#ifdef WF_ASAN
	char *here = __builtin_frame_address(0);

	__asan_unpoison_memory_region(here - FRAMES, FRAMES);
#endif
}

static void call(void *arg)
{
	const struct wf_ended *e = arg;

	forget_frames();
	e->fn();
}

/* If the process has run out of keys, ends of threads go unnoticed. */
static void make_key(void)
{
	have_key = pthread_key_create(&key, call) == 0;
}

void wf_ended_watch(const struct wf_ended *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_key);
	if (have_key)
		(void)pthread_setspecific(key, e);
}
