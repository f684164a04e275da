/* report.c - what the tool says: file:line:column, as compilers do. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

unsigned tame_errors;

/* What was said, so that nothing is said twice: macros use their arguments more than once. */
static char **said;
static size_t said_count;

static bool is_new(const char *line)
{
	for (size_t i = 0; i < said_count; i++)
		if (strcmp(said[i], line) == 0)
			return false;
	*ADD(said, said_count) = tame_copy(line, strlen(line));
	return true;
}

void tame_say(struct place where, const char *what, const char *text)
{
	char *line =
		tame_format("%s:%u:%u: %s: %s", where.file, where.line, where.column, what, text);

	if (is_new(line))
		fprintf(stderr, "%s\n", line);
	if (strcmp(what, "error") == 0)
		tame_errors++;
}

static char *format_list(const char *format, va_list list)
{
	char *text = NULL, *copy;

	if (vasprintf(&text, format, list) < 0)
		tame_fail("out of memory");
	copy = tame_copy(text, strlen(text));
	free(text);
	return copy;
}

void tame_source_error(size_t offset, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	tame_say(tame_source_place(offset), "error", format_list(format, list));
	va_end(list);
}

void tame_error(size_t offset, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	tame_say(tame_place(offset), "error", format_list(format, list));
	va_end(list);
}

void tame_warning(size_t offset, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	tame_say(tame_place(offset), options.werror ? "error" : "warning",
		 format_list(format, list));
	va_end(list);
}

void tame_fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("weft-tame: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	tame_remove_output();
	exit(1);
}
