/* Calls of macros over many lines, with waits, comments and directives' look-alikes in them. */
/* flags: -Wno-comment */
#include "odd.h"

#include <weft/tame.h>

#define BLOCK(...) \
	do { \
		__VA_ARGS__ \
	} while (0)
#define PLUS(a, b) ((a) + (b))
#define HERE __LINE__

static int lines[8], line_count;

static void mark(int line)
{
	lines[line_count++ % 8] = line;
}

static tamed over_many_lines(event(int) done)
{
	int got = 0, sum = 0;

	BLOCK(
		int inner = 3;

		twait {
			later(inner, /* a comment, (
				      * over lines */
			      mkevent(got)
			);
		}
		// another, one
		sum += PLUS(
			got,
			inner
		);
		if (sum)
			twait { soon(mkevent()); }
	);
	trigger(done, PLUS(sum,
			   got));
}
ODD(over_many_lines, 9)

static tamed lines_are_kept(event(int) done)
{
	int first = HERE, got;

	mark(__LINE__);
	BLOCK(
		twait {

			soon(mkevent());
		}
	);
	mark(__LINE__);
	twait { later(
		__LINE__
		, mkevent(got)); } mark(__LINE__);
	mark(__LINE__); /*

	*/ mark(__LINE__);
	trigger(done, (lines[0] - first) + 10 * (lines[1] - first) + 1000 * (lines[2] - first) +
			      100000 * (lines[3] - first) + 10000000 * (lines[4] - first) +
			      (got > first && got < lines[2] + 1) * 1000000000);
}
ODD(lines_are_kept, 2 + 90 + 12000 + 1300000 + 150000000 + 1000000000)

static tamed splices(event(int) done)
{
	int go\
t, su\
m = 4\
0;

	twa\
it {
		lat\
er(2, mkeve\
nt(got));
	}
	/* a comment that is spliced *\
/ sum += got;
	// so is this \
	   one: sum += 1000;
	trig\
ger(done, sum);
}
ODD(splices, 42)

static int behind_splices = __LINE__;
static tamed line_behind_splices(event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, __LINE__ - behind_splices);
}
ODD(line_behind_splices, 6)
