/* tame-6-broken.tame.c - step 6: a function forgets to wait. weft-tame warns of it when it
 * translates this file; here is what the runtime says. */
#include "names.h"

#include <weft/tame.h>
#include <weft/tame_events.h>

static tamed broken(const char *name)
{
	struct in_addr address;
	rendezvous() r;

	weft_resolve_ev(name, mkevent(r, address));
	/* Whoops: no twait(r) */
}

static void print_report(enum weft_report_kind kind, const char *text, void *unused)
{
	(void)kind, (void)unused;
	puts(text);
}

static int app(void *unused)
{
	(void)unused;
	weft_on_report(print_report, NULL);
	broken("loom.example");
	weft_on_report(NULL, NULL);
	return 0;
}

int main(void)
{
	return run_with_names(app, 1);
}
