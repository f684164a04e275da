/* source.c - reads the file, puts templates in where it includes them, and remembers where every
 * character came from.
 *
 * A template is a file named *.tame.h: tamed functions whose types and names are macros of who
 * includes it. libclang reads one file only that can be changed, so its text becomes part of that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

struct source source;

enum { MOST_NESTED = 32 };

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	struct text t = { 0 };
	char part[4096];
	size_t n;

	if (file == NULL)
		return NULL;
	while ((n = fread(part, 1, sizeof part, file)) > 0)
		tame_add(&t, part, n);
	n = (size_t)ferror(file);
	fclose(file);
	if (n != 0)
		return NULL;
	*size = t.size;
	return t.at != NULL ? t.at : tame_copy("", 0);
}

static bool readable(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (file != NULL)
		fclose(file);
	return file != NULL;
}

static const char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? "." : tame_copy(path, (size_t)(slash - path));
}

static const char *find_template(const char *name, bool quoted, const char *includer)
{
	const char *path;

	if (name[0] == '/')
		return readable(name) ? name : NULL;
	if (quoted) {
		path = strchr(includer, '/') == NULL
			       ? name
			       : tame_format("%s/%s", folder_of(includer), name);
		if (readable(path))
			return path;
	}
	for (size_t i = 0; i < options.folder_count; i++) {
		path = tame_format("%s/%s", options.folders[i], name);
		if (readable(path))
			return path;
	}
	return NULL;
}

/* Where a comment or a string that begins at p ends; p if none does. */
static const char *skip(const char *p, const char *end)
{
	const char *from = p;

	if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
		for (p += 2; p < end; p++)
			if (end - p >= 2 && p[0] == '*' && p[1] == '/')
				return p + 2;
		return end;
	}
	if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
		while (p < end && *p != '\n')
			p += p[0] == '\\' && end - p >= 2 ? 2 : 1;
		return p;
	}
	if (p < end && (*p == '"' || *p == '\'')) {
		for (p++; p < end && *p != *from && *p != '\n'; p++)
			if (*p == '\\' && end - p >= 2)
				p++;
		return p < end && *p == *from ? p + 1 : p;
	}
	return p;
}

static const char *blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* If a line includes a template: where that is. `p` is at the `#`. */
static const char *template_of(const char *p, const char *end, const char *includer)
{
	static const char word[] = "include";
	static const char suffix[] = ".tame.h";
	const char *name, *close;
	size_t size;

	p = blanks(p + 1, end);
	if ((size_t)(end - p) < sizeof word || memcmp(p, word, sizeof word - 1) != 0)
		return NULL;
	p = blanks(p + sizeof word - 1, end);
	if (p >= end || (*p != '"' && *p != '<'))
		return NULL;
	name = p + 1;
	close = memchr(name, *p == '"' ? '"' : '>', (size_t)(end - name));
	if (close == NULL || memchr(name, '\n', (size_t)(close - name)) != NULL)
		return NULL;
	size = (size_t)(close - name);
	if (size < sizeof suffix || memcmp(close - (sizeof suffix - 1), suffix, sizeof suffix - 1))
		return NULL;
	return find_template(tame_copy(name, size), *p == '"', includer);
}

static void begin_segment(struct text *out, const char *file, unsigned line)
{
	struct segment *s = ADD(source.segments, source.segment_count);

	*s = (struct segment){ .offset = out->size, .file = file, .line = line };
}

static bool expand(struct text *out, const char *file, unsigned depth);

static bool include(struct text *out, const char *template, const char *file, unsigned line,
		    unsigned depth)
{
	if (depth >= MOST_NESTED) {
		tame_say((struct place){ file, line, 1 }, "error", "templates include each other");
		return false;
	}
	*ADD(source.templates, source.template_count) = template;
	if (!expand(out, template, depth + 1))
		return false;
	if (out->size > 0 && out->at[out->size - 1] != '\n')
		tame_put(out, "\n");
	begin_segment(out, file, line + 1);
	return true;
}

static bool expand(struct text *out, const char *file, unsigned depth)
{
	size_t size;
	const char *p = read_file(file, &size);
	const char *end, *line = p, *after;
	unsigned number = 1;
	bool fresh = true; /* only blanks since the line began */

	if (p == NULL) {
		fprintf(stderr, "weft-tame: %s: %s\n", file, strerror(errno));
		return false;
	}
	end = p + size;
	if (size >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		line = p += 3; /* a byte order mark may only stand in front of a file */
	begin_segment(out, file, 1);
	while (p < end) {
		const char *template = NULL;

		if (fresh && *p == '#')
			template = template_of(p, end, file);
		if (template != NULL) {
			after = memchr(p, '\n', (size_t)(end - p));
			tame_add(out, line, (size_t)(p - line));
			if (p > line)
				tame_put(out, "\n");
			if (!include(out, template, file, number, depth))
				return false;
			p = line = after == NULL ? end : after + 1;
			number++;
			continue;
		}
		after = skip(p, end);
		if (after == p)
			after = p + 1;
		fresh = *p == '\n' || (fresh && (*p == ' ' || *p == '\t'));
		for (; p < after; p++) {
			if (*p != '\n')
				continue;
			number++;
			tame_add(out, line, (size_t)(p + 1 - line));
			line = p + 1;
		}
	}
	tame_add(out, line, (size_t)(end - line));
	return true;
}

bool tame_read_source(const char *path)
{
	struct text out = { 0 };

	if (!expand(&out, path, 0))
		return false;
	source.text = out.at != NULL ? out.at : tame_copy("", 0);
	source.size = out.size;
	return true;
}

/* Where lines begin. */
static size_t *lines, line_count;

static void find_lines(void)
{
	*ADD(lines, line_count) = 0;
	for (size_t i = 0; i < source.size; i++)
		if (source.text[i] == '\n')
			*ADD(lines, line_count) = i + 1;
}

static size_t line_at(size_t offset)
{
	size_t low = 0, high = line_count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct place tame_place(size_t offset)
{
	size_t low = 0, high = source.segment_count, at, line;
	struct place p;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (source.segments[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	if (lines == NULL)
		find_lines();
	at = source.segments[low].offset;
	line = line_at(offset);
	p.file = source.segments[low].file;
	p.line = source.segments[low].line + (unsigned)(line - line_at(at));
	p.column = (unsigned)(offset - (lines[line] > at ? lines[line] : at)) + 1;
	return p;
}
