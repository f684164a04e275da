/* async-1.c - from synchronous code to async, step 1: names are looked up one after the
 * other. docs/guide/async.md explains the five steps. */
#include "names.h"

static void lookup_all(struct host *hosts, int count)
{
	for (int i = 0; i < count; i++) {
		hosts[i].rc = lookup(&hosts[i]);
	}
}

static int app(void *unused)
{
	struct host hosts[] = { { .name = "loom.example" },
				{ .name = "nowhere.example" },
				{ .name = "reed.example" } };

	(void)unused;
	lookup_all(hosts, 3);
	show(hosts, 3);
	return 0;
}

int main(void)
{
	return run_with_names(app, 1);
}
