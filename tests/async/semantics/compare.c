/* Compares Weft with the semantics, program by program. */
#include "async/semantics/compare.h"

#include <string.h>

#include "harness/test.h"

enum {
	SIZE = 22,
	MOST_SHOWN = 8,
};

void comparison_init(struct comparison *c, question *holds, unsigned manners, enum seeded_bug bug)
{
	memset(c, 0, sizeof *c);
	c->holds = holds;
	c->manners = manners;
	c->schedules = 2;
	c->bug = bug;
	c->in = interpreter_new();
	c->other = interpreter_new();
	CHECK(c->in != NULL && c->other != NULL);
}

void comparison_fini(struct comparison *c)
{
	interpreter_free(c->in);
	interpreter_free(c->other);
}

void comparison_give_up(struct comparison *c)
{
	channels_free(c->channel);
}

/* One of the manners there are to choose from. */
static enum manner choose_manner(unsigned manners, uint64_t *random)
{
	for (;;) {
		unsigned m = (unsigned)(test_random(random) % MANNERS);

		if (manners & (1u << m))
			return (enum manner)m;
	}
}

/* Runs a program once; false if something was wrong with that already. */
static bool run_once(struct comparison *c, const struct program *p, uint64_t seed)
{
	struct execution e = { p, c->manner, c->bug, seed, c->beside, c->channel };

	channels_new(c->channel, p->capacity);
	c->p = *p;
	c->seed = seed;
	c->running = true;
	c->wrong = execute(&e, &c->outcome);
	c->running = false;
	channels_free(c->channel);
	return c->wrong == NULL;
}

bool outcomes_are_allowed(struct comparison *c, const struct program *p, uint64_t seed)
{
	if (interpret(c->in, p, manner_rules(c->manner)) < 0) {
		c->too_large++;
		return true;
	}
	for (int i = 0; i < c->schedules; i++) {
		bool known = c->known != 0 && i % 2 == 0;

		if (!run_once(c, p, known ? c->known : test_random(&seed)) ||
		    !interpreter_allows(c->in, &c->outcome))
			return false;
	}
	return true;
}

static void change_all(struct program *to, const struct program *from, unsigned kinds,
		       enum change how)
{
	bool marked[MAX_COMMANDS] = { false };

	for (int id = 1; id < from->count; id++)
		marked[id] = kinds >> from->command[id].kind & 1;
	program_change(to, from, marked, how);
}

/* Whether the semantics allow the same for both programs. */
static bool same_outcomes(struct comparison *c, const struct program *p, const struct program *q)
{
	int n = interpret(c->in, p, manner_rules(c->manner));
	int m = interpret(c->other, q, manner_rules(c->manner));

	if (n < 0 || m < 0) {
		c->too_large++;
		return true;
	}
	c->p = *p;
	c->wrong = "the semantics allow more, or less, without it";
	if (n != m)
		return false;
	for (int i = 0; i < n; i++)
		if (!interpreter_allows(c->other, &interpreter_outcomes(c->in)[i]))
			return false;
	return true;
}

/* Both programs allow the same, so what Weft ends with must be allowed for either. */
static bool elides(struct comparison *c, const struct program *p, const struct program *q,
		   uint64_t seed)
{
	if (!same_outcomes(c, p, q))
		return false;
	return outcomes_are_allowed(c, p, seed) && outcomes_are_allowed(c, q, seed);
}

bool async_can_be_elided(struct comparison *c, const struct program *p, uint64_t seed)
{
	struct program still, elided;

	change_all(&still, p, 1u << SEND | 1u << RECV, DELETE);
	change_all(&elided, &still, 1u << ASYNC, TO_BODY);
	return elides(c, &still, &elided, seed);
}

bool cancel_can_be_elided(struct comparison *c, const struct program *p, uint64_t seed)
{
	struct program plain, elided;

	change_all(&plain, p, 1u << SEND | 1u << RECV, PLAIN);
	change_all(&elided, &plain, 1u << CANCEL, DELETE);
	return elides(c, &plain, &elided, seed);
}

bool compare(struct comparison *c, uint64_t seed)
{
	uint64_t random = seed;
	struct program p;

	/* Bugs of other things are found sooner without. */
	program_make(&p, test_random(&random), SIZE, c->bug == NO_BUG || c->bug == GIVES_UP);
	c->manner = choose_manner(c->manners, &random);
	c->compared++;
	return c->holds(c, &p, random);
}

void comparison_print(FILE *f, const struct comparison *c)
{
	int n = interpret(c->in, &c->p, manner_rules(c->manner));

	program_print(f, &c->p);
	fprintf(f, "Weft, %s, schedule %#llx:\n    ", manner_name(c->manner),
		(unsigned long long)c->seed);
	if (c->running)
		fputs("does not end, and should\n", f);
	else
		outcome_print(f, &c->outcome);
	if (c->wrong != NULL)
		fprintf(f, "but: %s\n", c->wrong);
	fputs("The semantics allow:\n", f);
	for (int i = 0; i < n && i < MOST_SHOWN; i++) {
		fputs("    ", f);
		outcome_print(f, &interpreter_outcomes(c->in)[i]);
	}
	if (n > MOST_SHOWN)
		fprintf(f, "    and %d more\n", n - MOST_SHOWN);
}
