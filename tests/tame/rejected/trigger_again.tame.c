#include <weft/tame.h>

static bool odd(int n);
static void log_it(int n);

void in_a_row(event(int) e)
{
	trigger(e, 1);
	log_it(1);
	trigger(e, 2); /* warning:2: event 'e' is triggered a second time, after line 8: .* 'return' */
}

void without_else(int n, event(int) e)
{
	if (n > 0)
		trigger(e, 1);
	trigger(e, 2); /* warning:2: event 'e' is triggered a second time, after line 16 */
}

void behind_others(int n, event(int) e)
{
	trigger(e, 1);
	if (n == 7)
		log_it(n);
	trigger(e, 2); /* warning:2: event 'e' is triggered a second time, after line */
}

#define DONE(e) \
	do { \
		trigger(e); \
	} while (0)

tamed macro(int n, event() done)
{
	if (odd(n))
		DONE(done);
	DONE(done); /* warning:2: event 'done' is triggered a second time, after line 36 */
}

void in_turns(int n, event(int) e)
{
	for (int i = 0; i < n; i++) {
		if (odd(i))
			log_it(i);
		trigger(e, i); /* warning:3: event 'e' is triggered in each turn of the loop, .* leave */
	}
}

void for_ever(event(int) e)
{
	int n = 0;

	for (;;) {
		trigger(e, n++); /* warning:3: event 'e' is triggered in each turn of the loop, .*: leave the loop */
	}
}

void falls_through(int n, event(int) e)
{
	switch (n) {
	case 1:
		trigger(e, 1);
	default:
		trigger(e, 2); /* warning:3: event 'e' is triggered a second time, after line 62 */
	}
}

/* Nothing is wrong with these, or it cannot be known. */

void skips(int n, event(int) e)
{
	for (int i = 0; i < n; i++) {
		if (odd(i))
			continue;
		trigger(e, i);
	}
}

void returns(int n, event(int) e)
{
	if (n > 0) {
		trigger(e, 1);
		return;
	}
	trigger(e, 2);
}

void asks_twice(int n, event(int) e)
{
	if (n > 0)
		trigger(e, 1);
	log_it(n);
	if (n <= 0)
		trigger(e, 2);
}

void remembers(int n, event(int) e)
{
	bool told = false;

	for (int i = 0; i < n && !told; i++) {
		if (odd(i)) {
			trigger(e, i);
			told = true;
		}
	}
	if (!told)
		trigger(e, -1);
}

void leaves(int n, event(int) e)
{
	for (int i = 0;; i++) {
		if (i == n) {
			trigger(e, i);
			break;
		}
	}
}

void once(event(int) e)
{
	for (bool first = true; first; first = false)
		trigger(e, 1);
}

void another(event(int) e, event(int) next)
{
	trigger(e, 1);
	e = next;
	trigger(e, 2);
}

void switches(int n, event(int) e)
{
	switch (n) {
	case 1:
		trigger(e, 1);
		break;
	case 2:
		trigger(e, 3);
		return;
	default:
		trigger(e, 2);
	}
}
