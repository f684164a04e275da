/* macros.c - preprocessing in random programs: macros that are defined where they are used, and whose
 * bodies name variables; macros around statements; #if and #include. */
#include <string.h>

#include "generate.h"

/* How many are defined at a time: none is redefined before the statement that names it is written. */
enum { MACROS = 199 };
static unsigned macros;

bool may_direct(void)
{
	return w.in_macro == 0;
}

const char *gap(void)
{
	if (w.flat > 0 || !one_in(4))
		return " ";
	return one_in(3) ? " /* , ) */ " : "\n";
}

const char *define_each(const char *parameters, const char *plain, const char *tame)
{
	const char *name = text("M%u", macros++ % MACROS);

	put("#undef %s\n", name);
	put_each(text("#define %s%s %s\n", name, parameters, plain),
		 text("#define %s%s %s\n", name, parameters, tame));
	return name;
}

const char *define(const char *parameters, const char *body)
{
	return define_each(parameters, body, body);
}

/* For a body: what it names is replaced there. */
static const char *flat_expression(int depth)
{
	const char *e;

	w.flat++;
	e = expression(depth);
	w.flat--;
	return e;
}

/* The name of a parameter, which `body` does not have. */
static const char *parameter(const char *body, bool second)
{
	static const char *const names[2][4] = { { "x", "value", "tame_c", "a" },
						 { "y", "e1", "n", "done2" } };
	const char *name = names[second][below(4)];

	if (strstr(body, name) == NULL)
		return name;
	return second ? "q_" : "p_";
}

static const char *with_one_parameter(int depth)
{
	static const char *const bodies[] = {
		"add(%s, (%s))",
		"(%s ^ (%s))",
		"((%s) < (%s) ? 1 : 2)",
		"({ int tmp_ = %s; if (tmp_ & 1) tmp_ = (%s); tmp_; })",
		"({ int tmp_ = %s; do tmp_ = add(tmp_, (%s)); while (0); tmp_; })",
	};
	const char *e = flat_expression(depth + 1), *p = parameter(e, false), *body, *name;

	body = one_in(4) ? text("add(%s, add((%s), (int)sizeof #%s))", e, p, p)
			 : text(bodies[below(5)], e, p);
	name = define(text("(%s)", p), body);
	return text("%s(%s)", name, expression(depth + 1));
}

static const char *with_two_parameters(int depth)
{
	const char *e = flat_expression(depth + 1), *p = parameter(e, false),
		   *q = parameter(e, true), *l = expression(depth + 1), *name;

	name = define(text("(%s, %s)", p, q), text("((%s) > (%s) ? (%s) : %s)", p, q, q, e));
	return text("%s(%s,%s%s)", name, l, gap(), expression(depth + 1));
}

static const char *with_any_number(int depth)
{
	const char *e = flat_expression(depth + 1), *l = expression(depth + 1), *name;

	if (one_in(2)) {
		name = define("(...)", text("sum((int[]){ %s, __VA_ARGS__ }, 3)", e));
		return text("%s(%s,%s%s)", name, l, gap(), expression(depth + 1));
	}
	name = define("(x_, ...)", text("add(x_, %s __VA_OPT__(^) __VA_ARGS__)", e));
	return text(one_in(2) ? "%s(%s)" : "%s(%s, 5)", name, l);
}

const char *macro_expression(int depth)
{
	switch (below(6)) {
	case 0:
		return define("", text("(%s)", flat_expression(depth + 1)));
	case 1:
		return with_any_number(depth);
	case 2:
		return with_two_parameters(depth);
	case 3:
		return text("APPLY(%s,%s%s,%s%s)", one_in(2) ? "add" : "MAX", gap(),
			    expression(depth + 1), gap(), expression(depth + 1));
	default:
		return with_one_parameter(depth);
	}
}

static void wrap(const char *open, const char *close)
{
	int loops = w.loops;

	put("%s\n", open);
	indent(1);
	open_scope();
	w.in_macro++;
	if (strncmp(open, "FOR", 3) == 0)
		w.loops++;
	else if (strncmp(open, "ONCE", 4) == 0)
		w.loops = 0;
	statements(4);
	w.loops = loops;
	w.in_macro--;
	close_scope();
	indent(-1);
	put("%s\n", close);
}

static void write_for(void)
{
	unsigned times = 1 + below(3);
	const char *k = text("k%d", w.count);

	open_scope();
	w.variables[declare(k, INT)].constant = true;
	w.times *= times;
	wrap(text("FOR(%s, %u,", k, times), ")");
	w.times /= times;
	close_scope();
}

static void write_twice(void)
{
	w.times *= 2;
	w.in_twice++;
	wrap("TWICE(", ")");
	w.in_twice--;
	w.times /= 2;
}

/* A macro of the function's own that has a variable in its body, and statements as its
 * arguments. */
static void write_own(void)
{
	const char *e, *name;

	if (!may_direct()) {
		wrap("BLOCK(", ")");
		return;
	}
	e = flat_expression(1);
	name = define("(c_, ...)",
		      one_in(2) ? text("if ((c_) & 1) { h = mix(h, %s); __VA_ARGS__ }", e)
				: text("if (!((c_) & 3)) h = add(h, %s); else { __VA_ARGS__ }", e));
	wrap(text("%s(%s,", name, expression(1)), ")");
}

void write_wrapped(void)
{
	switch (below(6)) {
	case 0:
		wrap("BLOCK(", ")");
		break;
	case 1:
		wrap("ONCE(", ");");
		break;
	case 2:
		wrap(text("IF(%s & 1,", expression(1)), ")");
		break;
	case 3:
		write_for();
		break;
	case 4:
		write_twice();
		break;
	default:
		write_own();
	}
}

/* Only one branch counts. */
void write_conditional(void)
{
	static const char *const conditions[] = { "#if MAX(1, 2) == 2", "#ifdef FUZZ_WORLD_H",
						  "#ifndef NOWHERE", "#if 0\nelse {{\n#elif 1" };

	put("%s\n", conditions[below(4)]);
	statements(3);
	put("%s", one_in(2) ? "" : "#else\ntwait { mkevent( this is no C\n");
	put("#endif\n");
}

void write_included(void)
{
	begin_file();
	statements(3);
	end_file();
}
