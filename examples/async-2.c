/* async-2.c - step 2: all names are asked for before the first answer comes. The server
 * waits for three questions before it answers. */
#include "names.h"

static void lookup_all(struct host *hosts, int count)
{
	weft_finish (all) {
		for (int i = 0; i < count; i++) {
			weft_async_own (i) {
				hosts[i].rc = lookup(&hosts[i]);
			};
		}
	}
}

static int app(void *unused)
{
	struct host hosts[] = { { .name = "loom.example" },
				{ .name = "warp.example" },
				{ .name = "reed.example" } };

	(void)unused;
	lookup_all(hosts, 3);
	show(hosts, 3);
	return 0;
}

int main(void)
{
	return run_with_names(app, 3);
}
