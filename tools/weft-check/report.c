/* report.c - prints the findings as compilers do, sorted by file and line, each once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

struct finding {
	struct place place;
	const char *text;
	struct text notes;
};
static struct finding *findings;
static size_t finding_count;

void check_find(struct place where, const char *text)
{
	struct finding *f = ADD(findings, finding_count);

	f->place = where;
	f->text = text;
}

void check_note(struct place where, const char *text)
{
	tame_print(&findings[finding_count - 1].notes, "%s:%u:%u: note: %s\n", where.file,
		   where.line, where.column, text);
}

static int by_place(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	int files = strcmp(x->place.file, y->place.file);

	if (files != 0)
		return files;
	if (x->place.line != y->place.line)
		return x->place.line < y->place.line ? -1 : 1;
	if (x->place.column != y->place.column)
		return x->place.column < y->place.column ? -1 : 1;
	return strcmp(x->text, y->text);
}

unsigned check_report(void)
{
	unsigned count = 0;

	if (finding_count > 0)
		qsort(findings, finding_count, sizeof *findings, by_place);
	for (size_t i = 0; i < finding_count; i++) {
		const struct finding *f = &findings[i];

		if (i > 0 && by_place(f - 1, f) == 0)
			continue;
		printf("%s:%u:%u: error: %s\n%s", f->place.file, f->place.line, f->place.column,
		       f->text, f->notes.at == NULL ? "" : f->notes.at);
		count++;
	}
	return count;
}
