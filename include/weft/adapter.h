/* weft/adapter.h - what the adapters share: weft/add_timeout.tame.h, weft/first_of.tame.h,
 * weft/all_of.tame.h and weft/retry.tame.h.
 *
 * An adapter makes events and waits for them on behalf of another event. Each is a template, to be
 * included by a tamed file, for events of one type, that of the macro WEFT_T; without it, for
 * events without values:
 *
 *	#define WEFT_T int
 *	#define WEFT_LOST(fd) close(fd)
 *	#include <weft/add_timeout.tame.h>
 *	#undef WEFT_T
 *	#undef WEFT_LOST
 *
 *	event(int) accepted;
 *
 *	twait {
 *		add_timeout_int(WEFT_SEC, &accepted, mkevent(in_time, fd));
 *		weft_accept_ev(ls, NULL, accepted);
 *	}
 *
 * gives add_timeout_int, a static function; where the type is more than one word WEFT_NAME says
 * what stands in place of its name. WEFT_LOST(value), if it is defined, is done with a value
 * that came when nobody wanted it any more. Cancelling goes through: if the event that an
 * adapter was given is cancelled, those that it made are, too. If there is no memory for the
 * adapter they are cancelled from the beginning, and the event tells of nothing: -ENOMEM where
 * it has an error, a timeout, the index -1.
 */
#ifndef WEFT_ADAPTER_H
#define WEFT_ADAPTER_H

#include <stdlib.h>

#include <weft/tame.h>
#include <weft/tame_events.h>

#define WEFT_ADAPTER_JOIN_(adapter, name) adapter##_##name
#define WEFT_ADAPTER_(adapter, name) WEFT_ADAPTER_JOIN_(adapter, name)

/* Names of an adapter's events that are not those of its caller. */
enum { WEFT_ADAPTER_CANCELLED = -1, WEFT_ADAPTER_TIMEOUT = -2 };

#endif
