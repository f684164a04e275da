/* async-5.c - step 5: the first error ends all, what must be done is done all the same, and
 * computing is done in parallel. */
#include "names.h"

static int journal[2]; /* a pipe: somebody else reads it */

static void write_down(const struct host *host)
{
	char line[128];
	int n = snprintf(line, sizeof line, "%s: %s\n", host->name, outcome(host));

	weft_write_all(journal[1], line, (size_t)n);
}

/* Takes long, and waits for nothing. */
static int score(const char *address)
{
	unsigned sum = 0;

	for (int round = 0; round < 20000; round++)
		for (const char *c = address; *c != '\0'; c++)
			sum = sum * 31 + (unsigned char)*c;
	return (int)(sum % 1000);
}

/* Adds up the scores of all, or returns the first error. */
static int score_all(struct host *hosts, int count, int *total)
{
	weft_color here = weft_color_current();
	int rc;

	weft_finish (all, &rc) {
		for (int i = 0; i < count; i++) {
			weft_async_own (i) {
				int points;

				hosts[i].rc = lookup(&hosts[i]);
				if (hosts[i].rc == 0) {
					weft_hop(weft_color_new()); /* beside the others */
					points = score(hosts[i].address);
					weft_hop(here); /* one at a time again */
					*total += points;
				} else {
					weft_shield
					{
						write_down(&hosts[i]);
					}
					weft_fail(all, hosts[i].rc);
				}
			};
		}
	}
	return rc;
}

static int app(void *unused)
{
	struct host good[] = { { .name = "loom.example" }, { .name = "warp.example" } };
	struct host bad[] = { { .name = "lost.example" }, { .name = "nowhere.example" } };
	char text[256];
	int total = 0;
	ssize_t n;

	(void)unused;
	if (weft_pipe(journal) < 0)
		return -1;
	printf("good: %d\n", score_all(good, 2, &total));
	printf("%d points\n", total);
	printf("bad: %s\n", strerror(-score_all(bad, 2, &total)));
	weft_close(journal[1]);
	while ((n = weft_read(journal[0], text, sizeof text)) > 0)
		printf("journal: %.*s", (int)n, text);
	return weft_close(journal[0]);
}

int main(void)
{
	return run_with_names(app, 1);
}
