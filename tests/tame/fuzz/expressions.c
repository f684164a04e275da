/* expressions.c - expressions of type int for random programs, without side effects. */
#include <string.h>

#include "generate.h"

const char *cast_to(enum kind kind, const char *e)
{
	switch (kind) {
	case SHORT:
		return text("(short)(%s)", e);
	case CHAR:
		return text("(char)((%s) & 63)", e);
	case UNSIGNED:
		return text("(unsigned)(%s)", e);
	case LONG:
		return text("(long)(%s) * 3", e);
	case DOUBLE:
		return text("(%s) %% 512 + 0.5", e);
	default:
		return e;
	}
}

/* A name that is pasted together, or is text too. */
static const char *spelled(const char *name)
{
	unsigned at = 1 + below((unsigned)strlen(name));

	return one_in(2) ? text("NAMED(%s)", name)
			 : text("JOIN(%.*s, %s)", (int)at, name, name + at);
}

static const char *value_of(int variable)
{
	const struct variable *v = &w.variables[variable];

	switch (v->kind) {
	case UNSIGNED:
		return text("(int)(%s & 0xffff)", v->name);
	case LONG:
		return text("(int)(%s %% 65536)", v->name);
	case DOUBLE:
		return text("(int)(%s * 4)", v->name);
	case PAIR:
		return text(one_in(3) ? "GET(%s, b)" : one_in(2) ? "%s.b" : "(&%s)->a", v->name);
	case ARRAY:
		return text(one_in(2) ? "%s[%u]" : "*(%s + %u)", v->name, below(ELEMENTS));
	case INT:
		return one_in(6) && v->name[0] != '@' ? spelled(v->name) : v->name;
	default:
		return place_in(variable);
	}
}

static const char *atom(void)
{
	int variable = pick((1u << KINDS) - 1, false);

	if (variable < 0 || one_in(4))
		return one_in(3) ? "h" : text("%u", below(100));
	return value_of(variable);
}

/* What only names a variable. */
static const char *about(void)
{
	int variable = pick((1u << POINTER) - 1, false);
	const char *name;

	if (variable < 0 || w.variables[variable].nowhere)
		return "(int)sizeof h";
	name = w.variables[variable].name;
	switch (below(6)) {
	case 0:
		return text("(int)sizeof %s", name);
	case 4:
	case 5:
		return text("QUALIFIERS(%s)", name);
	case 1:
		return text("(int)sizeof(__typeof__(%s)[2])", name);
	case 2:
		return text("_Generic(%s, short: 2, int: 3, double: 4, default: 5)", name);
	default:
		return text("((char *)(&%s + 1) - (char *)&%s > 2)", name, name);
	}
}

/* Ways to make one expression of two. */
static const char *const combined[] = {
	"add(%s, %s)",
	"add(%s, %s)",
	"mul(%s, %s)",
	"mul(%s, %s)",
	"(%s ^ %s)",
	"(%s & ~(%s))",
	"(%s < %s)",
	"MAX(%s, %s)",
	"BOTH(%s, %s)",
	"({ int tmp = %s; add(tmp, %s); })",
	"(((struct pair){ .a = %s, .b = (short)(%s) }).a)",
	"sum((int[]){ %s, %s }, 2)",
	"boxed(%s, %s).list[2]",
	"sum(boxed(%s, %s).list, 4)",
	"MAX(%s, /* , ) */ %s)",
	"(!(%s) || \"h a x\"[%s & 3] == 'a')",
	"(%s ? %s : h)",
};
enum { COMBINED = sizeof combined / sizeof *combined };

const char *expression(int depth)
{
	const char *l;

	if (depth >= 3 || below(5) < 3)
		return atom();
	if (may_direct() && one_in(4))
		return macro_expression(depth);
	if (one_in(COMBINED + 1))
		return about();
	l = expression(depth + 1);
	return text(combined[below(COMBINED)], l, expression(depth + 1));
}
