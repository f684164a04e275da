/* weft/retry.tame.h - tries an operation up to `tries` times, with a delay in between that
 * doubles each time: work(arg, event) is called until the event is triggered with a value that
 * is not below 0. e is triggered with the last value, or with -ECANCELED if the thread that waits
 * for e was cancelled meanwhile. WEFT_T is a signed integer type. See weft/adapter.h.
 */
#include <errno.h>

#include <weft/adapter.h>

#ifdef WEFT_NAME
#define WEFT_RETRY_ WEFT_ADAPTER_(retry, WEFT_NAME)
#else
#define WEFT_RETRY_ WEFT_ADAPTER_(retry, WEFT_T)
#endif
#ifdef WEFT_LOST
#define WEFT_LOST_(value) WEFT_LOST(value)
#else
#define WEFT_LOST_(value) ((void)(value))
#endif

__attribute__((unused)) static tamed WEFT_RETRY_(void (*work)(void *arg, event(WEFT_T) done),
						 void *arg, int tries, uint64_t delay_ns,
						 event(WEFT_T) e)
{
	trefused (err) {
		trigger(e, (WEFT_T)err);
	}
	rendezvous(int) r;
	WEFT_T value = -1;
	_Bool stopped = false;
	int came = 0;

	weft_tell_cancel(e, mkevent(r, WEFT_ADAPTER_CANCELLED));
	for (;;) {
		work(arg, mkevent(r, 1, value));
		do {
			twait(r, came);
			stopped = stopped || came == WEFT_ADAPTER_CANCELLED;
		} while (came != 1 && weft_rendezvous_ready(r));
		if (stopped || value >= 0 || --tries <= 0)
			break;
		weft_sleep_ev(delay_ns, mkevent(r, WEFT_ADAPTER_TIMEOUT));
		delay_ns *= 2;
		twait(r, came);
		if (came == WEFT_ADAPTER_CANCELLED)
			break;
	}
	if (came != 1)
		value = (WEFT_T)-ECANCELED;
	if (came == 1 && value >= 0 && weft_event_cancelled(e))
		WEFT_LOST_(value);
	trigger(e, value);
	rv_cancel(r);
}
#undef WEFT_RETRY_
#undef WEFT_LOST_
