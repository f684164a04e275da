/* The words of weft/tame.h that take arguments are names too where no bracket is behind them. */
#include "odd.h"

#include <weft/tame.h>

struct record {
	int event, trigger, rendezvous, mkevent, ton, rv_cancel;
	int (*handler)(int event);
};

static int twice(int event)
{
	return 2 * event;
}

static tamed members(event(int) done)
{
	struct record r = { .event = 1, .trigger = 2, .rendezvous = 3, .handler = twice };
	int event = 4, trigger = 5, ton = 6;

	r.mkevent = event;
	r.ton = ton;
	r.rv_cancel = 0;
	twait {
		later(event, mkevent(r.event));
		later(trigger, mkevent(ton));
	}
	trigger(done, r.event + r.trigger * 10 + r.rendezvous * 100 + ton * 1000 +
			      r.handler(r.mkevent) * 10000 + r.ton * 100000);
}
ODD(members, 4 + 20 + 300 + 5000 + 80000 + 600000)

static tamed parameters(int event, int rendezvous, event(int) trigger)
{
	rendezvous(int) mkevent;
	int id;

	later(event, mkevent(mkevent, 5, rendezvous));
	twait(mkevent, id);
	trigger(trigger, rendezvous * 10 + id);
}

static tamed as_parameters(event(int) done)
{
	parameters(3, 4, done);
}
ODD(as_parameters, 35)

struct event {
	struct event *event;
	int n;
};
typedef struct event event_t;
enum rendezvous { NO_TRIGGER, trigger_none };

static tamed tags(event(int) done)
{
	struct event a = { NULL, 3 }, b = { .event = &a };
	enum rendezvous rendezvous = trigger_none;
	event_t *event = &b;

	twait {
		later(rendezvous, mkevent(event->n));
	}
	goto trigger;
trigger:
	trigger(done, event->event->n * 10 + event->n);
}
ODD(tags, 31)
