/* paths.c - follows the ways through a function that gets an event, statement by statement.
 *
 * It reads the tokens of the body, whose macros are expanded. What it does not understand (goto,
 * labels, code in expressions) makes it silent. Of two ways whose conditions may depend on
 * each other nothing is said, unless facts.c knows about them.
 */
#include "paths.h"

enum { MOST_PATHS = 200 };

void tame_add_path(struct flow *w, struct paths *to, struct path p)
{
	for (size_t i = 0; i < to->count; i++) {
		const struct path *o = &to->at[i];

		if (o->fate == p.fate && o->decided == p.decided && o->where == p.where &&
		    o->known == p.known && (o->value & o->known) == (p.value & p.known))
			return;
	}
	if (to->count >= MOST_PATHS)
		w->lost = true;
	else
		*ADD(to->at, to->count) = p;
}

void tame_add_paths(struct flow *w, struct paths *to, const struct paths *from)
{
	for (size_t i = 0; i < from->count; i++)
		tame_add_path(w, to, from->at[i]);
}

struct paths tame_copy_paths(struct flow *w, const struct paths *from)
{
	struct paths copy = { 0 };

	tame_add_paths(w, &copy, from);
	return copy;
}

/* Statements. Each takes the ways that lead to it, leaves those that go on behind it, and gives
 * the token behind itself. */

/* Those on which a condition may have a value. */
struct paths tame_where(struct flow *w, const struct paths *p, struct range condition, bool value)
{
	struct paths some = { 0 };

	for (size_t i = 0; i < p->count; i++) {
		struct path one = p->at[i];
		int decided = tame_decide(&one, condition.begin, condition.end);

		if (decided >= 0 && decided != value)
			continue;
		one.decided = one.decided || decided < 0;
		tame_assume(&one, condition.begin, condition.end, value);
		tame_add_path(w, &some, one);
	}
	return some;
}

static bool has(const struct paths *p, size_t trigger)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->at[i].where == trigger)
			return true;
	return false;
}

/* Where all ways into both branches come out again, it did not matter which one was taken. */
static void rejoin(struct paths *p, const struct paths *before, const struct paths *one,
		   const struct paths *other)
{
	for (size_t i = 0; i < p->count; i++)
		for (size_t k = 0; k < before->count; k++)
			if (before->at[k].fate == TRIGGERED && !before->at[k].decided &&
			    before->at[k].where == p->at[i].where && has(one, p->at[i].where) &&
			    has(other, p->at[i].where))
				p->at[i].decided = false;
}

static size_t if_statement(struct flow *w, size_t i, struct paths *p)
{
	size_t close = tame_close(i + 1);
	struct range condition = { i + 2, close - 1 };
	struct paths before, yes, no;

	tame_follow_expression(w, condition.begin, condition.end, p);
	before = tame_copy_paths(w, p);
	yes = tame_where(w, p, condition, true);
	no = tame_where(w, p, condition, false);
	i = tame_follow(w, close + 1, &yes);
	if (tame_is(i, "else"))
		i = tame_follow(w, i + 1, &no);
	*p = tame_copy_paths(w, &yes);
	tame_add_paths(w, p, &no);
	rejoin(p, &before, &yes, &no);
	return i;
}

void tame_decide_all(struct paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		p->at[i].decided = true;
}

/* The ways from the innermost switch to one of its cases. */
static void enter(struct flow *w, struct paths *p, size_t value)
{
	for (size_t i = 0; i < w->entry->count; i++) {
		struct path one = w->entry->at[i];

		if (tame_enter_case(&one, w->on, value))
			tame_add_path(w, p, one);
	}
}

