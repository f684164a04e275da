/* bank.c - a program with five mistakes: tests/checks/weft-check expects weft-check to find these
 * and no others. */
#include "journal.h"

static int balance[100];
static weft_mutex ledger = WEFT_MUTEX_INIT;

/* 1: directly. */
static WEFT_NO_WAIT int take(int account, int amount)
{
	if (balance[account] < amount)
		weft_sleep(WEFT_MS);
	return balance[account] -= amount;
}

/* 2: in another file. */
static WEFT_NO_WAIT int move(struct journal *j, int from, int to)
{
	balance[to] += balance[from];
	return journal_note(j, from, to);
}

/* 3: through a member of a struct. */
static WEFT_NO_WAIT int tell(struct journal *j)
{
	return j->write(j, "told\n");
}

/* 4: in a block in a loop. What is behind the block may wait. */
static int sum_up(int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++) {
		WEFT_ATOMIC
		{
			if (balance[i] < 0)
				break;
			sum += balance[i];
			if (sum > 1000)
				weft_mutex_lock(&ledger);
		}
		weft_mutex_lock(&ledger);
	}
	return sum;
}

static int app(void *arg)
{
	struct journal j;

	(void)arg;
	if (journal_open(&j, "bank.journal", false) < 0)
		return 1;
	journal_write(&j, "begun\n");
	return take(1, 2) + move(&j, 1, 2) + tell(&j) + sum_up(100);
}

int main(void)
{
	return weft_run(app, NULL, NULL);
}
