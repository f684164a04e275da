/* threads.c - threads: start, join, and hop to where the data is.
 *
 * Threads of the first color share the ledger, without a lock. Each hops to a color
 * of its own for the heavy part, on any core, and back with the result. */
#include <stdio.h>

#include <weft/weft.h>

enum { THREADS = 8 };

static struct {
	int entries, sum;
} ledger; /* WEFT_MAIN's */

static int count_primes(int below)
{
	int count = 0;

	for (int n = 2, d; n < below; n++) {
		for (d = 2; d * d <= n && n % d != 0;)
			d++;
		count += d * d > n;
	}
	return count;
}

static int account(void *arg)
{
	int below = (int)(intptr_t)arg, primes;

	weft_hop(weft_color_new()); /* beside the others */
	primes = count_primes(below);
	weft_hop(WEFT_MAIN); /* one at a time again */
	ledger.entries++;
	ledger.sum += primes;
	return primes;
}

static int app(void *unused)
{
	weft_thread *threads[THREADS];
	int rc, primes;

	(void)unused;
	for (int i = 0; i < THREADS; i++) {
		rc = weft_thread_start(&threads[i], NULL, account, (void *)(1000 * (i + 1L)));
		if (rc < 0)
			return rc;
	}
	for (int i = 0; i < THREADS; i++)
		if (weft_join(threads[i], &primes) == 0)
			printf("%d primes below %d\n", primes, 1000 * (i + 1));
	printf("%d entries, sum %d\n", ledger.entries, ledger.sum);
	return 0;
}

int main(void)
{
	return weft_run(app, NULL, NULL) < 0;
}
