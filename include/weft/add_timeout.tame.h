/* weft/add_timeout.tame.h - a deadline on any event: *base is an event for the work, and e is
 * triggered when that is or `ns` nanoseconds have passed, with whether it came in time, and with
 * its value. A work that comes too late is cancelled. For events of two values WEFT_T2 is the
 * type of the second. See weft/adapter.h.
 */
#include <weft/adapter.h>

#ifdef WEFT_T
#ifdef WEFT_NAME
#define WEFT_ADD_TIMEOUT_ WEFT_ADAPTER_(add_timeout, WEFT_NAME)
#else
#define WEFT_ADD_TIMEOUT_ WEFT_ADAPTER_(add_timeout, WEFT_T)
#endif
#ifdef WEFT_LOST
#define WEFT_LOST_(value) WEFT_LOST(value)
#else
#define WEFT_LOST_(value) ((void)(value))
#endif

#ifndef WEFT_T2
__attribute__((unused)) static tamed WEFT_ADD_TIMEOUT_(uint64_t ns, event(WEFT_T) *base,
						       event(_Bool, WEFT_T) e)
{
	trefused (err) {
		WEFT_T none;

		(void)err;
		memset(&none, 0, sizeof none);
		*base = weft_tame_nobody();
		trigger(e, false, none);
	}
	rendezvous(int) r;
	WEFT_T value;
	int came;

	memset(&value, 0, sizeof value);
	weft_tell_cancel(e, mkevent(r, WEFT_ADAPTER_CANCELLED));
	weft_sleep_ev(ns, mkevent(r, WEFT_ADAPTER_TIMEOUT));
	*base = mkevent(r, 1, value);
	do
		twait(r, came);
	while (came != 1 && weft_rendezvous_ready(r));
	if (came == 1 && weft_event_cancelled(e))
		WEFT_LOST_(value);
	trigger(e, came == 1, value);
	rv_cancel(r);
}
#else

__attribute__((unused)) static tamed WEFT_ADD_TIMEOUT_(uint64_t ns, event(WEFT_T, WEFT_T2) *base,
						       event(_Bool, WEFT_T, WEFT_T2) e)
{
	trefused (err) {
		WEFT_T none;
		WEFT_T2 none2;

		(void)err;
		memset(&none, 0, sizeof none);
		memset(&none2, 0, sizeof none2);
		*base = weft_tame_nobody();
		trigger(e, false, none, none2);
	}
	rendezvous(int) r;
	WEFT_T value;
	WEFT_T2 value2;
	int came;

	memset(&value, 0, sizeof value);
	memset(&value2, 0, sizeof value2);
	weft_tell_cancel(e, mkevent(r, WEFT_ADAPTER_CANCELLED));
	weft_sleep_ev(ns, mkevent(r, WEFT_ADAPTER_TIMEOUT));
	*base = mkevent(r, 1, value, value2);
	do
		twait(r, came);
	while (came != 1 && weft_rendezvous_ready(r));
	if (came == 1 && weft_event_cancelled(e))
		WEFT_LOST_(value);
	trigger(e, came == 1, value, value2);
	rv_cancel(r);
}
#endif
#undef WEFT_ADD_TIMEOUT_
#undef WEFT_LOST_
#else

__attribute__((unused)) static tamed add_timeout(uint64_t ns, event() *base, event(_Bool) e)
{
	trefused (err) {
		(void)err;
		*base = weft_tame_nobody();
		trigger(e, false);
	}
	rendezvous(int) r;
	int came;

	weft_tell_cancel(e, mkevent(r, WEFT_ADAPTER_CANCELLED));
	weft_sleep_ev(ns, mkevent(r, WEFT_ADAPTER_TIMEOUT));
	*base = mkevent(r, 1);
	do
		twait(r, came);
	while (came != 1 && weft_rendezvous_ready(r));
	trigger(e, came == 1);
	rv_cancel(r);
}
#endif
