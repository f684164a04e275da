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

struct condition {
	size_t first, last; /* inclusive */
};

/* Without brackets around it. */
static struct condition bare(size_t first, size_t last)
{
	while (first < last && tame_is(first, "(") && tame_close(first) == last)
		first++, last--;
	return (struct condition){ first, last };
}

/* !(a && b): what is in the brackets. */
static bool is_negated(struct condition c)
{
	return tame_is(c.first, "!") && tame_is(c.first + 1, "(") &&
	       tame_close(c.first + 1) == c.last;
}

/* The last of an operator outside of brackets; 0: there is none. */
static size_t find_operator(struct condition c, const char *operator)
{
	size_t found = 0;
	int depth = 0;

	for (size_t i = c.first; i <= c.last; i++) {
		depth += tame_nesting(&tokens[i]);
		if (depth == 0 && i > c.first && tame_is(i, operator))
			found = i;
	}
	return found;
}

static const char *join(size_t first, size_t last)
{
	struct text t = { 0 };

	for (size_t i = first; i <= last; i++)
		tame_add(&t, expanded.text + tokens[i].offset, tokens[i].size), tame_put(&t, " ");
	return t.at == NULL ? "" : t.at;
}

static bool is_zero(size_t first, size_t last)
{
	if (first == last)
		return tame_is(first, "0") || tame_is(first, "false") || tame_is(first, "NULL");
	return strcmp(join(first, last), "( ( void * ) 0 ) ") == 0;
}

static const char *atom_of(struct condition c, bool *negated);

static const char *compare(struct condition c, size_t at, bool *negated)
{
	static const char *const forms[][2] = { { "!=", "==" }, { "<=", ">" }, { ">=", "<" } };
	const char *operator= tame_spelling(at);

	for (size_t i = 0; i < 3; i++)
		if (strcmp(operator, forms[i][0]) == 0) {
			operator= forms[i][1];
			*negated = !*negated;
		}
	if (strcmp(operator, "==") == 0 && is_zero(at + 1, c.last)) {
		*negated = !*negated;
		return atom_of(bare(c.first, at - 1), negated);
	}
	return tame_format("%s%s %s", join(c.first, at - 1), operator, join(at + 1, c.last));
}

/* How a condition is called, whichever way round it is written. */
static const char *atom_of(struct condition c, bool *negated)
{
	static const char *const operators[] = { "==", "!=", "<", ">", "<=", ">=" };

	if (tame_is(c.first, "!") && find_operator(c, "==") == 0 && find_operator(c, "!=") == 0) {
		*negated = !*negated;
		return atom_of(bare(c.first + 1, c.last), negated);
	}
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t at = find_operator(c, operators[i]);

		if (at != 0)
			return compare(c, at, negated);
	}
	return join(c.first, c.last);
}

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

/* Calls fn for each part of a condition that is joined by && and ||. */
static void add_atoms(struct condition c)
{
	static const char *const joins[] = { "||", "&&" };
	bool negated;

	c = bare(c.first, c.last);
	if (is_negated(c)) {
		add_atoms((struct condition){ c.first + 1, c.last });
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		size_t at = find_operator(c, joins[i]);

		if (at == 0)
			continue;
		add_fact(join(c.first, c.last));
		add_atoms((struct condition){ c.first, at - 1 });
		add_atoms((struct condition){ at + 1, c.last });
		return;
	}
	if (c.first <= c.last)
		add_fact(atom_of(c, &negated));
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

void tame_find_facts(size_t first, size_t last)
{
	fact_count = 0;
	for (size_t i = first; i < last; i++) {
		size_t close = i + 1;

		if (is_flag(i))
			add_fact(join(i - 1, i - 1));
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
	struct condition c = bare(first, last);
	bool negated = false;
	int number;

	if (is_negated(c))
		return opposite(tame_decide(p, c.first + 1, c.last));
	for (int i = 0; i < 2; i++) {
		size_t at = find_operator(c, joins[i]);
		int left, right, strong = i == 0;

		if (at == 0)
			continue;
		left = recall(p, number_of(join(c.first, c.last)));
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
	if (c.first == c.last && is_zero(c.first, c.last))
		return 0;
	number = recall(p, number_of(atom_of(c, &negated)));
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
	struct condition c = bare(first, last);
	bool negated = false;
	int number;

	if (is_negated(c)) {
		tame_assume(p, c.first + 1, c.last, !value);
		return;
	}
	for (int i = 0; i < 2; i++) {
		size_t at = find_operator(c, joins[i]);

		if (at == 0)
			continue;
		set(p, number_of(join(c.first, c.last)), value);
		/* a true && is true on both sides, a false || false on both */
		if (value == (i == 1)) {
			tame_assume(p, c.first, at - 1, value);
			tame_assume(p, at + 1, c.last, value);
		}
		return;
	}
	number = number_of(atom_of(c, &negated));
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
			set(p, number_of(join(i - 1, i - 1)), !is_zero(i + 1, i + 1));
	}
}
