/* async.c - starting bodies, by function. */
#include <weft/scope.h>

#include <errno.h>

#include "threads/threads.h"

int weft_async_call(weft_thread_fn *fn, void *arg)
{
	return wf_body_call(fn, arg);
}

int weft_async_copy(weft_thread_fn *fn, const void *args, size_t size)
{
	return wf_body_copy(fn, args, size);
}
