/* twice.h - a header that makes a tamed function each time it is included. */
static tamed NAME(twice)(int n, event(int) done)
{
	int got;

	twait
	{
		later(n, mkevent(got));
	}
	trigger(done, got + ADD);
}
