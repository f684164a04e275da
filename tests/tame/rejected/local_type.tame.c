#include <weft/tame.h>

tamed f(void)
{
	int x = 1;
	struct s {
		char room[sizeof x]; /* error:20: a type that is local to a function which waits depends on its variable 'x' */
	} s;

	twait {
		trigger(mkevent());
	}
	s.room[0] = (char)x;
}
