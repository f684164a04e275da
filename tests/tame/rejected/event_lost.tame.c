#include <stdlib.h>

#include <weft/tame.h>

struct store {
	event(int) e;
	int n;
};
static tamed ask(int n, event(int) e);
static bool odd(int n);
static void log_it(int n);
_Noreturn void give_up(const char *why);

void answer(int question, event(int) e)
{
	if (question > 0)
		trigger(e, 1);
} /* warning:1: 'answer' ends here without event 'e', which line 17 uses: trigger it .*'(void)e;' */

tamed returns(int n, event(int) e)
{
	int got;

	if (n < 0)
		return; /* warning:3: 'returns' ends here without event 'e', which line 30 uses */
	twait {
		ask(n, mkevent(got));
	}
	if (odd(got)) {
		trigger(e, got);
		return;
	} else if (got == 2) {
		log_it(got);
	} else {
		ask(got, e);
	}
} /* warning:1: 'returns' ends here without event 'e' */

void in_loop(int n, event(int) e)
{
	for (int i = 0; i < n; i++)
		if (odd(i))
			return; /* warning:4: 'in_loop' ends here without event 'e', which line 44 uses */
	trigger(e, n);
}

void in_case(int n, event(int) e)
{
	switch (n) {
	case 1:
		break;
	case 2:
		trigger(e, 1);
		break;
	default:
		trigger(e, 2);
	}
} /* warning:1: 'in_case' ends here without event 'e', which line 53 uses */

/* Nothing is wrong with these. */

void stores(struct store *s, int n, event(int) e)
{
	if (n > 0)
		s->e = e;
	else
		trigger(e, 1);
}

void means_it(int n, event(int) e)
{
	if (n > 0)
		trigger(e, 1);
	else
		(void)e;
}

void all_cases(int n, event(int) e)
{
	switch (n) {
	case 1:
		trigger(e, 1);
		break;
	case 2:
	default:
		trigger(e, 2);
	}
}

enum color { RED, GREEN };
void of_enum(enum color c, event(int) e)
{
	switch (c) {
	case RED:
		trigger(e, 1);
		break;
	case GREEN:
		trigger(e, 2);
		break;
	}
}

bool tells(int n, event(int) e)
{
	if (n > 0)
		return false;
	trigger(e, 1);
	return true;
}

void ends_all(int n, event(int) e)
{
	if (n == 1)
		exit(1);
	if (n == 2)
		give_up("two");
	trigger(e, 1);
}

void finds(int n, event(int) e)
{
	for (int i = 0; i <= n; i++)
		if (i == n) {
			trigger(e, i);
			return;
		}
}

void jumps(int n, event(int) e)
{
	if (n > 0)
		goto out;
	trigger(e, 1);
out:
	log_it(n);
}

void by_flag(int n, event(int) e)
{
	bool told = false;

	if (n > 0) {
		trigger(e, 1);
		told = true;
	}
	log_it(n);
	if (!told)
		trigger(e, 2);
}

void may_be_none(event() e)
{
	if (e != NULL)
		trigger(e);
}

void repeats(int n, event(int) e)
{
	if (n > 0 && odd(n))
		trigger(e, 1);
	log_it(n);
	if (!(n > 0 && odd(n)))
		trigger(e, 2);
}

tamed refused(event(int) e)
{
	trefused (err) {
		log_it(err);
	}
	trigger(e, 1);
}

void in_two_switches(int n, event(int) e)
{
	switch (n) {
	case 1:
		trigger(e, 1);
		break;
	case 2:
		break;
	default:
		trigger(e, 2);
	}
	if (n == 2)
		trigger(e, 3);
}

void compound(int n, event(int) e)
{
	bool ok = n > 3;

	if (ok && odd(n)) {
		trigger(e, 1);
		return;
	}
	if (!ok || !odd(n))
		log_it(n);
	trigger(e, 2);
}
