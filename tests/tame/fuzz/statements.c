/* statements.c - statements of random programs that do not wait themselves. */
#include "generate.h"

static void condition(const char *word)
{
	put("%s (%s & %u) {\n", word, expression(1), 1 + below(3));
	indent(1);
}

static void body(int most)
{
	open_scope();
	statements(most);
	close_scope();
	indent(-1);
	put("}\n");
}

static void write_if(void)
{
	condition("if");
	body(3);
	if (one_in(2)) {
		put("else {\n");
		indent(1);
		body(2);
	}
}

/* A variable that only the loop changes. */
static const char *counter(void)
{
	const char *name = text("k%d", w.count);

	w.variables[declare(name, INT)].constant = true;
	return name;
}

static void write_loop(void)
{
	unsigned times = 1 + below(3), kind = below(3);
	const char *k;

	open_scope();
	if (kind == 0) {
		k = counter();
		put("for (int %s = 0; %s < %u; %s++) {\n", k, k, times, k);
	} else {
		put("{\n");
		indent(1);
		k = counter();
		put("int %s = 0;\n", k);
		if (kind == 1)
			put("while (%s++ < %u) {\n", k, times);
		else
			put("do {\n");
	}
	indent(1);
	w.times *= times;
	w.loops++;
	open_scope();
	statements(4);
	close_scope();
	w.loops--;
	w.times /= times;
	indent(-1);
	if (kind == 2)
		put("} while (++%s < %u);\n", k, times);
	else
		put("}\n");
	if (kind != 0) {
		indent(-1);
		put("}\n");
	}
	close_scope();
}

static void write_switch(void)
{
	unsigned cases = 1 + below(3);
	int loops = w.loops;

	put("switch (%s & 3) {\n", expression(1));
	for (unsigned k = 0; k <= cases; k++) {
		if (k < cases)
			put("case %u: {\n", k);
		else
			put("default: {\n");
		indent(1);
		w.loops = 0; /* `continue` would be fine, `break` means the switch */
		body(3);
		w.loops = loops;
		if (k < cases)
			put(one_in(3) ? "__attribute__((fallthrough));\n" : "break;\n");
	}
	put("}\n");
}

/* Forward, to the end of a block; or back to its beginning, a few times. */
static void write_goto(void)
{
	const char *before = w.target, *label = text("label%d", ++w.labels), *k;
	bool back = one_in(2);

	put("{\n");
	indent(1);
	open_scope();
	k = counter();
	put("int %s = 0;\n", k);
	if (back) {
		put("%s:;\n", label);
		w.times *= 2;
	}
	w.target = back ? before : label;
	put("{\n");
	indent(1);
	body(4);
	w.target = before;
	if (back) {
		w.times /= 2;
		put("if (++%s < 2)\n\tgoto %s;\n", k, label);
	} else {
		put("%s:;\n", label);
		put("(void)%s;\n", k);
	}
	close_scope();
	indent(-1);
	put("}\n");
}

static void write_return(void)
{
	put("if ((%s & 15) == 3) {\n", expression(1));
	indent(1);
	if (w.f->threaded)
		put("return h;\n");
	else
		put_each("return h;\n", "trigger(done, h);\nreturn;\n");
	indent(-1);
	put("}\n");
}

static void write_exit(void)
{
	if (w.loops > 0 && one_in(2))
		put("if (%s & 1)\n\t%s;\n", expression(1), one_in(2) ? "break" : "continue");
	else if (w.target != NULL && w.bound == 0 && w.blocks == 0)
		put("if (%s & 1)\n\tgoto %s;\n", expression(1), w.target);
	else if (w.blocks == 0 && w.bound == 0)
		write_return();
	else
		write_assignment();
}

void statement(void)
{
	bool deep = w.depth >= 5 || w.times > 40 || --w.left < 0;
	unsigned what = below(deep ? 7 : 24);

	w.depth++;
	w.f->cost += w.times;
	if (what < 2)
		write_assignment();
	else if (what < 4)
		write_declaration();
	else if (what < 5)
		put("h = mix(h, %s);\n", expression(0));
	else if (what < 7)
		write_exit();
	else if (what < 8)
		write_if();
	else if (what < 10)
		write_loop();
	else if (what < 11)
		write_switch();
	else if (what < 12 && w.blocks == 0)
		write_goto();
	else if (what < 14)
		write_window();
	else if (what < 15)
		write_cancel();
	else if (what < 16 && !w.f->threaded && w.blocks == 0)
		write_late();
	else
		write_block();
	w.depth--;
}

void statements(int most)
{
	for (int n = 1 + (int)below((unsigned)most); n > 0 && w.left >= 0; n--)
		statement();
}
