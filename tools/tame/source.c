/* source.c - reads the file, puts headers in whose functions must be translated, and remembers
 * where every character came from.
 *
 * The result goes back into this text, so a function that stands in a header can only be
 * translated once the header's text has become part of it. Which headers these are is known after the
 * preprocessor has run: expand.c then asks for them, and everything begins again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

struct source source;

enum { MOST_NESTED = 100 };

/* An #include whose place a header's text takes. */
struct inlined {
	const char *file; /* where it stands */
	unsigned line;
	const char *header;
};
static struct inlined *inlined;
static size_t inlined_count;

static struct inlined *find_inlined(const char *file, unsigned line)
{
	for (size_t i = 0; i < inlined_count; i++)
		if (inlined[i].line == line && strcmp(inlined[i].file, file) == 0)
			return &inlined[i];
	return NULL;
}

bool tame_put_in(const char *file, unsigned line, const char *header)
{
	struct inlined *new;

	if (find_inlined(file, line) != NULL)
		return false;
	new = ADD(inlined, inlined_count);
	*new = (struct inlined){ .file = file, .line = line, .header = header };
	return true;
}

/* All headers with one text have one guard. */
static size_t once_of(const char *header)
{
	for (size_t i = 0; i < inlined_count; i++)
		if (strcmp(inlined[i].header, header) == 0)
			return i + 1;
	return 0;
}

char *tame_read_stream(FILE *file, size_t *size)
{
	struct text t = { 0 };
	char part[16384];
	size_t n;

	while ((n = fread(part, 1, sizeof part, file)) > 0)
		tame_add(&t, part, n);
	if (ferror(file))
		return NULL;
	*size = t.size;
	return t.at != NULL ? t.at : tame_copy("", 0);
}

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *text;

	if (file == NULL)
		return NULL;
	text = tame_read_stream(file, size);
	fclose(file);
	return text;
}

static void begin_segment(struct text *out, const char *file, unsigned line)
{
	struct segment *s = ADD(source.segments, source.segment_count);

	*s = (struct segment){ .offset = out->size, .file = file, .line = line };
}

static const char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? NULL : tame_copy(path, (size_t)(slash - path));
}

static bool is_there(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (file != NULL)
		fclose(file);
	return file != NULL;
}

/* A directive may go on on the next line. */
static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && strchr(" \t\\\r\n", *p) != NULL)
		p++;
	return p;
}

/* `#include "name"` for a file beside the one that says so: its name from where the compiler runs;
 * and the range of `name` in the directive. NULL: it is not of that kind. */
const char *tame_beside(const char *directive, size_t size, const char *file, struct range *name)
{
	const char *p, *end = directive + size, *close;
	const char *folder = folder_of(file), *path;

	p = skip_blanks(directive + 1, end);
	if (folder == NULL || end - p < 7 || memcmp(p, "include", 7) != 0)
		return NULL;
	p = skip_blanks(p + 7, end);
	if (p == end || *p != '"' || p[1] == '/')
		return NULL;
	close = memchr(p + 1, '"', (size_t)(end - p - 1));
	if (close == NULL)
		return NULL;
	path = tame_format("%s/%.*s", folder, (int)(close - p - 1), p + 1);
	*name = (struct range){ (size_t)(p + 1 - directive), (size_t)(close - directive) };
	return is_there(path) ? path : NULL;
}

static bool is_once(const char *directive, size_t size)
{
	char word[8], once[8];

	return sscanf(tame_copy(directive, size), "# %7[a-z] %7[a-z]", word, once) == 2 &&
	       strcmp(word, "pragma") == 0 && strcmp(once, "once") == 0;
}

bool tame_is_once(const char *file)
{
	size_t size;
	char *text = read_file(file, &size);
	struct tokens all = { 0 };

	if (text != NULL)
		all = tame_lex(text, size);
	for (size_t i = 0; i < all.count; i++)
		if (all.at[i].kind == '#' && is_once(text + all.at[i].offset, all.at[i].size))
			return true;
	return false;
}

static bool add_file(struct text *out, const char *file, unsigned depth);

