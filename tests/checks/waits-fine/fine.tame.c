/* fine.tame.c - the tamed part of the correct program. */
#include <weft/tame.h>

tamed inner(int fd, event(ssize_t) done);
tamed outer(int fd, int *count, event() done);
threaded int on_a_thread(int fd);

tamed inner(int fd, event(ssize_t) done)
{
	ssize_t n;
	char c;

	WEFT_ATOMIC
	{
		c = 0;
	}
	twait
	{
		weft_read_ev(fd, &c, 1, mkevent(n));
	}
	trigger(done, n);
}

/* A tamed function returns where it waits: to call one is no wait. Nor is it to fork one that
 * is. */
tamed outer(int fd, int *count, event() done)
{
	rendezvous() r;
	ssize_t n;
	int rc;

	WEFT_ATOMIC
	{
		++*count;
		inner(fd, mkevent(r, n));
		tfork(mkevent(r, rc), on_a_thread(fd));
		++*count;
	}
	twait(r);
	twait(r);
	trigger(done);
}

threaded int on_a_thread(int fd)
{
	ssize_t n;

	twait
	{
		WEFT_ATOMIC
		{
			inner(fd, mkevent(n));
		}
	}
	return (int)n;
}
