/* tame-2-parallel.tame.c - step 2: all names are asked for before the first answer comes. The
 * server waits for three questions before it answers. */
#include "names.h"

#include <weft/tame.h>
#include <weft/tame_events.h>

static tamed multidns(const char *const name[], struct in_addr address[], int count, event() done)
{
	twait {
		for (int i = 0; i < count; i++)
			weft_resolve_ev(name[i], mkevent(address[i]));
	}
	trigger(done);
}

static threaded int app(void *unused)
{
	static const char *const name[] = { "loom.example", "warp.example", "reed.example" };
	struct in_addr address[3];

	(void)unused;
	twait {
		multidns(name, address, 3, mkevent());
	}
	show_addresses(name, address, 3);
	return 0;
}

int main(void)
{
	return run_with_names(app, 3);
}
