/* rendezvous.c - rendezvous in random programs: windows of events, late ones, cancelled ones. */
#include "generate.h"

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

/* So that what is written now neither leaves nor breaks off. */
static int begin_bound(void)
{
	int loops = w.loops;

	put("{\n");
	indent(1);
	open_scope();
	w.bound++;
	w.loops = 0;
	return loops;
}

static void end_bound(int loops)
{
	w.loops = loops;
	w.bound--;
	close_scope();
	indent(-1);
	put("}\n");
}

static void write_scope(int most)
{
	open_scope();
	statements(most);
	close_scope();
}

static void write_turn(const struct window *win, unsigned count, unsigned most)
{
	put("if (%s < %u && %s - %s < %u) {\n", win->sent, count, win->sent, win->got, most);
	indent(1);
	write_send(win);
	indent(-1);
	put("} else {\n");
	indent(1);
	open_scope();
	write_receive(win);
	if (one_in(2))
		statements(2);
	close_scope();
	indent(-1);
	put("}\n");
}

static void write_turns(const struct window *win, unsigned count)
{
	declare_window(win, count);
	put("while (%s < %u) {\n", win->got, count);
	indent(1);
	open_scope();
	w.times *= count;
	write_turn(win, count, 1 + below(4));
	w.times /= count;
	close_scope();
	indent(-1);
	put("}\n");
	put("h = mix(h, add(%s, sum(%s, %u)));\n", win->sum, win->values, count);
}

/* A few events are out at a time. What else is done between does not depend on which of them comes
 * first. */
void write_window(void)
{
	int n = ++w.labels, loops;
	struct window win = { .naming = below(NAMINGS),
			      .r = text("r%d", n),
			      .sent = text("sent%d", n),
			      .got = text("got%d", n),
			      .values = text("values%d", n),
			      .id = text("id%d", n),
			      .sum = text("sum%d", n) };

	if (w.count > VARIABLES - 16)
		return;
	loops = begin_bound();
	write_turns(&win, 1 + below(4));
	end_bound(loops);
}

static void write_late_event(int n)
{
	put("{\n");
	indent(1);
	put_each("", text("int late%d = 0;\ngive_int(%s, mkevent(r%d, late%d));\n", n,
			  expression(1), n, n));
	write_scope(1);
	indent(-1);
	put("}\n{\n");
	indent(1);
	write_scope(4);
	indent(-1);
	put("}\n");
}

/* An event whose slot is out of scope before it comes. Nobody reads it, and it must not be where
 * others are. */
void write_late(void)
{
	int n = ++w.labels, loops;

	if (w.count > VARIABLES - 16)
		return;
	loops = begin_bound();
	put_each("", text("rendezvous() r%d;\n", n));
	write_late_event(n);
	put_each("", text("twait(r%d);\n", n));
	end_bound(loops);
}

static void write_cancelled(int n)
{
	const char *first = expression(1), *second = expression(1);

	put("int junk%d = 0, waste%d = 0;\n", n, n);
	put_each("",
		 text("rendezvous() r%d;\n"
		      "give_int(%s, mkevent(r%d, junk%d));\n"
		      "give_int(%s, mkevent(r%d, waste%d));\n"
		      "%s"
		      "rv_cancel(r%d);\n",
		      n, first, n, n, second, n, n, one_in(2) ? text("twait(r%d);\n", n) : "", n));
	put("junk%d = %s;\nwaste%d = %s;\n", n, expression(1), n, expression(1));
	declare(text("junk%d", n), INT);
	declare(text("waste%d", n), INT);
}

/* After a cancel no variable changes any more. */
void write_cancel(void)
{
	int n = ++w.labels;

	if (w.count > VARIABLES - 16)
		return;
	put("{\n");
	indent(1);
	open_scope();
	write_cancelled(n);
	statements(3);
	put_each("", "twait {\n\tgive_none(mkevent());\n}\n");
	put("h = mix(h, add(junk%d, waste%d));\n", n, n);
	close_scope();
	indent(-1);
	put("}\n");
}
