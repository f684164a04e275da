/* emit_awaited.c - for reports: which events a wait is for, and which function got each to trigger it. */
#include <string.h>

#include "tool.h"

enum { MOST_NAMED = 3 };

static bool is_word_of_c(size_t token)
{
	static const char *const words[] = { "if",     "while",      "for",
					     "switch", "return",     "sizeof",
					     "else",   "__typeof__", "__attribute__" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (tame_is(token, words[i]))
			return true;
	return false;
}

/* The function whose argument it is; NULL: it is none, as in `e = mkevent(x);`. */
const char *tame_given_to(const struct mkevent *m)
{
	int depth = 0;

	for (size_t i = tame_token_at(m->offset); i-- > 1 && !tame_is(i, ";");) {
		depth += tame_nesting(&tokens[i]);
		if (depth <= 0)
			continue;
		depth = 0;
		if (!tame_is(i, "("))
			return NULL;
		if (tokens[i - 1].kind == 'i' && !is_word_of_c(i - 1))
			return tame_written(tokens[i - 1].offset, tame_spelling(i - 1));
	}
	return NULL;
}

static bool may_end(const struct mkevent *m, const struct wait *w)
{
	if (w->kind == WAIT_BLOCK)
		return m->wait == w && !m->of_rendezvous;
	return m->of_rendezvous &&
	       strcmp(tame_cut(m->arguments[0].range), tame_cut(w->rendezvous.range)) == 0;
}

static void put_event(struct text *out, const struct mkevent *m, bool first)
{
	const char *text = tame_cut(m->range), *given = tame_given_to(m);

	tame_print(out, "%s", first ? ", " : " \", or \" ");
	tame_put_string(out, text, strlen(text));
	tame_print(out, " \" of \" %s", tame_here(m->offset));
	if (given != NULL)
		tame_print(out, " \", given to %s()\"", given);
}

/* What goes on in the table of waits: a string, or NULL. */
void tame_emit_awaited(struct text *out, const struct function *f, const struct wait *w)
{
	size_t count = 0;

	for (size_t i = 0; i < f->mkevent_count; i++) {
		if (!may_end(f->mkevents[i], w))
			continue;
		if (count < MOST_NAMED)
			put_event(out, f->mkevents[i], count == 0);
		count++;
	}
	if (count > MOST_NAMED)
		tame_print(out, " \", or %zu more\"", count - MOST_NAMED);
	if (count == 0)
		tame_put(out, ", 0");
}
