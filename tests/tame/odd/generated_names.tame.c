/* Names of the user's that generated code might have too: locals, functions, members, types. */
#include "odd.h"

#include <weft/tame.h>

static int tame_c = 1, c = 2, h = 3, e = 4, tame_closure = 5, state_ = 6, tame_p = 8;

static tamed globals(event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, tame_c + c + h + e + tame_closure + state_ + tame_p);
}
ODD(globals, 29)

static tamed locals(event(int) done)
{
	int tame_c = 1, tame_h = 2, tame_p = 3, tame_e1 = 4, tame_j = 5, tame_L1 = 6, tame_1 = 7;
	int c = 1, h = 2, e = 3, e1 = 4, s1 = 5, v1 = 6, id = 7, state_ = 8, color_ = 9, holds_ = 10;
	int function_ = 1, rendezvous_ = 2, closure_ = 3, counter_ = 4, self = 5, f = 6, t = 7;
	int x = 1, x__2 = 2, weft_tame_c = 3, weft_tame_ = 4, tame_id = 5, arg = 6, closure = 7;
	int body = 1, locals__body = 2, locals__c = 3, locals__function = 4, tame_state = 5;

	{
		int x = 10;

		twait {
			later(x, mkevent(x__2));
			soon(mkevent());
		}
		x__2 += x;
	}
	twait {
		later(4, mkevent(e1));
	}
	trigger(done, tame_c + tame_h + tame_p + tame_e1 + tame_j + tame_L1 + tame_1 + c + h + e + e1 +
			      s1 + v1 + id + state_ + color_ + holds_ + function_ + rendezvous_ +
			      closure_ + counter_ + self + f + t + x + x__2 + weft_tame_c +
			      weft_tame_ + tame_id + arg + closure + body + locals__body + locals__c +
			      locals__function + tame_state);
}
ODD(locals, 28 + 55 + 28 + 1 + 20 + 3 + 4 + 5 + 6 + 7 + 15)

static tamed parameters(int tame_c, int c, int x, int x__2, int done, int e, int h, int f,
			event(int) weft_tame_done)
{
	for (int x = 0; x < 2; x++)
		twait {
			int x = 100;

			later(x + x__2, mkevent(done));
		}
	trigger(weft_tame_done, tame_c + c + x + done + e + h + f);
}

static tamed as_parameters(event(int) done)
{
	parameters(1, 2, 3, 4, 5, 6, 7, 8, done);
}
ODD(as_parameters, 1 + 2 + 3 + 104 + 6 + 7 + 8)

struct c {
	int c, h, tame_c, event, state_;
};
struct f__c {
	struct c c;
	int f;
};
typedef struct f__c f__c;

static int f__body(int n)
{
	return n + 1;
}

static const int f__function = 5, f__t1 = 6, f__e1 = 7;

static tamed f(struct c c, event(int) done)
{
	struct f__c f = { { .c = c.c, .h = 2, .tame_c = 3, .event = 4, .state_ = 5 }, .f = 6 }, *h = &f;
	f__c tame_c = f;

	twait {
		later(f__body(c.h), mkevent(h->c.h));
		later(tame_c.f, mkevent(c.state_));
	}
	trigger(done, f.c.c + f.c.h + f.c.tame_c + h->c.event + c.state_ + tame_c.c.state_ +
			      f__body(f__function + f__t1 + f__e1));
}

static tamed own_names(event(int) done)
{
	f((struct c){ .c = 10, .h = 20 }, done);
}
ODD(own_names, 10 + 21 + 3 + 4 + 6 + 5 + 19)

static tamed f__c_(event(int) done)
{
	struct own_names__c {
		int x;
	} s = { 3 };
	enum { tame_L1 = 4, f__c__ = 5 };
	typedef int own_names__e1;
	own_names__e1 x = 6;

	twait {
		soon(mkevent());
	}
	if (x == 6)
		goto tame_L2;
	x = 100;
tame_L2:
	twait {
		soon(mkevent());
	}
	trigger(done, s.x + tame_L1 + f__c__ + x);
}
ODD(f__c_, 18)

/* A function whose name is that of another with what is generated. */
static tamed g__body(event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, 1);
}

static tamed g(event(int) done)
{
	int got;

	twait {
		g__body(mkevent(got));
	}
	trigger(done, got + 1);
}
ODD(g, 2)

static tamed tame(event(int) done)
{
	int memset = 1, memcpy = 2, weft_trigger = 3, offsetof = 4, NULL_ = 5;

	twait {
		soon(mkevent());
	}
	trigger(done, memset + memcpy + weft_trigger + offsetof + NULL_);
}
ODD(tame, 15)

static threaded int stack(int tame_c, int c)
{
	int tame_t = 1, t = 2, e = 3, tame_e1 = 4, result = 5;

	twait {
		later(t, mkevent(e));
		later(c, mkevent(tame_e1));
	}
	return tame_c + c + tame_t + t + e + tame_e1 + result;
}

static tamed threads(event(int) done)
{
	int fork = 1, call = 2, got;

	twait {
		tfork(mkevent(got), stack(fork, call));
	}
	trigger(done, got + fork + call);
}
ODD(threads, 1 + 2 + 1 + 2 + 2 + 2 + 5 + 3)
