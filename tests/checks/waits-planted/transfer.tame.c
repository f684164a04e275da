/* transfer.tame.c - the tamed part of the program with five mistakes. */
#include <weft/tame.h>

tamed transfer(int *from, int *to, int fd, event() done);

/* 5: in a block of a tamed function. The twait before it is as it should be. */
tamed transfer(int *from, int *to, int fd, event() done)
{
	ssize_t n;
	int amount;

	twait
	{
		weft_read_ev(fd, &amount, sizeof amount, mkevent(n));
	}
	WEFT_ATOMIC
	{
		*from -= amount;
		twait
		{
			weft_write_ev(fd, "x", 1, mkevent(n));
		}
		*to += amount;
	}
	trigger(done);
}
