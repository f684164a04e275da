/* facts.c - what is known on a way through a function: conditions that stand in it more than once, and
 * variables that were set to a constant. So `if (ok) ... if (!ok)` has two ways and not four.
 *
 * Facts are only used to rule ways out. One that is wrong, because a call has changed it, hides a
 * mistake, and never invents one.
 */
#include <string.h>

#include "paths.h"

enum { MOST_FACTS = 64 };

static const char *facts[MOST_FACTS];
static unsigned uses[MOST_FACTS];
static unsigned fact_count;

static int number_of(const char *atom)
{
	for (unsigned i = 0; i < fact_count; i++)
		if (strcmp(facts[i], atom) == 0)
			return (int)i;
	return -1;
}

static void add_fact(const char *atom)
{
	int number = number_of(atom);

	if (number >= 0) {
		uses[number]++;
	} else if (fact_count < MOST_FACTS) {
		uses[fact_count] = 1;
		facts[fact_count++] = atom;
	}
}

/* A condition and the parts of it that are joined by && and ||. */
static void add_atoms(struct condition c)
{
	static const char *const joins[] = { "||", "&&" };
	bool negated = false;

	c = tame_bare(c.first, c.last);
	if (tame_is_negated(c)) {
		add_atoms((struct condition){ c.first + 1, c.last });
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		size_t at = tame_find_operator(c, joins[i]);

		if (at == 0)
			continue;
		add_fact(tame_join(c.first, c.last));
		add_atoms((struct condition){ c.first, at - 1 });
		add_atoms((struct condition){ at + 1, c.last });
		return;
	}
	if (c.first <= c.last)
		add_fact(tame_atom(c, &negated));
}

/* A variable that gets a constant, at its `=`. */
static bool is_flag(size_t i)
{
	return tame_is(i, "=") &&
	       (tame_is(i + 2, ";") || tame_is(i + 2, ",") || tame_is(i + 2, ")")) &&
	       tokens[i - 1].kind == 'i' &&
	       (tokens[i + 1].kind == 'n' || tame_is(i + 1, "true") || tame_is(i + 1, "false"));
}

/* Those that matter stand there twice: others tell nothing about each other. */
static void sift(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < fact_count; i++)
		if (uses[i] > 1)
			facts[kept++] = facts[i];
	fact_count = kept;
}

/* Of `case value:` in a `switch (on)`. */
static const char *atom_of_case(struct range on, size_t value)
{
	return tame_format("%s== %s", tame_join(on.begin, on.end),
			   tame_join(value, tame_until(value, ":") - 1));
}

void tame_find_facts(size_t first, size_t last)
{
	struct range on = { 1, 0 };

	fact_count = 0;
	for (size_t i = first; i < last; i++) {
		size_t close = i + 1;

		if (tame_is(i, "switch"))
			on = (struct range){ i + 2, tame_close(i + 1) - 1 };
		if (tame_is(i, "case"))
			add_fact(atom_of_case(on, i + 1));
		if (is_flag(i))
			add_fact(tame_join(i - 1, i - 1));
		if ((!tame_is(i, "if") && !tame_is(i, "while") && !tame_is(i, "for")) ||
		    !tame_is(i + 1, "("))
			continue;
		close = tame_close(i + 1);
		if (tame_is(i, "for")) {
			size_t from = tame_until(i + 2, ";") + 1;

			add_atoms((struct condition){ from, tame_until(from, ";") - 1 });
		} else {
			add_atoms((struct condition){ i + 2, close - 1 });
		}
	}
	sift();
}

static int opposite(int decided)
{
	return decided < 0 ? decided : !decided;
}

static int recall(const struct path *p, int number)
{
	if (number < 0 || (p->known >> number & 1) == 0)
		return -1;
	return (int)(p->value >> number & 1);
}

