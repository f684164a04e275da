/* weft/tame.h - tamed functions: straight-line code that waits without a stack.
 *
 *	tamed multidns(const char *name[], struct in_addr a[], int n, event() done)
 *	{
 *		twait {
 *			for (int i = 0; i < n; i++)
 *				weft_resolve_ev(name[i], mkevent(a[i]));
 *		}
 *		trigger(done);
 *	}
 *
 * A tamed function returns to its caller when it first has to wait, and goes on later from
 * where it was: so it returns nothing, and tells of its end by an event. What lives across a
 * wait is kept in a closure, of about a hundred bytes. The tool weft-tame translates such a file
 * to plain C, which needs this header and the library only; the untranslated file is legal C
 * for editors, and is refused by a compiler.
 *
 * Words of the language:
 *	tamed f(...)            a function that may wait; threaded T f(...): one that waits on the
 *	                        stack of its thread, and may return a value
 *	event(T...)             the type of an event that is triggered with values of these types
 *	twait { ... }           waits, at the closing brace, for all events made in the block
 *	mkevent(x, y)           makes such an event; when it is triggered x and y get its values
 *	rendezvous(I) r;        several events, to be waited for one at a time, each with an I that
 *	                        tells which it was; rendezvous() r; if nobody wants to know
 *	mkevent(r, i, x, y)     makes an event of r, with i for its name
 *	twait(r, i);            waits for the next event of r that was triggered; twait(r);
 *	trigger(e, v, w);       triggers an event: once
 *	rv_cancel(r);           nobody waits for the events of r any more
 *	rv_stop(r);             asks the pending events of r to end; they are still triggered
 *	trefused (err) { ... }  at the beginning of a tamed function: what to do, with its parameters,
 *	                        if there is no memory for its closure
 *	tfork(e, f(x, y));      calls f where it may block, and triggers e with what it returned
 *	ton(color, f, x, y);    calls the tamed function f in another color
 *
 * Colors. A closure belongs to the color in which it was called (WEFT_MAIN outside of
 * handlers), and is only touched there: its variables need no lock. Events may be triggered
 * from anywhere, foreign kernel threads too; the values come to their places in the
 * color of the closure. Triggering never runs other code than that: who waited goes on later.
 *
 * Cancelling. If a thread is cancelled (weft/scope.h) while its threaded function waits, in a twait
 * block or by twait(r), the function resumes when all events that it waits for have ended. Primitive
 * events and threaded functions that tfork has called end soon, with -ECANCELED or their result; a
 * call by tfork on the offload pool runs to its end. A tamed function learns of the cancel by
 * weft_tell_cancel or weft_on_cancel; without them the thread waits until the tamed function ends.
 * The threaded function sees the values, and weft_cancelled().
 *
 * Rules. An event is triggered once, by whom it was given to; a second time is reported,
 * with the place where the event was made. One that is never triggered leaves its closure
 * waiting: at the end of the run each of these is reported, with the place of the wait. A
 * function that ends while events of its rendezvous are out is reported, and they are
 * cancelled. After a cancel no variable changes any more, and late triggers do nothing.
 * WEFT_TAME=abort in the environment makes each report fatal; WEFT_TAME=check keeps memory
 * of events out of use for a while, so that more double triggers are seen.
 */
#ifndef WEFT_TAME_H
#define WEFT_TAME_H

#include <weft/tame_code.h>
#include <weft/tame_events.h>
#include <weft/tame_lock.h>
#include <weft/tame_words.h>
#include <weft/trigger.h>

#endif
