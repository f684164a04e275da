/* waits.c - what waits in random programs: twait blocks, rendezvous, calls of tamed functions. */
#include "generate.h"

static const char *const givers[] = {
	"int", "short", "char", "unsigned", "long", "double", "pair"
};

/* What is called in the tamed program and the value of the same in the plain one. */
static void put_event(const char *slot, const char *giver, const char *argument)
{
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

/* False: there is none that may be called here. */
static bool write_call(const char *slot)
{
	const struct function *f;
	const char *out = "NULL";
	int variable = -1;

	if (one_in(4) && !w.calls_itself && !w.f->threaded && !w.f->has_out && w.times == 1) {
		w.calls_itself = true;
		put("if (depth > 0)\n");
		indent(1);
		put_call(w.f, slot, arguments(w.f, "depth - 1", out));
		indent(-1);
		return true;
	}
	if (w.f->number == 0)
		return false;
	f = &w.others[below((unsigned)w.f->number)];
	if (f->threaded || w.times * f->cost > 400)
		return false;
	if (f->has_out) {
		variable = pick(1u << INT, true);
		if (variable < 0)
			return false;
		out = text("&%s", w.variables[variable].name);
		/* until the block ends: it is not given back */
		w.variables[variable].busy += w.blocks > 0;
	}
	put_call(f, slot, arguments(f, text("%u", below(3)), out));
	w.f->cost += w.times * f->cost;
	return true;
}

void write_event(int variable)
{
	const struct variable *v = &w.variables[variable];

	if (v->kind == INT && one_in(2) && write_call(v->name))
		return;
	if (v->kind == INT && one_in(12)) {
		const char *e = expression(1), *a = expression(2);

		put_each(text("%s = slow(%s, (struct pair){ %s, 1 });\n", v->name, e, a),
			 text("tfork(mkevent(%s), slow(%s, (struct pair){ %s, 1 }));\n", v->name, e,
			      a));
		return;
	}
	if (v->kind == ARRAY && one_in(2)) {
		const char *k = text("k%d", w.count), *argument;
		int counter = declare(k, INT);

		w.variables[counter].constant = true;
		argument = expression(1);
		put("for (int %s = 0; %s < %d; %s++)\n", k, k, ELEMENTS, k);
		indent(1);
		put_event(text("%s[%s]", v->name, k), "int", argument);
		indent(-1);
		w.count--;
		return;
	}
	if (v->kind < PAIR || (v->kind == PAIR && one_in(2)))
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

static void write_events(const int *slots, int count)
{
	for (int i = 0; i < count; i++) {
		if (!visible(slots[i])) /* another was declared in the block */
			continue;
		if (i + 1 < count && visible(slots[i + 1]) && w.variables[slots[i]].kind == INT &&
		    w.variables[slots[i + 1]].kind == PAIR && one_in(2)) {
			write_two(slots[i], slots[i + 1]);
			i++;
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

void write_block(void)
{
	int slots[4], count = 0, before = w.count, busy[VARIABLES], loops = w.loops;

	if (w.count > VARIABLES - 16)
		return;
	for (int i = 0; i < w.count; i++)
		busy[i] = w.variables[i].busy;
	for (unsigned n = below(5); n > 0 && count < 4; n--) {
		int variable = pick(one_in(3) ? 1u << ARRAY : (1u << KINDS) - 1, true);

		if (variable < 0)
			continue;
		slots[count++] = variable;
		occupy(variable, 1);
	}
	put_each("{\n", "twait {\n");
	indent(1);
	open_scope();
	w.blocks++;
	w.loops = 0;
	write_events(slots, count);
	w.loops = loops;
	w.blocks--;
	close_scope();
	indent(-1);
	put("}\n");
	for (int i = 0; i < before; i++)
		w.variables[i].busy = busy[i];
}

/* How a rendezvous names its events, and how one finds the value of an event by its name. */
enum { BY_INDEX, BY_SHORT, BY_POINTER, BY_PAIR, BY_NOTHING, NAMINGS };

struct window {
	unsigned naming;
	const char *r, *sent, *got, *values, *id, *sum;
};

static const char *id_type(unsigned naming)
{
	static const char *const types[] = { "int", "short", "int *", "struct pair", "" };

	return types[naming];
}

static const char *id_of(const struct window *win, const char *index)
{
	switch (win->naming) {
	case BY_SHORT:
		return text("(short)(%s + 7)", index);
	case BY_POINTER:
		return text("&%s[%s]", win->values, index);
	case BY_PAIR:
		return text("pair_of(%s)", index);
	default:
		return index;
	}
}

static const char *value_of_id(const struct window *win)
{
	switch (win->naming) {
	case BY_SHORT:
		return text("mul(%s[%s - 7], %s)", win->values, win->id, win->id);
	case BY_POINTER:
		return text("mul(*%s, (int)(%s - %s) + 1)", win->id, win->id, win->values);
	case BY_PAIR:
		return text("mul(%s[%s.a], %s.b)", win->values, win->id, win->id);
	default:
		return text("mul(%s[%s], %s + 1)", win->values, win->id, win->id);
	}
}

static void declare_window(const struct window *win, unsigned count)
{
	put_each("", text("rendezvous(%s) %s;\n", id_type(win->naming), win->r));
	put("int %s = 0, %s = 0, %s = 0, %s[%u];\n", win->sent, win->got, win->sum, win->values,
	    count);
	if (win->naming != BY_NOTHING)
		put("%s %s;\n", id_type(win->naming), win->id);
	w.variables[declare(win->sent, INT)].constant = true;
	w.variables[declare(win->got, INT)].constant = true;
}

static void write_send(const struct window *win)
{
	const char *e = expression(1), *slot = text("%s[%s]", win->values, win->sent);

	put_each(text("%s = plain_int(%s);\n", slot, e),
		 win->naming == BY_NOTHING
			 ? text("give_int(%s, mkevent(%s, %s));\n", e, win->r, slot)
			 : text("give_int(%s, mkevent(%s, %s, %s));\n", e, win->r,
				id_of(win, win->sent), slot));
	put("%s++;\n", win->sent);
}

static void write_receive(const struct window *win)
{
	if (win->naming == BY_NOTHING) {
		put_each("", text("twait(%s);\n", win->r));
	} else {
		put_each(text("%s = %s;\n", win->id, id_of(win, win->got)),
			 text("twait(%s, %s);\n", win->r, win->id));
		put("%s = add(%s, %s);\n", win->sum, win->sum, value_of_id(win));
	}
	put("%s++;\n", win->got);
}

/* At most so many events are out at a time. What else is done between does not depend on which
 * of them comes first. */
void write_window(void)
{
	int n = ++w.labels, loops = w.loops;
	struct window win = { .naming = below(NAMINGS),
			      .r = text("r%d", n),
			      .sent = text("sent%d", n),
			      .got = text("got%d", n),
			      .values = text("values%d", n),
			      .id = text("id%d", n),
			      .sum = text("sum%d", n) };
	unsigned count = 1 + below(4), most = 1 + below(4);

	if (w.count > VARIABLES - 16)
		return;
	put("{\n");
	indent(1);
	open_scope();
	declare_window(&win, count);
	put("while (%s < %u) {\n", win.got, count);
	indent(1);
	open_scope();
	w.bound++;
	w.loops = 0;
	w.times *= count;
	put("if (%s < %u && %s - %s < %u) {\n", win.sent, count, win.sent, win.got, most);
	indent(1);
	write_send(&win);
	indent(-1);
	put("} else {\n");
	indent(1);
	open_scope();
	write_receive(&win);
	if (one_in(2))
		statements(2);
	close_scope();
	indent(-1);
	put("}\n");
	w.times /= count;
	w.loops = loops;
	w.bound--;
	close_scope();
	indent(-1);
	put("}\n");
	close_scope();
	put("h = mix(h, add(%s, sum(%s, %u)));\n", win.sum, win.values, count);
	indent(-1);
	put("}\n");
}

/* An event whose slot is out of scope before it comes. Nobody reads it, and it must not be where
 * others are. */
void write_late(void)
{
	int n = ++w.labels, loops = w.loops;

	if (w.count > VARIABLES - 16)
		return;
	put("{\n");
	indent(1);
	open_scope();
	w.bound++;
	w.loops = 0;
	put_each("", text("rendezvous() r%d;\n", n));
	put("{\n");
	indent(1);
	put_each("", text("int late%d = 0;\ngive_int(%s, mkevent(r%d, late%d));\n", n,
			  expression(1), n, n));
	open_scope();
	statements(1);
	close_scope();
	indent(-1);
	put("}\n{\n");
	indent(1);
	open_scope();
	statements(4);
	close_scope();
	indent(-1);
	put("}\n");
	put_each("", text("twait(r%d);\n", n));
	w.loops = loops;
	w.bound--;
	close_scope();
	indent(-1);
	put("}\n");
}

/* After a cancel no variable changes any more. */
void write_cancel(void)
{
	int n = ++w.labels;
	const char *first = expression(1), *second = expression(1);
	bool waits = one_in(2);

	if (w.count > VARIABLES - 16)
		return;
	put("{\n");
	indent(1);
	open_scope();
	put("int junk%d = 0, waste%d = 0;\n", n, n);
	put_each("", text("rendezvous() r%d;\n"
			  "give_int(%s, mkevent(r%d, junk%d));\n"
			  "give_int(%s, mkevent(r%d, waste%d));\n"
			  "%s"
			  "rv_cancel(r%d);\n",
			  n, first, n, n, second, n, n, waits ? text("twait(r%d);\n", n) : "", n));
	put("junk%d = %s;\nwaste%d = %s;\n", n, expression(1), n, expression(1));
	declare(text("junk%d", n), INT);
	declare(text("waste%d", n), INT);
	statements(3);
	put_each("", "twait {\n\tgive_none(mkevent());\n}\n");
	put("h = mix(h, add(junk%d, waste%d));\n", n, n);
	close_scope();
	indent(-1);
	put("}\n");
}
