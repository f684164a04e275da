/* plain.c - real functions for public calls that are macros, so that a program can take their
 * address. A call by name uses the macro, which adds the caller's file and line.
 */
#include <weft/event.h>
#include <weft/run.h>
#include <weft/time.h>

#include "base/report.h"

int(weft_event_post)(weft_event *ev)
{
	return weft_event_post_at(ev, WF_NO_PLACE);
}

int(weft_post)(weft_color color, weft_fn *fn, void *arg)
{
	return weft_post_at(color, fn, arg, WF_NO_PLACE);
}

int(weft_post_shared)(weft_color color, weft_fn *fn, void *arg)
{
	return weft_post_shared_at(color, fn, arg, WF_NO_PLACE);
}

int(weft_run)(int (*fn)(void *arg), void *arg, const weft_options *opt)
{
	return weft_run_at(fn, arg, opt, WF_NO_PLACE);
}

int(weft_drop)(void)
{
	return weft_drop_at(WF_NO_PLACE);
}

int(weft_timer_start)(weft_timer *t, uint64_t delay)
{
	return weft_timer_start_at(t, delay, WF_NO_PLACE);
}

int(weft_timer_start_until)(weft_timer *t, uint64_t when)
{
	return weft_timer_start_until_at(t, when, WF_NO_PLACE);
}

int(weft_timer_restart)(weft_timer *t, uint64_t delay)
{
	return weft_timer_restart_at(t, delay, WF_NO_PLACE);
}

int(weft_after)(uint64_t delay, weft_color color, weft_fn *fn, void *arg)
{
	return weft_after_at(delay, color, fn, arg, WF_NO_PLACE);
}
