/* readers.c - shared events: many readers at a time, or one writer.
 *
 * The two halves of a pair are always equal, except in the middle of a write.
 * Readers are shared events of the pair's color: they run beside each other and
 * never beside a writer, which is an ordinary event.
 */
#include <stdatomic.h>
#include <stdio.h>

#include <weft/weft.h>

enum { ROUNDS = 100, READERS = 4 };

static struct {
	int left, right;
} pair;
static atomic_int reads, torn; /* readers run in parallel: these must be atomic */

static void writer(void *arg)
{
	(void)arg;
	pair.left++;
	pair.right++;
}

static void reader(void *arg)
{
	(void)arg;
	atomic_fetch_add(&reads, 1);
	if (pair.left != pair.right)
		atomic_fetch_add(&torn, 1);
}

static int app(void *arg)
{
	weft_color color = weft_color_new();

	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		weft_post(color, writer, NULL);
		for (int k = 0; k < READERS; k++)
			weft_post_shared(color, reader, NULL);
	}
	return 0;
}

int main(void)
{
	int rc = weft_run(app, NULL, NULL);

	printf("%d writes, %d reads, %d torn\n", pair.left, atomic_load(&reads),
	       atomic_load(&torn));
	return rc < 0;
}
