/* edit.c - changes of the source's text, and the text that they make of it.
 *
 * An edit replaces a range; its new text may hold ranges again, which are themselves
 * written with the edits that are in them. Lines stay where they were: what an edit takes
 * away of them it gives back.
 */
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
		edited = tame_alloc(source.size);
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

/* The source as it is; where another file begins a directive says so. */
static void copy(struct text *out, size_t begin, size_t end)
{
	for (size_t i = 0; i < source.segment_count; i++) {
		struct segment *s = &source.segments[i];

		if (s->offset < begin || s->offset >= end || s->offset == 0)
			continue;
		tame_add(out, source.text + begin, s->offset - begin);
		tame_print(out, "#line %u ", s->line);
		tame_put_string(out, s->file, strlen(s->file));
		tame_put(out, "\n");
		begin = s->offset;
	}
	tame_add(out, source.text + begin, end - begin);
}

static void write_text(struct text *out, const char *text)
{
	size_t begin, end;
	char *rest;

	while (*text != '\0') {
		size_t plain = strcspn(text, "\1\3");

		tame_add(out, text, plain);
		text += plain;
		if (*text == '\1') {
			begin = strtoull(text + 1, &rest, 10);
			end = strtoull(rest + 1, &rest, 10);
			tame_render(out, begin, end);
			text = rest + 1;
		} else if (*text == '\3') {
			tame_print(out, "#line %zu ", out->lines + 2);
			tame_put_string(out, options.out, strlen(options.out));
			tame_put(out, "\n");
			text++;
		}
	}
}

static void write_edit(struct text *out, struct edit *e)
{
	size_t from = out->lines;
	size_t had = tame_count_lines(source.text + e->begin, e->end - e->begin);

	e->busy = true;
	write_text(out, e->text);
	e->busy = false;
	while (out->lines - from < had)
		tame_put(out, "\n");
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
