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

static void write_loop_body(unsigned times)
{
	indent(1);
	w.times *= times;
	w.loops++;
	body(4);
	w.loops--;
	w.times /= times;
}

static void write_for(unsigned times)
{
	const char *k = counter();

	put("for (int %s = 0; %s < %u; %s++) {\n", k, k, times, k);
	write_loop_body(times);
}

/* while, or do ... while, in a block with its counter. */
static void write_while(unsigned times, bool first)
{
	const char *k = counter();

	put("{\n");
	indent(1);
	put("int %s = 0;\n", k);
	if (first)
		put("while (%s++ < %u) {\n", k, times);
	else
		put("do {\n");
	write_loop_body(times);
	if (!first)
		put("while (++%s < %u);\n", k, times);
	indent(-1);
	put("}\n");
}

static void write_loop(void)
{
	unsigned times = 1 + below(3);

	open_scope();
	if (one_in(3))
		write_for(times);
	else
		write_while(times, one_in(2));
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

static void put_label(const char *label)
{
	put(one_in(2) ? "%s:;\n" : "AT(%s);\n", label);
}

/* To the end of a block, from inside. */
static void write_forward(const char *label)
{
	const char *before = w.target;

	w.target = label;
	put("{\n");
	indent(1);
	body(4);
	w.target = before;
	put_label(label);
}

/* To the beginning, a few times. */
static void write_backward(const char *label, const char *k)
{
	put_label(label);
	w.times *= 2;
	put("{\n");
	indent(1);
	body(4);
	w.times /= 2;
	put("if (++%s < 2)\n\tgoto %s;\n", k, label);
}

static void write_goto(void)
{
	const char *label = text("label%d", ++w.labels), *k;

	put("{\n");
	indent(1);
	open_scope();
	k = counter();
	put("int %s = 0;\n", k);
	if (one_in(2))
		write_backward(label, k);
	else
		write_forward(label);
	put("(void)%s;\n", k);
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
	else if (one_in(2))
		put("RETURN(h);\n");
	else
		put_each("return h;\n", "trigger(done, h);\nreturn;\n");
	indent(-1);
	put("}\n");
}

static void write_exit(void)
{
	if (w.loops > 0 && one_in(2))
		put(one_in(2) ? "if (%s & 1)\n\t%s;\n" : "WHEN(%s & 1, %s);\n", expression(1),
		    one_in(2) ? "break" : "continue");
	else if (w.target != NULL && w.bound == 0 && w.blocks == 0)
		put(one_in(2) ? "if (%s & 1)\n\tgoto %s;\n" : "WHEN(%s & 1, GOTO(%s));\n",
		    expression(1), w.target);
	else if (w.blocks == 0 && w.bound == 0)
		write_return();
	else
		write_assignment();
}

static void write_mix(void)
{
	put("h = mix(h, %s);\n", expression(0));
}

static bool may_label(void)
{
	return w.blocks == 0 && w.in_twice == 0;
}

static bool may_come_late(void)
{
	return w.blocks == 0 && !w.f->threaded;
}

/* Statements, how often each is chosen, and whether it may be; the first few are without others in
 * them. */
enum { SIMPLE = 4 };
static const struct choice {
	unsigned weight;
	void (*write)(void);
	bool (*may)(void);
} choices[] = {
	{ 2, write_assignment, NULL },
	{ 2, write_declaration, NULL },
	{ 1, write_mix, NULL },
	{ 2, write_exit, NULL },
	{ 1, write_if, NULL },
	{ 2, write_loop, NULL },
	{ 1, write_switch, NULL },
	{ 1, write_goto, may_label },
	{ 2, write_window, NULL },
	{ 1, write_cancel, NULL },
	{ 1, write_late, may_come_late },
	{ 3, write_wrapped, NULL },
	{ 1, write_conditional, may_direct },
	{ 1, write_included, may_direct },
	{ 8, write_block, NULL },
};

static const struct choice *choose(size_t count)
{
	unsigned all = 0, what;

	for (size_t i = 0; i < count; i++)
		all += choices[i].weight;
	what = below(all);
	for (const struct choice *c = choices;; c++) {
		if (what < c->weight)
			return c;
		what -= c->weight;
	}
}

void statement(void)
{
	bool deep = w.depth >= 5 || w.times > 40 || --w.left < 0;
	const struct choice *c = choose(deep ? SIMPLE : sizeof choices / sizeof choices[0]);

	w.depth++;
	w.f->cost += w.times;
	if (c->may == NULL || c->may())
		c->write();
	else
		write_block();
	w.depth--;
}

void statements(int most)
{
	for (int n = 1 + (int)below((unsigned)most); n > 0 && w.left >= 0; n--)
		statement();
}
