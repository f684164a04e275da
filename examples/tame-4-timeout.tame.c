/* tame-4-timeout.tame.c - step 4: any event gets a deadline. The server says nothing when it is
 * asked for lost.example. */
#include "names.h"

#include <weft/tame.h>
#include <weft/tame_events.h>

static tamed wait_for_either(event(struct in_addr) *base, uint64_t ns,
			     event(bool, struct in_addr) both)
{
	struct in_addr address = { 0 };
	rendezvous(bool) r;
	bool in_time;

	weft_sleep_ev(ns, mkevent(r, false));
	*base = mkevent(r, true, address);
	twait(r, in_time);
	trigger(both, in_time, address);
	rv_cancel(r);
}

/* What is triggered with an address in time triggers `both` with true and the address; if the
 * time is over first, that gets false. */
static event(struct in_addr) add_timeout(uint64_t ns, event(bool, struct in_addr) both)
{
	event(struct in_addr) base;

	wait_for_either(&base, ns, both);
	return base;
}

static tamed show_lookup(const char *name, uint64_t ns, event() done)
{
	struct in_addr address;
	bool in_time;

	twait {
		weft_resolve_ev(name, add_timeout(ns, mkevent(in_time, address)));
	}
	if (in_time)
		show_addresses(&name, &address, 1);
	else
		printf("%s: too late\n", name);
	trigger(done);
}

static threaded int app(void *unused)
{
	(void)unused;
	twait {
		show_lookup("loom.example", 10000000000, mkevent());
	}
	twait {
		show_lookup("lost.example", 20000000, mkevent());
	}
	return 0;
}

int main(void)
{
	return run_with_names(app, 1);
}
