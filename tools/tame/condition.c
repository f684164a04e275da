/* condition.c - one name for a condition, whichever way round it is written: `x`, `!x` and `x != 0` have the
 * same, as have `a > b` and `a <= b`.
 */
#include <string.h>

#include "paths.h"

/* Without brackets around it. */
struct condition tame_bare(size_t first, size_t last)
{
	while (first < last && tame_is(first, "(") && tame_close(first) == last)
		first++, last--;
	return (struct condition){ first, last };
}

/* !(a && b): what is in the brackets. */
bool tame_is_negated(struct condition c)
{
	return tame_is(c.first, "!") && tame_is(c.first + 1, "(") &&
	       tame_close(c.first + 1) == c.last;
}

/* The last of an operator outside of brackets; 0: there is none. */
size_t tame_find_operator(struct condition c, const char *operator)
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

const char *tame_join(size_t first, size_t last)
{
	struct text t = { 0 };

	for (size_t i = first; i <= last; i++)
		tame_add(&t, expanded.text + tokens[i].offset, tokens[i].size), tame_put(&t, " ");
	return t.at == NULL ? "" : t.at;
}

bool tame_is_zero(size_t first, size_t last)
{
	if (first == last)
		return tame_is(first, "0") || tame_is(first, "false") || tame_is(first, "NULL");
	return strcmp(tame_join(first, last), "( ( void * ) 0 ) ") == 0;
}

static const char *compare(struct condition c, size_t at, bool *negated)
{
	static const char *const forms[][2] = { { "!=", "==" }, { "<=", ">" }, { ">=", "<" } };
	const char *operator= tame_spelling(at);

	for (size_t i = 0; i < 3; i++)
		if (strcmp(operator, forms[i][0]) == 0) {
			operator= forms[i][1];
			*negated = !*negated;
		}
	if (strcmp(operator, "==") == 0 && tame_is_zero(at + 1, c.last)) {
		*negated = !*negated;
		return tame_atom(tame_bare(c.first, at - 1), negated);
	}
	return tame_format("%s%s %s", tame_join(c.first, at - 1), operator,
			   tame_join(at + 1, c.last));
}

/* How a condition is called, whichever way round it is written. */
const char *tame_atom(struct condition c, bool *negated)
{
	static const char *const operators[] = { "==", "!=", "<", ">", "<=", ">=" };

	if (tame_is(c.first, "!") && tame_find_operator(c, "==") == 0 &&
	    tame_find_operator(c, "!=") == 0) {
		*negated = !*negated;
		return tame_atom(tame_bare(c.first + 1, c.last), negated);
	}
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t at = tame_find_operator(c, operators[i]);

		if (at != 0)
			return compare(c, at, negated);
	}
	return tame_join(c.first, c.last);
}
