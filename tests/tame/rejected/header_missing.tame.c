struct question {
	int number;
	event(int) answer; /* error:2: 'event' is not known: put '#include <weft/tame.h>' at the beginning */
};

tamed ask(struct question *q, event() done)
{
	twait {
		ask(q, mkevent());
	}
	trigger(done);
}
