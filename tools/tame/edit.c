/* edit.c - changes of the expanded text, and what they make of it.
 *
 * An edit replaces a range; its new text may hold ranges again, which are themselves written with
 * the edits that are in them. Each token is written on the line that it has in the source, by
 * empty lines or by a directive.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

struct edit {
	size_t begin, end;
	const char *text;
	size_t order;
	bool busy; /* being written: what is inside is meant now */
};
static struct edit *edits;
static size_t edit_count;

void tame_edit(size_t begin, size_t end, const char *text)
{
	struct edit *e = ADD(edits, edit_count);

	*e = (struct edit){ .begin = begin, .end = end, .text = text, .order = edit_count };
}

/* Macros use their arguments more than once. */
void tame_edit_once(size_t begin, size_t size, const char *text)
{
	static bool *edited;

	if (edited == NULL)
		edited = tame_alloc(expanded.size);
	if (!edited[begin])
		tame_edit(begin, begin + size, text);
	edited[begin] = true;
}

const char *tame_range(struct range r)
{
	return tame_format("\1%zu,%zu\2", r.begin, r.end);
}

/* Insertions come before what is replaced there, the outer before the inner. */
static int compare(const void *a, const void *b)
{
	const struct edit *l = a, *r = b;

	if (l->begin != r->begin)
		return l->begin < r->begin ? -1 : 1;
	if ((l->begin == l->end) != (r->begin == r->end))
		return l->begin == l->end ? -1 : 1;
	if (l->end != r->end)
		return l->end > r->end ? -1 : 1;
	return l->order < r->order ? -1 : 1;
}

void tame_sort_edits(void)
{
	if (edit_count > 1)
		qsort(edits, edit_count, sizeof *edits, compare);
}

