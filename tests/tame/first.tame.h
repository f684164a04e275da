/* first.tame.h - a template: the first of two events, of the type TAME_T. */
static tamed TAME_NAME(first)(event(TAME_T) *a, event(TAME_T) *b, event(int, TAME_T) e)
{
	rendezvous(int) r;
	TAME_T got[2];
	int which;

	*a = mkevent(r, 0, got[0]);
	*b = mkevent(r, 1, got[1]);
	twait(r, which);
	trigger(e, which, got[which]);
	rv_cancel(r);
}
