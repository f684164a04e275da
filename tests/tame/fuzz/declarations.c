/* declarations.c - variables of random programs that are more than a number: pointers, literals that
 * have an address, types of the function's own, qualifiers, initialisers of all kinds. */
#include <string.h>

#include "generate.h"

static void write_pointer(const char *name)
{
	int target = pick(1u << INT | 1u << ARRAY, false), variable;

	if (target < 0 || strcmp(w.variables[target].name, name) == 0 ||
	    w.variables[target].constant || w.variables[target].qualified) {
		put("int %s = %s;\n", name, expression(1));
		declare(name, INT);
		return;
	}
	put(w.variables[target].kind == ARRAY ? "int *%s%s = &%s[1];\n" : "int *%s%s = &%s;\n",
	    one_in(3) ? "const " : "", name, w.variables[target].name);
	variable = declare(name, POINTER);
	w.variables[variable].target = target;
}

/* A literal that is used by its address, as an array or as a pair. */
static void write_literal(const char *name)
{
	const char *e = expression(1);

	if (one_in(2)) {
		put("int *%s = (int[%d]){ %s, [2] = %s };\n", name, ELEMENTS, e, expression(1));
		declare(name, ARRAY);
		return;
	}
	name = text("v%d", w.count);
	put("struct pair *%s = &(struct pair){ %s, .b = 3 };\n", name, e);
	declare(text("(*%s)", name), PAIR);
}

/* An enum of the function's own, and a struct that needs it. */
static void write_enum(const char *name, int number)
{
	int variable;

	put("enum { first%d = 3, second%d };\n", number, number);
	put("struct own%d { short before; int p[second%d - first%d]; };\n", number, number, number);
	put("struct own%d %s = { .p = { %s } };\n", number, name, expression(1));
	w.variables[variable = declare(name, ARRAY)].constant = true;
	w.variables[variable].busy = 1; /* it is only there */
	put("h = mix(h, %s.p[0]);\n", name);
}

/* Types of the function's own, with a member p; their tags may be names of variables too. */
static void write_local(const char *name)
{
	static const char *const types[] = {
		"struct { char before; int p; }", "union { int p; char bytes[4]; }",
		"struct { struct { short before; union { int p; short halves[2]; }; }; }"
	};
	int number = ++w.local_types;

	if (one_in(4)) {
		write_enum(name, number);
		return;
	}
	if (one_in(3))
		put("typedef %s own%d;\nown%d %s = { .p = %s };\n", types[below(3)], number, number,
		    name, expression(1));
	else if (one_in(2))
		put("%s %s = { .p = %s };\n", types[below(3)], name, expression(1));
	else
		put("struct %s { char before; int p; } %s = { 1, %s };\n",
		    one_in(2) ? name : text("own%d", number), name, expression(1));
	declare(name, LOCAL);
}

/* A name that hides a variable and is none: a type, for the next declaration, or a constant. */
static void write_other_name(const char *name)
{
	const char *other = text("other%d", w.count);
	struct variable *v = &w.variables[declare(name, INT)];

	v->constant = v->nowhere = v->qualified = true;
	if (one_in(2)) {
		put("enum { %s = %u };\n", name, below(50));
		return;
	}
	v->busy = 1;
	put("typedef int %s;\n%s %s = %s;\n", name, name, other, expression(1));
	declare(other, INT);
}

static void write_listed(const char *name)
{
	static const char *const forms[] = {
		"int %s[4] = { %s, [2] = %s };\n",
		"int %s[2 + 2] = { [1] = %s, %s };\n",
		"int %s[] = LIST(%s, %s);\n",
		"int %s[] = { TWO(%s, %s), TWO(1, 2) };\n",
		"int %s[FOUR] = OPEN %s, %s, CLOSE;\n",
		"volatile int %s[4] = { %s, %s };\n",
		"const int %s[4] = { %s, [2] = %s };\n",
	};
	unsigned form = below(7);
	const char *e = expression(1);
	struct variable *v;

	put(forms[form], name, e, expression(1));
	v = &w.variables[declare(name, ARRAY)];
	v->qualified = form >= 5;
	v->constant = form == 6;
}

static void write_array(const char *name)
{
	const char *e, *f;

	if (!may_direct() || !one_in(6)) {
		write_listed(name);
		return;
	}
	e = expression(1);
	f = expression(1);
	put("int %s[4] = {\n", name);
	begin_file();
	put("%s,\n%s,\n", e, f);
	end_file();
	put("};\n");
	declare(name, ARRAY);
}

static void write_pair(const char *name)
{
	static const char *const forms[] = {
		"%sstruct pair %s = { %s, .b = 5 };\n",
		"%sstruct pair %s = PAIR_OF(%s);\n",
		"%sstruct pair %s = pair_of(%s);\n",
		"%sstruct pair %s = { .b = 2, .a = %s };\n",
	};
	static const char *const qualifiers[] = { "", "", "", "volatile ", "const " };
	unsigned which = below(5);
	struct variable *v;

	put(forms[below(4)], qualifiers[which], name, expression(1));
	v = &w.variables[declare(name, PAIR)];
	v->qualified = which >= 3;
	v->constant = which == 4;
}

static const char *const types[] = { "int", "short", "char", "unsigned", "long", "double" };

static void write_qualified(const char *name, enum kind kind)
{
	static const char *const qualifiers[] = { "const", "volatile", "_Atomic", "const volatile",
						  "register" };
	unsigned which = below(5);
	struct variable *v;

	put("%s %s %s = %s;\n", qualifiers[which], types[kind], name, cast_to(kind, expression(1)));
	v = &w.variables[declare(name, kind)];
	v->constant = which == 0 || which == 3;
	v->atomic = which == 2 || which == 4;
	v->qualified = true;
	v->nowhere = which == 4;
}

static void write_number(const char *name, enum kind kind)
{
	const char *e = cast_to(kind, expression(0)), *other = text("w%d", w.count);

	if (one_in(4)) {
		put("%s %s = %s, %s = %s;\n", types[kind], name, e, other,
		    cast_to(kind, expression(1)));
		declare(name, kind);
		name = other;
	} else if (one_in(6)) {
		put("DECLARE(%s, %s,%s%s);\n", types[kind], name, gap(), e);
	} else if (one_in(8)) {
		put("__typeof__((%s)0) %s = %s;\n", types[kind], name, e);
	} else {
		put("%s %s = %s;\n", types[kind], name, e);
	}
	declare(name, kind);
}

static void write_kind(const char *name, enum kind kind)
{
	if (kind == POINTER)
		write_pointer(name);
	else if (kind == LOCAL)
		write_local(name);
	else if (kind == ARRAY && one_in(3))
		write_literal(name);
	else if (kind == ARRAY)
		write_array(name);
	else if (kind == PAIR)
		write_pair(name);
	else if (one_in(4))
		write_qualified(name, kind);
	else if (one_in(6))
		write_other_name(name);
	else
		write_number(name, kind);
}

/* The initializer must not name what it initializes: a variable that it hides is busy
 * meanwhile. */
void write_declaration(void)
{
	const char *name;
	int hidden = -1;

	if (w.count > VARIABLES - 8)
		return;
	name = new_name();
	for (int i = 0; i < w.count; i++)
		if (visible(i) && strcmp(w.variables[i].name, name) == 0)
			hidden = i;
	if (hidden >= 0)
		w.variables[hidden].busy++;
	write_kind(name, below(KINDS));
	if (hidden >= 0)
		w.variables[hidden].busy--;
}
