/* async-3.c - step 3: the first answer is enough, and the other lookups are given up. */
#include "names.h"

/* Returns which one. */
static int lookup_first(struct host *hosts, int count)
{
	int first = -ENOENT;

	weft_finish () {
		for (int i = 0; i < count; i++) {
			weft_async_own (i) {
				hosts[i].rc = lookup(&hosts[i]);
				if (hosts[i].rc == 0 && weft_cancel() == 0)
					first = i;
			};
		}
	}
	return first;
}

static int app(void *unused)
{
	struct host hosts[] = { { .name = "lost.example" },
				{ .name = "warp.example" },
				{ .name = "lost.more.example" } };
	int first = lookup_first(hosts, 3);

	(void)unused;
	show(hosts, 3);
	printf("number %d was first\n", first);
	return 0;
}

int main(void)
{
	return run_with_names(app, 1);
}
