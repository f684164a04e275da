/* tame-5-lock.tame.c - step 5: what must not change from one side of a wait to the other is
 * locked. Three functions each read a balance, look something up, and write it back. */
#include "names.h"

#include <weft/tame.h>
#include <weft/tame_events.h>
#include <weft/tame_lock.h>

static weft_tame_lock lock;
static int balance;

static tamed deposit(const char *bank, int amount, event() done)
{
	struct in_addr address;
	int before;

	twait {
		weft_lock_ev(&lock, mkevent());
	}
	before = balance;
	twait {
		weft_resolve_ev(bank, mkevent(address));
	}
	if (address.s_addr != 0)
		balance = before + amount;
	weft_unlock(&lock);
	trigger(done);
}

static tamed look(int *seen, event() done)
{
	twait {
		weft_lock_shared_ev(&lock, mkevent());
	}
	*seen = balance;
	weft_unlock(&lock);
	trigger(done);
}

static threaded int app(void *unused)
{
	int seen[2];

	(void)unused;
	twait {
		deposit("loom.example", 10, mkevent());
		deposit("warp.example", 20, mkevent());
		look(&seen[0], mkevent());
		deposit("reed.example", 30, mkevent());
		look(&seen[1], mkevent());
	}
	printf("balance %d, seen %d and %d\n", balance, seen[0], seen[1]);
	return 0;
}

int main(void)
{
	return run_with_names(app, 1);
}
