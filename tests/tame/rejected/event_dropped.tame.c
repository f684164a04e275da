#include <weft/tame.h>

tamed later(event(int) done);

tamed drops(event() done)
{
	int a, b;

	twait {
		mkevent(a); /* warning:3: this event is dropped: nothing will trigger it */
		later(mkevent(b));
		if (b > 0) {
			later(mkevent(a));
		}
		mkevent(b); /* warning:3: this event is dropped: nothing will trigger it */
	}
	trigger(done);
}
