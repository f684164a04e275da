/* feed.c - the text that the preprocessor gets: the source with marks in it.
 *
 * A mark is a name that no program has and no macro, with a number. It comes out of the
 * preprocessor where it went in, and so tells which place of the source that is. Marks stand behind
 * `;` `{` `}` and around directives, if no bracket is open: arguments of a macro have brackets
 * around them, so there is never a mark among them.
 */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

size_t *tame_marks; /* offsets in the source, by number */
size_t tame_mark_count;

struct branch {
	int begin; /* the depth where it begins */
	int least; /* where one has ended */
};

struct feed {
	struct text out;
	size_t copied; /* of the source */
	size_t segment;
	int depth;              /* of brackets */
	struct branch *outside; /* of each #if that is open */
	bool counting;
	size_t if_count;
};

static void put_line(struct feed *f, const struct segment *s)
{
	tame_print(&f->out, "#line %u ", s->line);
	tame_put_string(&f->out, s->file, strlen(s->file));
	tame_put(&f->out, "\n");
}

/* The source up to an offset. */
static void copy(struct feed *f, size_t to)
{
	while (f->segment < source.segment_count && source.segments[f->segment].offset <= to) {
		const struct segment *s = &source.segments[f->segment++];

		tame_add(&f->out, source.text + f->copied, s->offset - f->copied);
		f->copied = s->offset;
		put_line(f, s);
	}
	tame_add(&f->out, source.text + f->copied, to - f->copied);
	f->copied = to;
}

static void mark(struct feed *f, size_t at)
{
	if (f->depth > 0)
		return;
	copy(f, at);
	tame_print(&f->out, " %s%zu ", TAME_MARK, tame_mark_count);
	if (f->counting)
		tame_put(&f->out, "__COUNTER__ ");
	*ADD(tame_marks, tame_mark_count) = at;
}

/* The branches of an #if begin with as many open brackets as it has itself. Those that are not
 * compiled may leave some open. */
static void follow_conditional(struct feed *f, const struct token *t)
{
	enum tame_directive d = tame_directive(source.text + t->offset, t->size);
	struct branch *b = f->if_count > 0 ? &f->outside[f->if_count - 1] : NULL;

	if (d == TAME_IF)
		*ADD(f->outside, f->if_count) = (struct branch){ f->depth, f->depth };
	if (b == NULL || (d != TAME_ELSE && d != TAME_ENDIF))
		return;
	if (f->depth < b->least)
		b->least = f->depth;
	f->depth = d == TAME_ELSE ? b->begin : b->least;
	f->if_count -= d == TAME_ENDIF;
}

/* The preprocessor reads a pipe: it does not know where the file is. */
static void put_directive(struct feed *f, const struct token *t)
{
	const char *file = tame_source_place(t->offset).file, *path;
	struct range name;

	copy(f, t->offset);
	path = tame_beside(source.text + t->offset, t->size, file, &name);
	if (path == NULL)
		return;
	copy(f, t->offset + name.begin);
	tame_put(&f->out, path);
	f->copied = t->offset + name.end;
}

static bool is(const struct token *t, char kind)
{
	return t->size == 1 && t->kind == kind;
}

/* Whether a mark may stand between two tokens: it could keep a macro's name from its arguments. */
static bool may_stand(size_t before)
{
	for (size_t i = before; i < source.tokens.count; i++)
		if (source.tokens.at[i].kind != '#')
			return !is(&source.tokens.at[i], '(');
	return true;
}

static void put_token(struct feed *f, size_t i)
{
	const struct token *all = source.tokens.at, *t = &all[i];
	bool directive = t->kind == '#';

	if (directive && i > 0 && all[i - 1].kind != '#' && may_stand(i))
		mark(f, all[i - 1].offset + all[i - 1].size);
	if (directive) {
		put_directive(f, t);
		follow_conditional(f, t);
		return;
	}
	if ((i == 0 || all[i - 1].kind == '#') && !is(t, '('))
		mark(f, t->offset);
	if (is(t, '(') || is(t, '['))
		f->depth++;
	if ((is(t, ')') || is(t, ']')) && f->depth > 0)
		f->depth--;
	if (is(t, ';') || is(t, '{') || is(t, '}'))
		mark(f, t->offset + t->size);
}

struct text tame_feed(bool counting)
{
	struct feed f = { .counting = counting };

	tame_marks = NULL;
	tame_mark_count = 0;
	for (size_t i = 0; i < source.tokens.count; i++)
		put_token(&f, i);
	f.depth = 0;
	copy(&f, source.size);
	tame_put(&f.out, "\n\n"); /* a backslash may end the last line */
	mark(&f, source.size);
	tame_put(&f.out, "\n" TAME_COUNT " __COUNTER__\n");
	return f.out;
}

enum tame_directive tame_directive(const char *text, size_t size)
{
	size_t at = 1;

	while (at < size && (text[at] == ' ' || text[at] == '\t'))
		at++;
	text += at;
	size -= at;
	if (size >= 2 && memcmp(text, "if", 2) == 0)
		return TAME_IF; /* or ifdef, ifndef */
	if (size >= 4 && memcmp(text, "else", 4) == 0)
		return TAME_ELSE;
	if (size >= 4 && memcmp(text, "elif", 4) == 0)
		return TAME_ELSE; /* or elifdef */
	if (size >= 5 && memcmp(text, "endif", 5) == 0)
		return TAME_ENDIF;
	return TAME_OTHER;
}
