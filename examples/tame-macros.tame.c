/* tame-macros.tame.c - macros in tamed functions mean what they mean in other C, and may hold any of
 * the words: here one that waits, and leaves by goto. docs/guide/tame.md, Building.
 */
#include "names.h"

#include <weft/tame.h>
#include <weft/tame_events.h>

#define ANSWER(call, ...) \
	do { \
		twait { \
			call(__VA_ARGS__, mkevent(address)); \
		} \
		if (address.s_addr == 0) \
			goto none; \
	} while (0)

static tamed both(const char *one, const char *other, event(const char *) done)
{
	struct in_addr address;

	ANSWER(weft_resolve_ev, one);
	ANSWER(weft_resolve_ev, other);
	trigger(done, "both have an address");
	return;
none:
	trigger(done, "one has no address");
}

static threaded int app(void *unused)
{
	const char *first, *second;

	(void)unused;
	twait {
		both("loom.example", "reed.example", mkevent(first));
		both("loom.example", "nowhere.example", mkevent(second));
	}
	printf("loom, reed: %s\nloom, nowhere: %s\n", first, second);
	return 0;
}

int main(void)
{
	return run_with_names(app, 1);
}
