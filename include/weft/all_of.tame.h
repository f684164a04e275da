/* weft/all_of.tame.h - all of several events: base[0] to base[n - 1] are events for the work,
 * and e is triggered when all of them were, with 0; their values are in value[0] to value[n -
 * 1]. It acts as a twait block that can be cancelled: if the thread that waits for e is cancelled, e
 * is triggered with -ECANCELED, and value[] has only the values that came before. See
 * weft/adapter.h.
 */
#include <errno.h>

#include <weft/adapter.h>

#ifdef WEFT_T
#ifdef WEFT_NAME
#define WEFT_ALL_OF_ WEFT_ADAPTER_(all_of, WEFT_NAME)
#else
#define WEFT_ALL_OF_ WEFT_ADAPTER_(all_of, WEFT_T)
#endif
#ifdef WEFT_LOST
#define WEFT_LOST_(value) WEFT_LOST(value)
#else
#define WEFT_LOST_(value) ((void)(value))
#endif

/* The values come to memory of its own first: value[] may be gone as soon as e is cancelled. */
__attribute__((unused)) static tamed WEFT_ALL_OF_(event(WEFT_T) base[], WEFT_T value[], int n,
						  event(int) e)
{
	trefused (err) {
		for (int i = 0; i < n; i++)
			base[i] = weft_tame_nobody();
		trigger(e, err);
	}
	WEFT_T *came = (WEFT_T *)calloc((size_t)n + 1, sizeof *came);
	_Bool *have = (_Bool *)calloc((size_t)n + 1, sizeof *have);
	_Bool memory = came != NULL && have != NULL, cancelled = false;
	rendezvous(int) r;
	int i, left = memory ? n : 0;

	weft_tell_cancel(e, mkevent(r, WEFT_ADAPTER_CANCELLED));
	for (i = 0; i < n; i++)
		base[i] = memory ? mkevent(r, i, came[i]) : weft_tame_nobody();
	while ((left > 0 && !cancelled) || weft_rendezvous_ready(r)) {
		twait(r, i);
		if (i < 0) {
			cancelled = true;
			continue;
		}
		have[i] = true;
		left--;
	}
	cancelled = weft_event_cancelled(e);
	for (i = 0; memory && i < n; i++) {
		if (!cancelled && have[i])
			value[i] = came[i];
		else if (have[i])
			WEFT_LOST_(came[i]);
	}
	trigger(e, !memory ? -ENOMEM : left > 0 ? -ECANCELED : 0);
	rv_cancel(r);
	free(came);
	free(have);
}
#undef WEFT_ALL_OF_
#undef WEFT_LOST_
#else

__attribute__((unused)) static tamed all_of(event() base[], int n, event(int) e)
{
	trefused (err) {
		for (int i = 0; i < n; i++)
			base[i] = weft_tame_nobody();
		trigger(e, err);
	}
	rendezvous(int) r;
	_Bool cancelled = false;
	int i, left = n;

	weft_tell_cancel(e, mkevent(r, WEFT_ADAPTER_CANCELLED));
	for (i = 0; i < n; i++)
		base[i] = mkevent(r, i);
	while ((left > 0 && !cancelled) || weft_rendezvous_ready(r)) {
		twait(r, i);
		if (i < 0)
			cancelled = true;
		else
			left--;
	}
	trigger(e, left > 0 ? -ECANCELED : 0);
	rv_cancel(r);
}
#endif