int tame_decide(const struct path *p, size_t first, size_t last)
{
	static const char *const joins[] = { "||", "&&" };
	struct condition c = tame_bare(first, last);
	bool negated = false;
	int number;

	if (tame_is_negated(c))
		return opposite(tame_decide(p, c.first + 1, c.last));
	for (int i = 0; i < 2; i++) {
		size_t at = tame_find_operator(c, joins[i]);
		int left, right, strong = i == 0;

		if (at == 0)
			continue;
		left = recall(p, number_of(tame_join(c.first, c.last)));
		if (left >= 0)
			return left;
		left = tame_decide(p, c.first, at - 1);
		right = tame_decide(p, at + 1, c.last);
		if (left == strong || right == strong)
			return strong;
		return left == right ? left : -1;
	}
	if (c.first == c.last && (tame_is(c.first, "1") || tame_is(c.first, "true")))
		return 1;
	if (c.first == c.last && tame_is_zero(c.first, c.last))
		return 0;
	number = recall(p, number_of(tame_atom(c, &negated)));
	return negated ? opposite(number) : number;
}

static void set(struct path *p, int number, bool value)
{
	uint64_t bit = number < 0 ? 0 : UINT64_C(1) << number;

	p->known |= bit;
	p->value = value ? p->value | bit : p->value & ~bit;
}

void tame_assume(struct path *p, size_t first, size_t last, bool value)
{
	static const char *const joins[] = { "||", "&&" };
	struct condition c = tame_bare(first, last);
	bool negated = false;
	int number;

	if (tame_is_negated(c)) {
		tame_assume(p, c.first + 1, c.last, !value);
		return;
	}
	for (int i = 0; i < 2; i++) {
		size_t at = tame_find_operator(c, joins[i]);

		if (at == 0)
			continue;
		set(p, number_of(tame_join(c.first, c.last)), value);
		/* a true && is true on both sides, a false || false on both */
		if (value == (i == 1)) {
			tame_assume(p, c.first, at - 1, value);
			tame_assume(p, at + 1, c.last, value);
		}
		return;
	}
	number = number_of(tame_atom(c, &negated));
	set(p, number, value != negated);
}

/* Whether a fact names a variable or member. */
static bool names(const char *fact, size_t token)
{
	const char *name = tame_format(" %s ", tame_spelling(token));

	return strstr(tame_format(" %s", fact), name) != NULL;
}

static bool changes(size_t i)
{
	static const char *const behind[] = { "=",  "+=", "-=",  "*=",  "/=", "%=", "&=",
					      "|=", "^=", "<<=", ">>=", "++", "--" };

	if (tokens[i].kind != 'i')
		return false;
	for (size_t k = 0; k < sizeof behind / sizeof *behind; k++)
		if (tame_is(i + 1, behind[k]))
			return true;
	return i > 0 && (tame_is(i - 1, "++") || tame_is(i - 1, "--") || tame_is(i - 1, "&"));
}

void tame_forget(struct path *p, size_t first, size_t last)
{
	for (size_t i = first; i <= last && fact_count > 0; i++) {
		if (changes(i))
			for (unsigned k = 0; k < fact_count; k++)
				if (names(facts[k], i))
					p->known &= ~(UINT64_C(1) << k);
		if (is_flag(i))
			set(p, number_of(tame_join(i - 1, i - 1)), !tame_is_zero(i + 1, i + 1));
	}
}

/* A way to `case value:`, or to `default` if there is no value: no other value is right then. */
bool tame_enter_case(struct path *p, struct range on, size_t value)
{
	const char *begin = tame_format("%s== ", tame_join(on.begin, on.end));
	int number = value == 0 ? -1 : number_of(atom_of_case(on, value));

	for (int i = 0; i < (int)fact_count; i++) {
		if (strncmp(facts[i], begin, strlen(begin)) != 0)
			continue;
		if (recall(p, i) == (i != number))
			return false;
		set(p, i, i == number);
	}
	return true;
}
