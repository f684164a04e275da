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
