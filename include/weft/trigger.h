/* weft/trigger.h - events of tamed functions (weft/tame.h), as plain C makes use of them.
 *
 * A function that is to tell of its end takes an event: WEFT_EVENT(int) done, say, with the types
 * of what it has to tell; event(int) is the same in files that include weft/tame.h. It triggers
 * the event once, at any time and from anywhere.
 */
#ifndef WEFT_TRIGGER_H
#define WEFT_TRIGGER_H

#pragma GCC system_header /* __VA_OPT__, in what is called C11 and C++17 */

#include <weft/event.h>

WEFT_BEGIN_DECLS

/* What every event begins with. Its first word is the function that triggers it. */
typedef struct weft_tame_event {
	void (*trigger_)(void);
	const struct weft_tame_site *site_;
} weft_tame_event;

/* The type of an event with values of the types given: a pointer to a function pointer. The
 * type is the same in every file, and wrong values are errors of the compiler. */
#define WEFT_EVENT(...) __typeof__(void (*const *)(weft_tame_event * __VA_OPT__(, ) __VA_ARGS__))

/* Triggers an event `e` with its values: weft_trigger(e, v, w); or, without values,
 * weft_trigger(e). Plain C may do so too.
 *
 * Takes:    e.
 * Context:  any thread, never a signal handler. Never blocks, never switches, never runs
 *           what waits. When the run has ended nothing happens, until another begins.
 * Misuse:   a second time: reported, and nothing happens, if the memory of e is not in other
 *           use meanwhile
 */
#define weft_trigger(...) WEFT_TRIGGER_(__VA_ARGS__)
/* Without values, or with up to 8. */
#define WEFT_TRIGGER_(...) \
	WEFT_TRIGGER_PICK_(__VA_ARGS__, WEFT_TRIGGER_2_, WEFT_TRIGGER_2_, WEFT_TRIGGER_2_, \
			   WEFT_TRIGGER_2_, WEFT_TRIGGER_2_, WEFT_TRIGGER_2_, WEFT_TRIGGER_2_, \
			   WEFT_TRIGGER_2_, WEFT_TRIGGER_1_, ) \
	(__VA_ARGS__)
#define WEFT_TRIGGER_PICK_(e, a, b, c, d, f, g, h, i, how, ...) how
#define WEFT_TRIGGER_1_(e) WEFT_TRIGGER_BY_(e, (WEFT_TRIGGERED_))
#define WEFT_TRIGGER_2_(e, ...) WEFT_TRIGGER_BY_(e, (WEFT_TRIGGERED_, __VA_ARGS__))
#define WEFT_TRIGGERED_ (weft_tame_event *)(uintptr_t)weft_e_
#ifdef __cplusplus
#define WEFT_TRIGGER_BY_(e, arguments) \
	([&] { \
		auto weft_e_ = (e); \
		(*weft_e_) arguments; \
	}())
#else
#define WEFT_TRIGGER_BY_(e, arguments) \
	__extension__({ \
		__auto_type weft_e_ = (e); \
		(*weft_e_) arguments; \
	})
#endif

/* Gives back an event that will not be triggered. A twait block that waits for it waits forever,
 * which is reported at once; a rendezvous just has one event less. But if the thread that waits
 * was cancelled, the drop ends its wait for the event.
 *
 * Takes:    e.
 * Context:  as weft_trigger.
 */
WEFT_API void weft_tame_drop(weft_tame_event *e);
#define weft_event_drop(...) weft_tame_drop((weft_tame_event *)(uintptr_t)(__VA_ARGS__))

/* Tells whether nobody waits for `e` any more, so that the values of a trigger would be lost: a
 * descriptor, say. e is still to be triggered or given back. False if a cancelled thread waits
 * for e, because that thread gets the value.
 *
 * Context:  the color in which e is waited for; elsewhere it may be so a moment later.
 * Returns:  whether it was cancelled
 */
WEFT_API bool weft_tame_cancelled(const weft_tame_event *e);
#define weft_event_cancelled(...) \
	weft_tame_cancelled((const weft_tame_event *)(uintptr_t)(__VA_ARGS__))

/* Sets a function that stops the work for `e`: `fn(arg)` runs, once, in two cases. First, nobody
 * waits for e any more, because its rendezvous was cancelled or has ended. Second, the thread that
 * waits for e, in a twait block or by twait(r), was cancelled (weft/scope.h): it still waits, until
 * e has ended. fn does the same in both cases: it stops the work. Then fn, or later code, triggers e
 * with -ECANCELED or with the result of the work. In the first case the values are lost
 * (weft_event_cancelled tells). In the second case weft_event_drop ends the wait too, and the slots
 * stay as they are.
 *
 * fn runs in the color of the caller, where e is then triggered or dropped; after that fn is never
 * called. The last fn that was set counts. Without fn the cancelled thread waits until e is
 * triggered. The twait blocks of tamed functions are never cancelled: fn is not called for their
 * events. If e has a comma outside of parentheses, put it into parentheses.
 *
 * Context:  a handler or a thread, in exclusive use of its color: the one in which e is going
 *           to be triggered.
 */
WEFT_API void weft_tame_on_cancel(weft_tame_event *e, weft_fn *fn, void *arg);
#define weft_on_cancel(e, ...) weft_tame_on_cancel((weft_tame_event *)(uintptr_t)(e), __VA_ARGS__)

/* The same with an event, usually one of a rendezvous: it is triggered when fn would run, and
 * dropped when e is triggered or dropped. A tamed function uses it to pass a cancel on to the
 * events that it waits for itself:
 *
 *	tamed receive(event(int) done)
 *	{
 *		rendezvous(bool) r;
 *		bool stop;
 *		int rc;
 *
 *		weft_tell_cancel(done, mkevent(r, true));
 *		weft_channel_receive_ev(ch, &message, mkevent(r, false, rc));
 *		twait(r, stop);
 *		if (stop) {
 *			rv_stop(r);
 *			twait(r, stop);
 *		}
 *		trigger(done, rc);
 *	}
 *
 * rv_stop asks the operation to end; its event is still triggered, with -ECANCELED or the result.
 * (rv_cancel, in its place, abandons the event: a value on its way from another color is lost.)
 * For a tamed function without such code a cancelled thread waits until the function ends. A
 * function that only passes `done` on to another function needs no such code: the other has it.
 *
 * Takes:    note.
 * Context:  as weft_on_cancel.
 */
WEFT_API void weft_tame_tell_cancel(weft_tame_event *e, WEFT_EVENT() note);
#define weft_tell_cancel(e, ...) \
	weft_tame_tell_cancel((weft_tame_event *)(uintptr_t)(e), __VA_ARGS__)

/* Calls the tamed function `f` in `color`: its closure belongs there. It begins at once if the
 * caller is in exclusive use of that color, else soon. The arguments must not wait nor call f. If
 * color has a comma outside of parentheses, put it into parentheses.
 *
 * Context:  any thread, never a signal handler.
 */
WEFT_API void weft_tame_aim(weft_color color, void (*f)(void));
#define weft_ton(color, f, ...) (weft_tame_aim(color, (void (*)(void))(f)), (f)(__VA_ARGS__))

/* Calls `fn(text, arg)` for each closure that waits: "multidns() waits at dns.tame.c:12: twait(r)".
 * What runs meanwhile may be told of wrongly or not.
 *
 * Context:  any thread.
 * Returns:  how many there are
 */
WEFT_API size_t weft_tame_each(void (*fn)(const char *text, void *arg), void *arg);

WEFT_END_DECLS
#endif
