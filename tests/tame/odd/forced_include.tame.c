/* weft/tame.h by the command line, and nothing else. */
/* flags: -include weft/tame.h -include tests/tame/odd/odd.h */
static tamed forced_include(event(int) done)
{
	int got;

	twait {
		later(__LINE__, mkevent(got));
	}
	trigger(done, got);
}
ODD(forced_include, 8)
