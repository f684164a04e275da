/* variables.c - variables of random programs: their scopes, and what is written to them. */
#include <string.h>

#include "generate.h"

/* Few, so that they hide each other; the globals of world.h have the same, and generated code. */
static const char *const names[] = { "a",    "b",      "c",      "x",       "y",  "i",
				     "n",    "e",      "done2",  "value",   "e1", "tame_c",
				     "f__c", "tame_p", "tame_h", "tame_e1", "s1", "v1" };
enum { NAMES = sizeof names / sizeof *names };

void open_scope(void)
{
	w.scope++;
}

void close_scope(void)
{
	while (w.count > 0 && w.variables[w.count - 1].scope == w.scope)
		w.count--;
	w.scope--;
}

bool visible(int variable)
{
	for (int i = variable + 1; i < w.count; i++)
		if (strcmp(w.variables[i].name, w.variables[variable].name) == 0)
			return false;
	return true;
}

static bool in_this_scope(const char *name)
{
	for (int i = 0; i < w.count; i++)
		if (w.variables[i].scope == w.scope && strcmp(w.variables[i].name, name) == 0)
			return true;
	return false;
}

const char *new_name(void)
{
	for (int tries = 0; tries < 4; tries++) {
		const char *name = names[below(NAMES)];

		if (!in_this_scope(name))
			return name;
	}
	return text("v%d", w.count);
}

int declare(const char *name, enum kind kind)
{
	w.variables[w.count] =
		(struct variable){ .name = name, .kind = kind, .scope = w.scope, .target = -1 };
	return w.count++;
}

bool is_free(int variable)
{
	struct variable *v = &w.variables[variable];

	return v->busy == 0 && (v->kind != POINTER || is_free(v->target));
}

void occupy(int variable, int by)
{
	struct variable *v = &w.variables[variable];

	v->busy += by;
	if (v->kind == POINTER)
		occupy(v->target, by);
}

static bool may_write(int variable)
{
	struct variable *v = &w.variables[variable];

	return !v->constant && (v->kind != POINTER || may_write(v->target));
}

int pick(unsigned kinds, bool write)
{
	for (int tries = 0; tries < 8 && w.count > 0; tries++) {
		int i = (int)below((unsigned)w.count);

		if ((kinds >> w.variables[i].kind & 1) && visible(i) && is_free(i) &&
		    (!write || may_write(i)))
			return i;
	}
	return -1;
}

const char *place_in(int variable)
{
	const struct variable *v = &w.variables[variable];

	switch (v->kind) {
	case PAIR:
		return text(one_in(2) ? "%s.a" : "(&%s)->a", v->name);
	case ARRAY:
		return text("%s[%s & %d]", v->name, expression(2), ELEMENTS - 1);
	case POINTER:
		return text(one_in(2) ? "*%s" : "%s[0]", v->name);
	case LOCAL:
		return text("%s.p", v->name);
	default:
		return v->name;
	}
}

void write_assignment(void)
{
	int variable = pick((1u << KINDS) - 1, true);
	const struct variable *v = &w.variables[variable < 0 ? 0 : variable];

	if (variable < 0)
		put("h = mix(h, %s);\n", expression(0));
	else if (v->kind == PAIR && one_in(2))
		put("%s = (struct pair){ .b = (short)(%s), .a = %s };\n", v->name, expression(1),
		    expression(1));
	else if (v->kind == UNSIGNED && one_in(2))
		put("%s += (unsigned)(%s);\n", v->name, expression(1));
	else if (v->kind <= DOUBLE)
		put("%s = %s;\n", v->name, cast_to(v->kind, expression(0)));
	else
		put("%s = %s;\n", place_in(variable), expression(0));
}
