/* channels.c - channels: a pipeline of threads, and a select.
 *
 * A thread makes numbers, workers of different colors square them in parallel, and
 * the main thread adds up what comes back, until all of them are done. Closing a
 * channel is how each stage tells the next that nothing more comes.
 */
#include <stdio.h>

#include <weft/weft.h>

enum { NUMBERS = 100, WORKERS = 4 };

WEFT_CHANNEL(ints, int);

static ints *numbers, *squares, *done;

static int make_numbers(void *arg)
{
	(void)arg;
	for (int i = 1; i <= NUMBERS; i++)
		ints_send(numbers, i);
	return ints_close(numbers);
}

static int square_them(void *arg)
{
	int n, count = 0;

	(void)arg;
	while (ints_receive(numbers, &n) == 0) {
		ints_send(squares, n * n);
		count++;
	}
	return ints_send(done, count);
}

static int app(void *arg)
{
	int square, count, left = WORKERS, sum = 0, seen = 0, total = 0;
	weft_case cases[2];

	(void)arg;
	numbers = ints_new(8);
	squares = ints_new(0); /* from hand to hand */
	done = ints_new(WEFT_UNBOUNDED);
	if (numbers == NULL || squares == NULL || done == NULL)
		return -1;

	weft_go_on(weft_color_new(), make_numbers, NULL);
	for (int i = 0; i < WORKERS; i++)
		weft_go_on(weft_color_new(), square_them, NULL);

	cases[0] = ints_case_receive(squares, &square);
	cases[1] = ints_case_receive(done, &count);
	while (left > 0) {
		if (weft_select(cases, 2) == 0) {
			sum += square;
			seen++;
		} else {
			total += count;
			left--;
		}
	}
	printf("%d squares by %d workers, %d in all\n", seen, WORKERS, sum);
	printf("the workers say %d; nobody else comes: %s\n", total,
	       weft_select_until(cases, 2, weft_now() + WEFT_MS) < 0 ? "in time" : "?");
	return ints_free(numbers) + ints_free(squares) + ints_free(done);
}

int main(void)
{
	return weft_run(app, NULL, NULL) < 0;
}
