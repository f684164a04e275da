/* A template that tells its lines. */
static tamed line_of_header(event(int) done)
{
	int first = __LINE__;

	twait {
		soon(mkevent());
	}
	trigger(done, __LINE__ - first == 5 && strstr(__FILE__, "line.tame.h") ? 4 : 0);
}