static size_t switch_statement(struct flow *w, size_t i, struct paths *p)
{
	size_t close = tame_close(i + 1);
	struct paths breaks = { 0 }, entry, none = { 0 };
	struct flow outer = *w;

	tame_follow_expression(w, i + 2, close - 1, p);
	entry = tame_copy_paths(w, p);
	tame_decide_all(&entry);
	w->breaks = &breaks;
	w->entry = &entry;
	w->on = (struct range){ i + 2, close - 1 };
	w->has_default = false;
	i = tame_follow(w, close + 1, &none);
	tame_add_paths(w, &none, &breaks);
	/* without `default` it may be that all values have a case */
	if (!w->has_default) {
		for (size_t k = 0; k < entry.count; k++)
			if (entry.at[k].fate == KEPT && tame_names_event(w, close, i))
				entry.at[k].fate = PASSED;
		enter(w, &none, 0);
	}
	*p = none;
	w->breaks = outer.breaks;
	w->entry = outer.entry;
	w->on = outer.on;
	w->has_default = outer.has_default;
	return i;
}

static size_t jump(struct flow *w, size_t i, struct paths *p)
{
	size_t end = tame_until(i, ";");

	if (tame_is(i, "return")) {
		tame_follow_expression(w, i + 1, end - 1, p);
		if (i + 1 == end)
			tame_end_paths(w, p, tokens[i].offset);
	} else if (tame_is(i, "break") && w->breaks != NULL) {
		tame_add_paths(w, w->breaks, p);
	} else if (tame_is(i, "continue") && w->continues != NULL) {
		tame_add_paths(w, w->continues, p);
	} else {
		w->lost = true;
	}
	p->count = 0;
	return end + 1;
}

static size_t label(struct flow *w, size_t i, struct paths *p)
{
	if (w->entry == NULL)
		w->lost = true;
	else
		enter(w, p, tame_is(i, "case") ? i + 1 : 0);
	w->has_default = w->has_default || tame_is(i, "default");
	i = tame_until(i, ":") + 1;
	return tame_is(i, "}") ? i : tame_follow(w, i, p);
}

static size_t block(struct flow *w, size_t i, struct paths *p)
{
	size_t close = tame_close(i);

	for (i++; i < close && !w->lost;)
		i = tame_follow(w, i, p);
	return close + 1;
}

/* Without following it. */
size_t tame_end_of_statement(size_t i)
{
	if (tame_is(i, "{"))
		return tame_close(i) + 1;
	if (tame_is(i, "if") || tame_is(i, "for") || tame_is(i, "while") || tame_is(i, "switch")) {
		size_t end = tame_end_of_statement(tame_close(i + 1) + 1);

		return tame_is(i, "if") && tame_is(end, "else") ? tame_end_of_statement(end + 1)
								: end;
	}
	if (tame_is(i, "do"))
		return tame_until(tame_end_of_statement(i + 1), ";") + 1;
	if (tame_is(i, TAME_TWAIT) && tame_is(i + 1, "{"))
		return tame_close(i + 1) + 1;
	return tame_until(i, ";") + 1;
}

size_t tame_follow(struct flow *w, size_t i, struct paths *p)
{
	size_t end;

	if (w->lost || i >= token_count)
		return token_count;
	if (tame_is(i, "{"))
		return block(w, i, p);
	if (tame_is(i, "if"))
		return if_statement(w, i, p);
	if (tame_is(i, "for"))
		return tame_follow_for(w, i, p);
	if (tame_is(i, "while"))
		return tame_follow_while(w, i, p);
	if (tame_is(i, "do"))
		return tame_follow_do(w, i, p);
	if (tame_is(i, "switch"))
		return switch_statement(w, i, p);
	if (tame_is(i, "case") || tame_is(i, "default"))
		return label(w, i, p);
	if (tame_is(i, TAME_TWAIT))
		return tame_follow(w, i + 1, p);
	if (tame_is(i, TAME_TREFUSED))
		return tame_close(tame_close(i + 1) + 1) + 1;
	if (tame_is(i, "return") || tame_is(i, "break") || tame_is(i, "continue") ||
	    tame_is(i, "goto"))
		return jump(w, i, p);
	if (tokens[i].kind == 'i' && tame_is(i + 1, ":"))
		w->lost = true;
	end = tame_until(i, ";");
	if (end > i)
		tame_follow_expression(w, i, end - 1, p);
	return end + 1;
}
