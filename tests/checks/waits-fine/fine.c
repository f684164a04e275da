/* fine.c - a program of which weft-check has nothing to say: what may wait does so elsewhere, and
 * what looks as if it might does not.
 */
#include <string.h>

#include "fine.h"

typedef int action(int value);

int unknown(int value);

static weft_mutex mutex = WEFT_MUTEX_INIT;
static weft_cond cond = WEFT_COND_INIT;
static int total;

static int step(int value)
{
	return value + 1;
}

static int back(int value)
{
	return value - 1;
}

static int slowly(int value)
{
	return weft_sleep((uint64_t)value);
}

static action *const table[] = { step, [1] = back };
static action *const slow_table[] = { slowly };

static action *choose(int value)
{
	return value > 3 ? step : back;
}

/* Calls itself, and one that does not wait by a member, a variable, a parameter, a result and a
 * table. */
static WEFT_NO_WAIT int pointers(struct source *s, action *given, int value)
{
	action *mine = step;

	if (value == 0)
		return s->next(s);
	if (value > 10)
		mine = back;
	total += mine(value) + given(value) + choose(value)(value) + table[value % 2](value);
	return pointers(s, given, value - 1) + (int)sizeof(slowly(value));
}

static int thread(void *arg)
{
	struct source *s = arg;

	return s->fetch(s) + slow_table[0](3) + pointers(s, back, 3);
}

/* The thread that this function starts waits; the function itself does not. */
static WEFT_NO_WAIT int starts(struct source *s)
{
	weft_event event = { 0 };

	if (weft_mutex_trylock(&mutex) == 0)
		weft_mutex_unlock(&mutex);
	weft_cond_signal(&cond);
	weft_cancelled();
	(void)event;
	return weft_go(thread, s) + elsewhere(1) + unknown(2);
}

/* Every block is left as it should be, and what is behind it waits. */
static int blocks(struct source *s, int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++) {
		WEFT_ATOMIC
		{
			if (i == 3)
				continue;
			if (i == 5)
				break;
			if (i == 7)
				return sum;
			sum += pointers(s, step, i);
		}
		weft_mutex_lock(&mutex);
		if (sum > 3)
			WEFT_ATOMIC
			{
				sum = starts(s);
			}
		else
			slowly(sum);
		weft_mutex_unlock(&mutex);
	}
	return sum;
}

static int add(int value)
{
	return total += value;
}

static int app(void *arg)
{
	struct source s;
	int result = 0;

	(void)arg;
	source_init(&s, 0);
	weft_finish (all, &result) {
		weft_go(thread, &s);
	}
	return each(&s, add) + each(&s, step) + blocks(&s, 3);
}

int main(void)
{
	return weft_run(app, NULL, NULL);
}
