/* tame-1-sequential.tame.c - waiting without a stack, step 1: names are looked up one after
 * the other. docs/guide/tame.md explains the six steps. */
#include "names.h"

#include <weft/tame.h>
#include <weft/tame_events.h>

static tamed multidns(const char *const name[], struct in_addr address[], int count, event() done)
{
	for (int i = 0; i < count; i++) {
		twait {
			weft_resolve_ev(name[i], mkevent(address[i]));
		}
	}
	trigger(done);
}

static threaded int app(void *unused)
{
	static const char *const name[] = { "loom.example", "nowhere.example", "reed.example" };
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
	return run_with_names(app, 1);
}
