/* weft/first_of.tame.h - the first of several events: base[0] to base[n - 1] are events for the
 * work, and e is triggered when the first of them is, with its index and its value. The others
 * are cancelled. See weft/adapter.h.
 */
#include <weft/adapter.h>

#ifdef WEFT_T
#ifdef WEFT_NAME
#define WEFT_FIRST_OF_ WEFT_ADAPTER_(first_of, WEFT_NAME)
#else
#define WEFT_FIRST_OF_ WEFT_ADAPTER_(first_of, WEFT_T)
#endif
#ifdef WEFT_LOST
#define WEFT_LOST_(value) WEFT_LOST(value)
#else
#define WEFT_LOST_(value) ((void)(value))
#endif

__attribute__((unused)) static tamed WEFT_FIRST_OF_(event(WEFT_T) base[], int n,
						    event(int, WEFT_T) e)
{
	trefused (err) {
		WEFT_T none;

		(void)err;
		memset(&none, 0, sizeof none);
		for (int i = 0; i < n; i++)
			base[i] = weft_tame_nobody();
		trigger(e, -1, none);
	}
	WEFT_T *value = (WEFT_T *)calloc((size_t)n + 1, sizeof *value), none;
	rendezvous(int) r;
	int i, first = -1;

	memset(&none, 0, sizeof none);
	weft_tell_cancel(e, mkevent(r, WEFT_ADAPTER_CANCELLED));
	for (i = 0; i < n; i++)
		base[i] = value != NULL ? mkevent(r, i, value[i]) : weft_tame_nobody();
	if (value != NULL && n > 0)
		twait(r, first);
	while (weft_rendezvous_ready(r)) {
		twait(r, i);
		if (i >= 0 && first >= 0)
			WEFT_LOST_(value[i]);
		else if (i >= 0)
			first = i;
	}
	if (first >= 0 && weft_event_cancelled(e))
		WEFT_LOST_(value[first]);
	trigger(e, first, first >= 0 ? value[first] : none);
	rv_cancel(r);
	free(value);
}
#undef WEFT_FIRST_OF_
#undef WEFT_LOST_
#else

__attribute__((unused)) static tamed first_of(event() base[], int n, event(int) e)
{
	trefused (err) {
		(void)err;
		for (int i = 0; i < n; i++)
			base[i] = weft_tame_nobody();
		trigger(e, -1);
	}
	rendezvous(int) r;
	int i, first = -1;

	weft_tell_cancel(e, mkevent(r, WEFT_ADAPTER_CANCELLED));
	for (i = 0; i < n; i++)
		base[i] = mkevent(r, i);
	if (n > 0)
		twait(r, first);
	while (first < 0 && weft_rendezvous_ready(r))
		twait(r, first);
	trigger(e, first);
	rv_cancel(r);
}
#endif
