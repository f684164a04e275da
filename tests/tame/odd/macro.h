#define MACRO_H 9
static tamed from_macro_header(event(int) done)
{
	twait
	{
		soon(mkevent());
	}
	trigger(done, MACRO_H);
}
