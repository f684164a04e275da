/* waits.c - what waits in random programs: twait blocks, and calls of tamed functions. */
#include <string.h>

#include "generate.h"

static const char *const givers[] = {
	"int", "short", "char", "unsigned", "long", "double", "pair"
};

/* What is called in the tamed program and the value of the same in the plain one. */
static void put_event(const char *slot, const char *giver, const char *argument)
{
	if (one_in(6)) {
		put("GIVE(%s, %s,%s%s);\n", giver, argument, gap(), slot);
		return;
	}
	if (may_direct() && one_in(6) && strchr(slot, '\n') == NULL) {
		put("%s(%s);\n",
		    define_each("(x_)", text("%s = plain_%s(x_)", slot, giver),
				text("give_%s(x_, mkevent(%s))", giver, slot)),
		    argument);
		return;
	}
	put_each(text("%s = plain_%s(%s);\n", slot, giver, argument),
		 text("give_%s(%s, mkevent(%s));\n", giver, argument, slot));
}

static const char *arguments(const struct function *f, const char *depth, const char *out)
{
	const char *pair = f->has_pair ? text(", ((struct pair){ %s, 7 })", expression(2)) : "";

	return text("%s, %s%s%s%s", depth, expression(1), pair, f->has_out ? ", " : "",
		    f->has_out ? out : "");
}

static void put_call(const struct function *f, const char *slot, const char *given)
{
	const char *plain = text("%s = @%llu_f%d(%s);\n", slot, program, f->number, given);

	if (f->threaded)
		put("%s", plain);
	else if (!f->has_out && one_in(4))
		put_each(plain, text("ton(weft_color_new(), @%llu_f%d, %s, mkevent(%s));\n",
				     program, f->number, given, slot));
	else
		put_each(plain,
			 text("@%llu_f%d(%s, mkevent(%s));\n", program, f->number, given, slot));
}

static bool may_call_itself(void)
{
	return !w.calls_itself && !w.f->threaded && !w.f->has_out && w.times == 1;
}

static void write_recursion(const char *slot)
{
	w.calls_itself = true;
	put("if (depth > 0) {\n");
	indent(1);
	put_call(w.f, slot, arguments(w.f, "depth - 1", "NULL"));
	indent(-1);
	put("}\n");
}

/* What a function leaves something in, too; until the block ends it is not given back. */
static const char *out_argument(void)
{
	int variable = pick(1u << INT, true);

	if (variable < 0 || w.variables[variable].qualified)
		return NULL;
	w.variables[variable].busy += w.blocks > 0;
	return text("&%s", w.variables[variable].name);
}

/* False: there is none that may be called here. */
static bool write_call(const char *slot)
{
	const struct function *f;
	const char *out = "";

	if (one_in(4) && may_call_itself()) {
		write_recursion(slot);
		return true;
	}
	if (w.f->number == 0)
		return false;
	f = &w.others[below((unsigned)w.f->number)];
	if (f->threaded || w.times * f->cost > 400)
		return false;
	if (f->has_out)
		out = out_argument();
	if (out == NULL)
		return false;
	put_call(f, slot, arguments(f, text("%u", below(3)), out));
	w.f->cost += w.times * f->cost;
	return true;
}

static void write_fork(const char *slot)
{
	const char *e = expression(1), *a = expression(2);

	put_each(text("%s = slow(%s, (struct pair){ %s, 1 });\n", slot, e, a),
		 text("tfork(mkevent(%s), slow(%s, (struct pair){ %s, 1 }));\n", slot, e, a));
}

static void write_all_elements(const char *slot)
{
	const char *k = text("k%d", w.count), *argument;

	w.variables[declare(k, INT)].constant = true;
	argument = expression(1);
	put("for (int %s = 0; %s < %d; %s++) {\n", k, k, ELEMENTS, k);
	indent(1);
	put_event(text("%s[%s]", slot, k), "int", argument);
	indent(-1);
	put("}\n");
	w.count--;
}

void write_event(int variable)
{
	const struct variable *v = &w.variables[variable];

	if (v->kind == INT && one_in(2) && write_call(v->name))
		return;
	if (v->kind == INT && one_in(12))
		write_fork(v->name);
	else if (v->kind == ARRAY && one_in(2))
		write_all_elements(v->name);
	else if (v->kind < PAIR || (v->kind == PAIR && one_in(2)))
		put_event(v->name, givers[v->kind], expression(1));
	else
		put_event(place_in(variable), "int", expression(1));
}

static void write_two(int first, int second)
{
	const char *e = expression(1), *a = w.variables[first].name, *b = w.variables[second].name;

	put_each(text("%s = plain_int(%s), %s = plain_pair(%s);\n", a, e, b, e),
		 text("give_two(%s, mkevent(%s, %s));\n", e, a, b));
}

/* Right in a block, where literals live until its events have come. */
static void write_literal_event(const char *slot)
{
	const char *literal = one_in(2) ? "sum_at(ARRAY(%s, %s), 2)"
					: "pair_at(&(struct pair){ %s, .b = (short)(%s) }, 1)";
	const char *e = expression(1), *f = expression(1), *call;

	call = text(literal, e, f);
	put_each(text("%s = plain_%s;\n", slot, call),
		 text("give_%.*s, mkevent(%s));\n", (int)strlen(call) - 1, call, slot));
}

static void write_events(const int *slots, int count)
{
	for (int i = 0; i < count; i++) {
		if (!visible(slots[i])) /* another was declared in the block */
			continue;
		if (i + 1 < count && visible(slots[i + 1]) && w.variables[slots[i]].kind == INT &&
		    w.variables[slots[i + 1]].kind == PAIR && one_in(2)) {
			write_two(slots[i], slots[i + 1]);
			i++;
		} else if (w.variables[slots[i]].kind == INT && one_in(4)) {
			write_literal_event(w.variables[slots[i]].name);
		} else if (one_in(5)) {
			put("if (%s & 1)\n", expression(1));
			indent(1);
			put("{\n");
			write_event(slots[i]);
			put("}\n");
			indent(-1);
		} else {
			write_event(slots[i]);
		}
		if (one_in(3))
			statement();
		if (one_in(6))
			put_each("", "give_none(mkevent());\n");
	}
}

/* Chooses up to four variables, which are busy in the block. */
static int choose_slots(int *slots)
{
	int count = 0;

	for (unsigned n = below(5); n > 0 && count < 4; n--) {
		int variable = pick(one_in(3) ? 1u << ARRAY : (1u << KINDS) - 1, true);

		if (variable < 0 || w.variables[variable].atomic)
			continue;
		slots[count++] = variable;
		occupy(variable, 1);
	}
	return count;
}

static void write_inside(const int *slots, int count)
{
	int loops = w.loops;

	indent(1);
	open_scope();
	w.blocks++;
	w.loops = 0;
	write_events(slots, count);
	w.loops = loops;
	w.blocks--;
	close_scope();
	indent(-1);
}

static void write_braced(const int *slots, int count)
{
	if (one_in(4)) {
		put("AWAIT(\n");
		w.in_macro++;
		write_inside(slots, count);
		w.in_macro--;
		put(")\n");
	} else {
		put_each("{\n", "twait {\n");
		write_inside(slots, count);
		put("}\n");
	}
}

void write_block(void)
{
	int slots[4], before = w.count, busy[VARIABLES];

	if (w.count > VARIABLES - 16)
		return;
	for (int i = 0; i < w.count; i++)
		busy[i] = w.variables[i].busy;
	write_braced(slots, choose_slots(slots));
	for (int i = 0; i < before; i++)
		w.variables[i].busy = busy[i];
}
