/* loops.c - the ways through loops: around, once, and a second time. */
#include "paths.h"

struct loop {
	struct range condition; /* tokens; begin > end: there is none */
	struct range step;
	size_t body;
	size_t word;
	bool infinite;
};

/* One turn: the ways that come to its end; those that leave the loop go to breaks. */
static size_t turn(struct flow *w, const struct loop *l, struct paths *p)
{
	struct paths continues = { 0 }, *outer = w->continues;
	size_t end;

	w->continues = &continues;
	end = tame_follow(w, l->body, p);
	tame_add_paths(w, p, &continues);
	w->continues = outer;
	if (l->step.begin <= l->step.end)
		tame_follow_expression(w, l->step.begin, l->step.end, p);
	return end;
}

static struct paths inside(struct flow *w, const struct loop *l, struct paths *p, bool value)
{
	struct paths some = { 0 };

	if (l->infinite)
		return value ? tame_copy_paths(w, p) : some;
	some = tame_where(w, p, l->condition, value);
	/* a condition that is true again and again does not tell the turns apart */
	for (size_t i = 0; value && i < some.count; i++)
		for (size_t k = 0; k < p->count; k++)
			if (p->at[k].where == some.at[i].where && !p->at[k].decided)
				some.at[i].decided = false;
	return some;
}

/* What is changed in a loop is not known at the beginning of any turn. */
static void forget_all(struct paths *p, size_t first, size_t last)
{
	for (size_t i = 0; i < p->count; i++) {
		uint64_t known;

		tame_forget(&p->at[i], first, last);
		known = p->at[i].known;
		for (size_t k = first; k < last; k++)
			if (tame_is(k, "="))
				known = 0;
		p->at[i].known = known;
	}
}

/* If the event is used in a loop, a way around it is taken to be none: the loop ends by that. */
static void excuse(struct flow *w, struct paths *p, size_t first, size_t last)
{
	if (!tame_names_event(w, first, last))
		return;
	for (size_t i = 0; i < p->count; i++)
		if (p->at[i].fate == KEPT)
			p->at[i].fate = PASSED;
}

static bool is_written(size_t token)
{
	return tokens[token].inclusion == NULL && tokens[token].from != TAME_NOWHERE;
}

/* A loop that a macro makes may be there for one turn. */
static size_t loop(struct flow *w, const struct loop *l, struct paths *p)
{
	struct paths breaks = { 0 }, *outer = w->breaks, first, again;
	struct paths after, left;
	size_t end = tame_end_of_statement(l->body);

	w->breaks = &breaks;
	if (l->condition.begin <= l->condition.end)
		tame_follow_expression(w, l->condition.begin, l->condition.end, p);
	left = inside(w, l, p, false);
	first = inside(w, l, p, true);
	forget_all(&first, l->body, end - 1);
	(void)turn(w, l, &first);
	after = inside(w, l, &first, false);
	tame_add_paths(w, &left, &after);
	if (is_written(l->word) && w->again < 3) {
		again = inside(w, l, &first, true);
		w->again++;
		(void)turn(w, l, &again);
		w->again--;
		after = inside(w, l, &again, false);
		tame_add_paths(w, &left, &after);
	}
	excuse(w, &left, l->body, end - 1);
	tame_decide_all(&left);
	after = l->infinite ? (struct paths){ 0 } : tame_copy_paths(w, &left);
	tame_decide_all(&breaks);
	tame_add_paths(w, &after, &breaks);
	w->breaks = outer;
	forget_all(&after, l->body, end - 1);
	*p = after;
	return end;
}

size_t tame_follow_while(struct flow *w, size_t i, struct paths *p)
{
	size_t close = tame_close(i + 1);
	struct loop l = {
		.condition = { i + 2, close - 1 }, .step = { 1, 0 }, .body = close + 1, .word = i
	};
	struct path nothing = { 0 };

	l.infinite = tame_decide(&nothing, i + 2, close - 1) == 1;
	return loop(w, &l, p);
}

size_t tame_follow_for(struct flow *w, size_t i, struct paths *p)
{
	size_t close = tame_close(i + 1), begin = tame_until(i + 2, ";");
	size_t middle = tame_until(begin + 1, ";");
	struct loop l = { .condition = { begin + 1, middle - 1 },
			  .step = { middle + 1, close - 1 },
			  .body = close + 1,
			  .word = i };

	tame_follow_expression(w, i + 2, begin - 1, p);
	l.infinite = middle == begin + 1;
	return loop(w, &l, p);
}

/* `do { } while (0)` is no loop. */
size_t tame_follow_do(struct flow *w, size_t i, struct paths *p)
{
	struct paths breaks = { 0 }, *outer = w->breaks;
	size_t body_end = tame_end_of_statement(i + 1), close = tame_close(body_end + 1);
	struct loop l = {
		.condition = { body_end + 2, close - 1 }, .step = { 1, 0 }, .body = i + 1, .word = i
	};

	w->breaks = &breaks;
	if (tame_is(body_end + 2, "0") && body_end + 3 == close) {
		(void)turn(w, &l, p);
		tame_add_paths(w, p, &breaks);
	} else {
		forget_all(p, i + 1, body_end - 1);
		(void)turn(w, &l, p);
		excuse(w, p, l.body, body_end - 1);
		tame_follow_expression(w, l.condition.begin, l.condition.end, p);
		tame_decide_all(p);
		tame_add_paths(w, p, &breaks);
	}
	w->breaks = outer;
	return close + 2;
}