static bool add_header(struct text *out, const struct inlined *i, unsigned depth)
{
	size_t once = once_of(i->header);

	if (depth >= MOST_NESTED) {
		tame_say((struct place){ i->file, i->line, 1 }, "error",
			 "headers include each other without end");
		return false;
	}
	tame_print(out, "#ifndef WEFT_TAME_ONCE_%zu\n", once);
	if (!add_file(out, i->header, depth + 1))
		return false;
	if (out->at[out->size - 1] != '\n')
		tame_put(out, "\n");
	begin_segment(out, i->file, i->line);
	tame_put(out, "#endif\n");
	return true;
}

/* Of a directive, where the compiler says it is. */
static unsigned last_line(const char *text, const struct token *t)
{
	return t->line + (unsigned)tame_count_lines(text + t->offset, t->size);
}

/* What stands in the text for a directive. */
static bool add_directive(struct text *out, const char *text, struct token *t, const char *file,
			  unsigned depth)
{
	const struct inlined *header = find_inlined(file, last_line(text, t));
	const char *directive = text + t->offset;

	if (header != NULL)
		return add_header(out, header, depth);
	if (depth > 0 && is_once(directive, t->size)) {
		tame_print(out, "#define WEFT_TAME_ONCE_%zu", once_of(file));
		return true;
	}
	tame_add(out, directive, t->size);
	return true;
}

/* %:%: is ##. The first half is `# ` by now. */
static bool is_pasting(const struct tokens *all, size_t i)
{
	const struct token *t = &all->at[i];

	return t->kind == '%' && i > 0 && t[-1].kind == '%' && t[-1].size == 2 &&
	       t[-1].offset + 2 == t->offset;
}

/* Other spellings of brackets and of #: as long as the usual ones with a blank. */
static void replace_digraphs(char *text, size_t size)
{
	static const char digraphs[][4] = { "<%{", "%>}", "<:[", ":>]", "%:#" };
	struct tokens all = tame_lex(text, size);

	for (size_t i = 0; i < all.count; i++)
		for (size_t k = 0; k < sizeof digraphs / sizeof *digraphs; k++)
			if (all.at[i].size == 2 &&
			    memcmp(text + all.at[i].offset, digraphs[k], 2) == 0) {
				text[all.at[i].offset] = digraphs[k][2];
				text[all.at[i].offset + 1] = ' ';
				if (is_pasting(&all, i))
					memcpy(text + all.at[i].offset - 2, "##  ", 4);
			}
}

static bool add_file(struct text *out, const char *file, unsigned depth)
{
	size_t size, from = 0;
	char *text = read_file(file, &size);
	struct tokens all;

	if (text == NULL) {
		fprintf(stderr, "weft-tame: %s: %s\n", file, strerror(errno));
		return false;
	}
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3, size -= 3; /* a byte order mark may only stand in front of a file */
	replace_digraphs(text, size);
	all = tame_lex(text, size);
	begin_segment(out, file, 1);
	for (size_t i = 0; i < all.count; i++) {
		struct token *t = &all.at[i];

		if (t->kind != '#')
			continue;
		tame_add(out, text + from, t->offset - from);
		if (!add_directive(out, text, t, file, depth))
			return false;
		from = t->offset + t->size;
		if (find_inlined(file, last_line(text, t)) == NULL)
			continue;
		from += from < size; /* the line's end */
		begin_segment(out, file, last_line(text, t) + 1);
	}
	tame_add(out, text + from, size - from);
	return true;
}

static const struct segment *segment_at(size_t offset)
{
	size_t low = 0, high = source.segment_count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (source.segments[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return &source.segments[low];
}

/* Where lines begin. */
static size_t *lines, line_count;

static void find_lines(void)
{
	lines = NULL;
	line_count = 0;
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

size_t tame_source_token(size_t offset)
{
	size_t low = 0, high = source.tokens.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (source.tokens.at[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct place tame_source_place(size_t offset)
{
	const struct segment *s = segment_at(offset);
	size_t line = line_at(offset);
	struct place p = { .file = s->file };

	p.line = s->line + (unsigned)(line - line_at(s->offset));
	p.column = (unsigned)(offset - (lines[line] > s->offset ? lines[line] : s->offset)) + 1;
	return p;
}

bool tame_read_source(const char *path)
{
	struct text out = { 0 };

	source = (struct source){ 0 };
	if (!add_file(&out, path, 0))
		return false;
	source.text = out.at != NULL ? out.at : tame_copy("", 0);
	source.size = out.size;
	source.tokens = tame_lex(source.text, source.size);
	find_lines();
	return true;
}