static size_t first_edit(size_t begin)
{
	size_t low = 0, high = edit_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (edits[middle].begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Makes compilers take what follows for a line of a file; NULL: of the result itself. */
static void go_to(struct text *out, const char *file, unsigned line)
{
	if (out->size > 0 && out->at[out->size - 1] != '\n')
		tame_put(out, "\n");
	if (file == NULL) {
		file = options.out;
		line = (unsigned)out->lines + 2;
	}
	tame_print(out, "#line %u ", line);
	tame_put_string(out, file, strlen(file));
	tame_put(out, "\n");
	out->file = file;
	out->shift = (long)line - (long)out->lines;
}

/* The line of an offset begins, by a directive. */
static void go_to_line_of(struct text *out, size_t offset)
{
	struct token *t = &tokens[tame_token_at(offset)];

	go_to(out, t->file, t->line);
}

/* A token of another line. */
static bool go_on(struct text *out, const struct token *t)
{
	enum { CLOSE = 8 };
	long ahead = (long)t->line - ((long)out->lines + out->shift);
	bool same = out->file == t->file || (out->file != NULL && strcmp(out->file, t->file) == 0);

	if (same && ahead == 0)
		return false;
	if (!same || ahead < 0 || ahead > CLOSE)
		go_to(out, t->file, t->line);
	for (; ahead > 0 && (long)out->lines + out->shift < (long)t->line;)
		tame_put(out, "\n");
	return true;
}

/* What stands between two tokens: blanks, or pragmas on lines of their own. */
static void copy_gap(struct text *out, size_t begin, size_t end)
{
	const char *at = expanded.text + begin, *stop = expanded.text + end;

	if (memchr(at, '#', (size_t)(stop - at)) == NULL) {
		if (begin < end)
			tame_put(out, " ");
		return;
	}
	for (const char *line = at; line < stop; line++) {
		const char *line_end = memchr(line, '\n', (size_t)(stop - line));

		line_end = line_end == NULL ? stop : line_end;
		if (*line == '#')
			tame_print(out, "\n%.*s\n", (int)(line_end - line), line);
		line = line_end;
	}
}

/* Of comments the preprocessor leaves nothing, and compilers miss one: in front of a case, that it
 * is meant to be fallen into. */
static void put_comment(struct text *out, size_t i)
{
	const char *at = source.text + tokens[i].from, *begin = at, *end = NULL;

	if ((!tame_is(i, "case") && !tame_is(i, "default")) || tokens[i].from == TAME_NOWHERE)
		return;
	while (begin > source.text && begin[-1] != ';' && begin[-1] != '}' && begin[-1] != '{')
		begin--;
	begin = memmem(begin, (size_t)(at - begin), "/*", 2);
	if (begin != NULL)
		end = memmem(begin, (size_t)(at - begin), "*/", 2);
	if (end != NULL && memchr(begin, '\n', (size_t)(end - begin)) == NULL)
		tame_print(out, "%.*s ", (int)(end + 2 - begin), begin);
}

/* Words that only tell weft-tame something are not there in the result. */
void tame_put_token(struct text *out, size_t i)
{
	if (tokens[i].body_size > 0)
		tame_put_body(out, &tokens[i]);
	else if (tame_is(i, TAME_TAMED))
		tame_put(out, "void");
	else if (tame_is(i, TAME_ASYNC) || tame_is(i, TAME_ASYNC_OWN))
		tame_put(out, tame_spelling(i));
	else if (!tame_is(i, TAME_THREADED) && !tame_is(i, TAME_TRIGGER) && !tame_is(i, TAME_WAITS))
		tame_add(out, expanded.text + tokens[i].offset, tokens[i].size);
}

static void copy(struct text *out, size_t begin, size_t end)
{
	size_t i = tame_token_at(begin);

	for (; i < token_count && tokens[i].offset < end; i++) {
		const struct token *t = &tokens[i];

		copy_gap(out, begin, t->offset);
		if (go_on(out, t))
			tame_put(out, " ");
		put_comment(out, i);
		tame_put_token(out, i);
		begin = t->offset + t->size;
	}
	copy_gap(out, begin, end);
}

/* tame_c and its like: what is made for every function. */
static bool is_made(const char *name, size_t size)
{
	static const char prefix[] = "tame_";
	size_t at = sizeof prefix;

	if (size < sizeof prefix || memcmp(name, prefix, sizeof prefix - 1) != 0)
		return false;
	while (at < size && name[at] >= '0' && name[at] <= '9')
		at++;
	return at == size || tame_is_word(name, size, "tame_event") ||
	       tame_is_word(name, size, "tame_scopes") || tame_is_word(name, size, "tame_call") ||
	       tame_is_word(name, size, "tame_id") || tame_is_word(name, size, "tame_result");
}

static bool is_prefix_taken(const char *prefix)
{
	size_t size = strlen(prefix);

	for (size_t i = 0; i < token_count; i++)
		if (tokens[i].kind == 'i' && tokens[i].size > size &&
		    memcmp(expanded.text + tokens[i].offset, prefix, size) == 0)
			return true;
	return false;
}

/* 0: the program uses none of these names. */
static unsigned prefix_number(void)
{
	static unsigned number = UINT_MAX;

	if (number != UINT_MAX)
		return number;
	number = 0;
	for (size_t i = 0; i < token_count; i++)
		if (is_made(expanded.text + tokens[i].offset, tokens[i].size))
			number = 2;
	while (number > 0 && is_prefix_taken(tame_format("tame%u_", number)))
		number++;
	return number;
}

/* What the names that are made for every function begin with. */
static const char *prefix(void)
{
	static const char *text;

	if (text == NULL)
		text = prefix_number() == 0 ? "tame_" : tame_format("tame%u_", prefix_number());
	return text;
}

static void write_text(struct text *out, const char *text)
{
	size_t begin, end;
	char *rest;

	while (*text != '\0') {
		size_t plain = strcspn(text, "\1\3\4\5\6");

		tame_add(out, text, plain);
		text += plain;
		if (*text == '\1') {
			begin = strtoull(text + 1, &rest, 10);
			end = strtoull(rest + 1, &rest, 10);
			tame_render(out, begin, end);
			text = rest + 1;
		} else if (*text == '\4') {
			go_to_line_of(out, strtoull(text + 1, &rest, 10));
			text = rest + 1;
		} else if (*text == '\6') {
			begin = strtoull(text + 1, &rest, 10);
			(void)go_on(out, &tokens[tame_token_at(begin)]);
			text = rest + 1;
		} else if (*text == '\5') {
			tame_put(out, prefix());
			text++;
		} else if (*text == '\3') {
			go_to(out, NULL, 0);
			text++;
		}
	}
}

static void write_edit(struct text *out, struct edit *e)
{
	if (e->begin < e->end)
		(void)go_on(out, &tokens[tame_token_at(e->begin)]);
	e->busy = true;
	write_text(out, e->text);
	e->busy = false;
}

void tame_render(struct text *out, size_t begin, size_t end)
{
	for (size_t i = first_edit(begin); i < edit_count && edits[i].begin < end; i++) {
		struct edit *e = &edits[i];

		if (e->busy || e->end > end || e->begin < begin)
			continue;
		copy(out, begin, e->begin);
		write_edit(out, e);
		begin = e->end;
	}
	copy(out, begin, end);
}
