/* variables.c - variables of random programs: their scopes, kinds and declarations. */
#include <string.h>

#include "generate.h"

/* Few, so that they hide each other; the globals of world.h have the same. */
static const char *const names[] = { "a", "b", "c", "x", "y", "i", "n", "e", "done2", "value" };
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
	const struct variable *v = &w.variables[variable];

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

static void declare_pointer(const char *name)
{
	int target = pick(1u << INT | 1u << ARRAY, false), variable;

	if (target < 0 || strcmp(w.variables[target].name, name) == 0 ||
	    w.variables[target].constant) {
		put("int %s = %s;\n", name, expression(1));
		declare(name, INT);
		return;
	}
	put(w.variables[target].kind == ARRAY ? "int *%s = &%s[1];\n" : "int *%s = &%s;\n", name,
	    w.variables[target].name);
	variable = declare(name, POINTER);
	w.variables[variable].target = target;
}

/* A struct of the function's own, sometimes with an enum. */
static void declare_local(const char *name)
{
	int number = ++w.local_types, variable;
	const char *type = text("struct own%d", number);

	if (one_in(3)) {
		put("enum { first%d = 3, second%d };\n", number, number);
		put("%s { short before; int p[second%d - first%d]; };\n", type, number, number);
		put("%s %s = { .p = { %s } };\n", type, name, expression(1));
		w.variables[variable = declare(name, ARRAY)].constant = true;
		w.variables[variable].busy = 1; /* it is only there */
		put("h = mix(h, %s.p[0]);\n", name);
		return;
	}
	put("%s { char before; int p; } %s = { 1, %s };\n", type, name, expression(1));
	w.variables[declare(name, LOCAL)].type = type;
}

/* The initializer must not name what it initializes: a variable that it hides is busy
 * meanwhile. */
void write_declaration(void)
{
	static const char *const types[] = { "int",  "short",  "char",       "unsigned",
					     "long", "double", "struct pair" };
	const char *name;
	enum kind kind = below(KINDS);
	int hidden = -1;

	if (w.count > VARIABLES - 8)
		return;
	name = new_name();
	for (int i = 0; i < w.count; i++)
		if (visible(i) && strcmp(w.variables[i].name, name) == 0)
			hidden = i;
	if (hidden >= 0)
		w.variables[hidden].busy++;
	if (kind == POINTER) {
		declare_pointer(name);
	} else if (kind == LOCAL) {
		declare_local(name);
	} else if (kind == ARRAY) {
		put("int %s[%s] = { %s, [2] = %s };\n", name, one_in(2) ? "4" : "2 + 2",
		    expression(1), expression(1));
		declare(name, ARRAY);
	} else if (kind == PAIR) {
		put("struct pair %s = { %s, .b = 5 };\n", name, expression(1));
		declare(name, PAIR);
	} else if (one_in(5)) {
		put("const %s %s = %s;\n", types[kind], name, cast_to(kind, expression(1)));
		w.variables[declare(name, kind)].constant = true;
	} else if (one_in(4)) {
		const char *other = text("w%d", w.count);

		put("%s %s = %s, %s = %s;\n", types[kind], name, cast_to(kind, expression(1)),
		    other, cast_to(kind, expression(1)));
		declare(name, kind);
		declare(other, kind);
	} else {
		put("%s %s = %s;\n", types[kind], name, cast_to(kind, expression(0)));
		declare(name, kind);
	}
	if (hidden >= 0)
		w.variables[hidden].busy--;
}
