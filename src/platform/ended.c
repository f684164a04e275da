/* ended.c - a key of the kernel thread's, for the sake of its destructor.
 *
 * pthread_exit unwinds the stack that it is called on, ours too, and leaves for the beginning of the
 * kernel thread. None of our frames runs again, so the destructor is all that is left to say it.
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

/* AddressSanitizer thinks that the frames which were unwound are still there. */
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

/* There are not enough keys for everybody: then nothing is noticed. */
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
