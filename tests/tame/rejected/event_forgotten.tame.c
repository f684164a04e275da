#include <weft/tame.h>

tamed named(event() done)
{
	(void)done;
}

#define DONE(e) trigger(e)
tamed by_macro(event() done)
{
	DONE(done);
}

tamed passes_on(event() done)
{
	event() kept = done;

	by_macro(kept);
}

tamed only_refused(event(int) done) /* warning:31: event 'done' is never triggered or passed on */
{
	trefused (err) {
		trigger(done, err);
	}
}

threaded int waits(int x, event() done) /* warning:35: event 'done' is never triggered or */
{
	twait {
		named(mkevent());
	}
	return x;
}
