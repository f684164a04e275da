/* fate.c - what becomes of an event that a function gets: there is a warning if a way through the
 * function ends without having triggered it or passed it on, or triggers it twice.
 *
 * Everything but a trigger that is done with the event passes it on: from there on somebody else
 * may trigger it.
 */
#include <string.h>

#include "paths.h"

/* The event in an expression */

static bool is_event(const struct flow *w, size_t token)
{
	if (tokens[token].kind != 'i' || !tame_is(token, w->event->name))
		return false;
	for (size_t i = 0; i < w->f->reference_count; i++)
		if (w->f->references[i].offset == tokens[token].offset)
			return w->f->references[i].variable == w->event;
	return false;
}

bool tame_names_event(const struct flow *w, size_t first, size_t last)
{
	for (size_t i = first; i <= last && i < token_count; i++)
		if (is_event(w, i))
			return true;
	return false;
}

static void pass(struct paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		p->at[i].fate = PASSED;
}

static unsigned line_of(size_t token)
{
	return tame_place(tokens[token].offset).line;
}

static void say_again(const struct flow *w, const struct finding *g)
{
	if (tokens[g->before].offset == g->offset)
		tame_warning(g->offset,
			     "event '%s' is triggered in each turn of the loop, but an event is "
			     "triggered once: leave the loop then, or trigger it behind the loop",
			     w->event->name);
	else
		tame_warning(g->offset,
			     "event '%s' is triggered a second time, after line %u: an event is "
			     "triggered once; 'return' after the first, or use 'else'",
			     w->event->name, line_of(g->before));
}

/* Nothing may leave a twait block but at its end: that is an error already. */
static bool in_block(const struct function *f, size_t offset)
{
	for (size_t i = 0; i < f->wait_count; i++)
		if (offset >= f->waits[i]->body.begin && offset < f->waits[i]->body.end)
			return true;
	return false;
}

static void say_end(const struct flow *w, const struct finding *g)
{
	if (w->first_use != 0 && !in_block(w->f, g->offset))
		tame_warning(g->offset,
			     "'%s' ends here without event '%s', which line %u uses: trigger it or "
			     "pass it on here too, or say '(void)%s;' if nobody waits for it",
			     w->f->name, w->event->name, line_of(w->first_use), w->event->name);
}

static void trigger(struct flow *w, struct paths *p, size_t token)
{
	for (size_t i = 0; i < p->count; i++) {
		struct path *one = &p->at[i];

		if (one->fate == TRIGGERED && !one->decided)
			*ADD(w->findings, w->finding_count) =
				(struct finding){ tokens[token].offset, one->where };
		if (one->fate == PASSED)
			continue;
		one->fate = TRIGGERED;
		one->decided = false;
		one->where = token;
	}
}

/* `trigger(e, ...);` as tame_words.h has it: a variable is made of e first. */
static bool is_trigger(const struct flow *w, size_t first, size_t last)
{
	static const char *const words[] = { "__extension__", "(",       "{",
					     "__auto_type",   "weft_e_", "=" };
	size_t i = first + tame_is(first, TAME_TRIGGER), close;

	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if (!tame_is(i++, words[k]))
			return false;
	close = tame_until(i, ";");
	while (tame_is(i, "("))
		i++;
	return is_event(w, i) && tame_is(i + 1, ")") && !tame_names_event(w, close, last);
}

/* Jumps in an expression, ({ }), and what makes code of it that runs later. */
static bool is_beyond_us(size_t first, size_t last)
{
	static const char *const words[] = { "return", "break",    "continue",
					     "goto",   TAME_ASYNC, TAME_ASYNC_OWN };

	for (size_t i = first; i <= last && i < token_count; i++)
		for (size_t k = 0; k < sizeof words / sizeof *words; k++)
			if (tame_is(i, words[k]))
				return true;
	return false;
}

/* Functions that end the program or the thread */

static const char **enders;
static size_t ender_count;

static void add_ender(size_t i)
{
	while (i > 0 && !tame_is(i - 1, ";") && !tame_is(i - 1, "}"))
		i--;
	for (; i < token_count && !tame_is(i, ";") && !tame_is(i, "{"); i++) {
		if (!tame_is(i + 1, "(") || tokens[i].kind != 'i')
			continue;
		if (tame_is(i, "__attribute__") || tame_is(i, "__attribute")) {
			i = tame_close(i + 1);
			continue;
		}
		*ADD(enders, ender_count) = tame_spelling(i);
		return;
	}
}

static void find_enders(void)
{
	static const char *const always[] = {
		"__builtin_unreachable", "__builtin_trap", "exit", "abort", "_exit", "weft_exit"
	};

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		*ADD(enders, ender_count) = always[i];
	for (size_t i = 0; i < token_count; i++)
		if (tame_is(i, "noreturn") || tame_is(i, "__noreturn__") || tame_is(i, "_Noreturn"))
			add_ender(i);
}

static bool never_returns(size_t name)
{
	if (ender_count == 0)
		find_enders();
	for (size_t i = 0; i < ender_count; i++)
		if (tame_is(name, enders[i]))
			return true;
	return false;
}

void tame_follow_expression(struct flow *w, size_t first, size_t last, struct paths *p)
{
	if (first > last)
		return;
	w->lost = w->lost || is_beyond_us(first, last);
	if (tame_names_event(w, first, last) && w->first_use == 0)
		w->first_use = first;
	if (is_trigger(w, first, last))
		trigger(w, p, first);
	else if (tame_names_event(w, first, last))
		pass(p);
	for (size_t i = 0; i < p->count; i++)
		tame_forget(&p->at[i], first, last);
	if (tame_is(first + 1, "(") && tame_close(first + 1) == last && never_returns(first))
		p->count = 0;
}

void tame_end_paths(struct flow *w, const struct paths *p, size_t offset)
{
	for (size_t i = 0; i < p->count && w->checks_end; i++)
		if (p->at[i].fate == KEPT) {
			*ADD(w->findings, w->finding_count) = (struct finding){ offset, 0 };
			return;
		}
}

static void follow(struct function *f, struct variable *event)
{
	struct flow w = { .f = f, .event = event };
	struct path begin = { .fate = KEPT };
	struct paths all = { 0 };

	w.checks_end = tame_canonical(f->result).kind == CXType_Void;
	tame_add_path(&w, &all, begin);
	(void)tame_follow(&w, tame_token_at(f->body.begin), &all);
	tame_end_paths(&w, &all, f->body.end - 1);
	for (size_t i = 0; i < w.finding_count && !w.lost; i++)
		(w.findings[i].before != 0 ? say_again : say_end)(&w, &w.findings[i]);
}

void tame_check_paths(struct function *f)
{
	size_t first = tame_token_at(f->body.begin), last = tame_token_at(f->body.end);
	bool prepared = false;

	for (size_t i = 0; i < f->parameter_count; i++) {
		if (f->variables[i]->name[0] == '\0' || !tame_is_event(f->variables[i]->type))
			continue;
		if (!prepared)
			tame_find_facts(first, last);
		prepared = true;
		follow(f, f->variables[i]);
	}
}
