/* tame-3-windowed.tame.c - step 3: at most two names are asked for at a time. The server waits
 * for two questions before it answers. */
#include "names.h"

#include <weft/tame.h>
#include <weft/tame_events.h>

enum { WINDOW = 2 };

static tamed multidns(const char *const name[], struct in_addr address[], int count, event() done)
{
	int sent = 0, received = 0;
	rendezvous() r;

	while (received < count) {
		if (sent < count && sent - received < WINDOW) {
			weft_resolve_ev(name[sent], mkevent(r, address[sent]));
			sent++;
		} else {
			twait(r);
			received++;
		}
	}
	trigger(done);
}

static threaded int app(void *unused)
{
	static const char *const name[] = { "loom.example", "nowhere.example", "warp.example",
					    "reed.example" };
	struct in_addr address[4];

	(void)unused;
	twait {
		multidns(name, address, 4, mkevent());
	}
	show_addresses(name, address, 4);
	return 0;
}

int main(void)
{
	return run_with_names(app, 2);
}
