/* Tags of local types that generated types might have too. */
#include "odd.h"

#include <weft/tame.h>

static tamed tags(event(int) done)
{
	struct e1 {
		int c;
	} e1 = { 1 };
	struct c {
		int e1;
	} c = { 2 };
	union t1 {
		int s1;
	} t1 = { 3 };
	enum s1 { s1_ = 4 } s1 = s1_;
	typedef int d1;
	d1 k1 = 5;
	struct body {
		struct function {
			int fn;
		} mk1;
	} body = { { 6 } };
	struct k1 {
		int h;
	} h = { 7 };

	twait {
		later(e1.c, mkevent(e1.c));
		soon(mkevent());
	}
	trigger(done, e1.c + c.e1 * 10 + t1.s1 * 100 + (int)s1 * 1000 + k1 * 10000 +
			      body.mk1.fn * 100000 + h.h * 1000000);
}
ODD(tags, 7654321)

static const int neighbours__body = 1, neighbours__c = 2;

static tamed neighbours(event(int) done)
{
	struct e1 {
		int x;
	} e1 = { 1 };
	struct c {
		int y;
	} c = { neighbours__body + neighbours__c };

	twait {
		later(e1.x, mkevent(c.y));
	}
	trigger(done, c.y + e1.x * 10);
}
ODD(neighbours, 11)

static tamed letters(event(int) done)
{
	struct e {
		int x;
	} e = { 1 };
	struct k {
		int x;
	} k = { 2 };
	struct t {
		int x;
	} t = { 3 };
	union d {
		int x;
	} d = { 4 };
	struct s {
		int x;
	} s = { 5 };

	twait {
		later(e.x + 1, mkevent(e.x));
		tfork(mkevent(k.x), abs(-6));
	}
	trigger(done, e.x + k.x * 10 + t.x * 100 + d.x * 1000 + s.x * 10000);
}
ODD(letters, 54362)

static tamed one_name(event(int) done)
{
	typedef int e;
	e x = 1, sum = 0;

	{
		enum { e = 41 };
		enum f { f = 2 };

		twait {
			later(e, mkevent(x));
		}
		sum += x + e + f;
		{
			struct e {
				int e;
			};
			typedef struct e f;
			f e = { 3 };

			twait {
				soon(mkevent());
			}
			sum += e.e * 100;
		}
	}
	trigger(done, sum + (int)sizeof(e) * 1000);
}
ODD(one_name, 41 + 41 + 2 + 300 + 4000)
