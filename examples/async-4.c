/* async-4.c - step 4: a time limit for a function that knows of none. */
#include "names.h"

/* As in step 3. */
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

static int lookup_first_within(int ms, struct host *hosts, int count)
{
	int first, late;

	weft_finish (limit, &late) {
		weft_deadline(limit, ms);
		first = lookup_first(hosts, count);
	}
	return first < 0 && late < 0 ? late : first;
}

static int app(void *unused)
{
	struct host good[] = { { .name = "lost.example" }, { .name = "reed.example" } };
	struct host bad[] = { { .name = "lost.example" }, { .name = "lost.more.example" } };
	int first;

	(void)unused;
	first = lookup_first_within(60000, good, 2);
	printf("%s has the address %s\n", good[first].name, good[first].address);
	first = lookup_first_within(20, bad, 2);
	printf("%s\n", strerror(-first));
	show(bad, 2);
	return 0;
}

int main(void)
{
	return run_with_names(app, 1);
}
