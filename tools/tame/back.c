/* back.c - puts the translated functions back into the source.
 *
 * What stands between two marks of the source is replaced by what stands between the same marks of
 * the expanded text, with its edits. Compilers will expand macros in that once more; so macros that
 * are named there are taken away for its length. What directives in it have done to macros and to
 * #if is done behind it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* From one mark to another. */
struct region {
	size_t first, last; /* marks */
};
static struct region *regions;
static size_t region_count;

static size_t last_mark_before(size_t token)
{
	size_t low = 0, high = expanded.mark_count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (expanded.marks[middle].token <= token)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void add_region(const struct function *f)
{
	size_t begin = tame_token_at(f->range.begin), end = tame_token_at(f->range.end);
	struct region r = { last_mark_before(begin), 0 }, *before = NULL;

	if (expanded.marks[r.first].token > begin) {
		tame_error(f->offset,
			   "'%s' is in a file that no line of the source includes: "
			   "include it by a line",
			   f->name);
		return;
	}
	r.last = r.first;
	while (r.last + 1 < expanded.mark_count && expanded.marks[r.last].token < end)
		r.last++;
	if (expanded.marks[r.last].token < end) {
		tame_error(f->offset, "weft-tame cannot follow the macros around '%s'", f->name);
		return;
	}
	if (region_count > 0)
		before = &regions[region_count - 1];
	if (before != NULL && r.first < before->last)
		before->last = r.last > before->last ? r.last : before->last;
	else
		*ADD(regions, region_count) = r;
}

/* Macros: those that are defined, before a token. */
struct name {
	const struct macro_change *last; /* NULL: no macro has this name */
	bool ever;                       /* it was defined before */
};
static struct name *table;
static size_t table_size;
static size_t changes_seen;

static struct name *find_name(const char *text, size_t size)
{
	size_t hash = 5381;

	for (size_t i = 0; i < size; i++)
		hash = hash * 33 + (unsigned char)text[i];
	for (hash &= table_size - 1;; hash = (hash + 1) & (table_size - 1)) {
		struct name *n = &table[hash];

		if (n->last == NULL ||
		    (n->last->name_size == size && memcmp(n->last->name, text, size) == 0))
			return n;
	}
}

static void follow_macros(size_t token)
{
	if (table == NULL) {
		for (table_size = 1024; table_size < 2 * expanded.change_count;)
			table_size *= 2;
		table = tame_alloc(table_size * sizeof *table);
	}
	for (; changes_seen < expanded.change_count; changes_seen++) {
		const struct macro_change *c = &expanded.changes[changes_seen];
		struct name *n;

		if (c->token > token)
			return;
		n = find_name(c->name, c->name_size);
		n->last = c;
		n->ever = n->ever || c->defined;
	}
}

/* The macros that the code of weft-tame itself is made of. */
static bool is_used(const char *name, size_t size)
{
	static const char *const used[] = { "WEFT_EVENT",        "WEFT_TAME_UNCOUNTED_",
					    "WEFT_TAME_LEAVES_", "weft_trigger",
					    "weft_async",        "weft_async_own" };

	for (size_t i = 0; i < sizeof used / sizeof *used; i++)
		if (tame_is_word(name, size, used[i]))
			return true;
	return false;
}

/* Whether a compiler would take a token of a text for a macro, as far as is known. */
static bool is_macro(const struct text *text, const struct token *t)
{
	const char *spelling = text->at + t->offset;
	const struct name *n = find_name(spelling, t->size);

	if (t->kind != 'i' || n->last == NULL || is_used(spelling, t->size))
		return false;
	/* pop_macro brings one back without a word of the preprocessor's */
	if (!n->last->defined)
		return n->ever;
	/* with parameters it is one only with arguments */
	return n->last->name[t->size] != '(' || t[1].kind == '(';
}

/* The macros that a text names, each once. */
static size_t macros_of(const struct text *text, const char ***names)
{
	static struct tokens all;
	size_t count = 0;

	*names = NULL;
	tame_lex_again(&all, text->at, text->size);
	for (size_t i = 0; i + 1 < all.count; i++) {
		const struct token *t = &all.at[i];
		bool known = false;

		if (!is_macro(text, t))
			continue;
		for (size_t k = 0; k < count && !known; k++)
			known = tame_is_word(text->at + t->offset, t->size, (*names)[k]);
		if (!known)
			*ADD(*names, count) = tame_copy(text->at + t->offset, t->size);
	}
	return count;
}

/* Of #if that begin outside the ends; of those that end outside the beginnings: what is
 * translated is compiled, so they are true. */
static void put_conditionals(struct text *out, size_t begin, size_t end, bool ends)
{
	size_t open = 0;

	for (size_t i = tame_source_token(begin); i < tame_source_token(end); i++) {
		const struct token *t = &source.tokens.at[i];
		enum tame_directive d;

		if (t->kind != '#')
			continue;
		d = tame_directive(source.text + t->offset, t->size);
		if (d == TAME_IF)
			open++;
		else if (d == TAME_ENDIF && open > 0)
			open--;
		else if (d == TAME_ENDIF && ends)
			tame_put(out, "#endif\n");
	}
	for (; open > 0 && !ends; open--)
		tame_put(out, "#if 1\n");
}

static void put_changes(struct text *out, size_t first, size_t last)
{
	for (size_t i = changes_seen; i < expanded.change_count; i++) {
		const struct macro_change *c = &expanded.changes[i];

		if (c->token >= last)
			return;
		if (c->token > first)
			tame_print(out, "%.*s\n", (int)c->text_size, c->text);
	}
}

/* The compiler shall count on as if it had met what the preprocessor has. */
static void put_counts(struct text *out, const struct region *r)
{
	static size_t *uses;
	const struct source_mark *marks = expanded.marks;
	size_t count;

	if (!expanded.counts)
		return;
	if (uses == NULL)
		uses = tame_count_uses();
	count = uses[marks[r->last].number] - uses[marks[r->first].number];
	for (; count > 0; count--)
		tame_put(out, "#if __COUNTER__\n#endif\n");
}

static size_t offset_of(size_t token)
{
	return token < token_count ? tokens[token].offset : expanded.size;
}

/* Preprocessors do not tell of these. */
static void check_pragmas(size_t begin, size_t end)
{
	for (size_t i = tame_source_token(begin); i < tame_source_token(end); i++) {
		const struct token *t = &source.tokens.at[i];
		char what[5];
		int whole = 0;

		if (t->kind == '#' &&
		    sscanf(tame_copy(source.text + t->offset, t->size), "# pragma %4[a-z]_macro%n",
			   what, &whole) == 1 &&
		    whole > 0)
			tame_source_error(t->offset,
					  "'#pragma %s_macro' in a function that waits: put it in "
					  "front of the function",
					  what);
	}
}

/* The compiler does not meet what a function has included, and would include it again. */
static void check_once(size_t first, size_t last)
{
	const struct inclusion *seen = NULL;

	for (size_t i = first; i < last; i++) {
		const struct inclusion *in = tokens[i].inclusion;

		if (in == NULL || in == seen)
			continue;
		seen = in;
		if (tame_is_once(in->header))
			tame_error(tokens[i].offset,
				   "'%s', which has '#pragma once', is included in a function that "
				   "waits: include it in front of the function",
				   in->header);
	}
}

/* A bracket that a macro opens, and the source closes, may hold marks among its arguments. */
static void check_brackets(size_t begin, size_t end)
{
	long open = 0;

	for (size_t i = tame_source_token(begin); i < tame_source_token(end); i++) {
		const struct token *t = &source.tokens.at[i];

		if (t->kind == '#')
			return; /* branches of #if may have brackets of their own */
		if (t->size == 1 && (t->kind == '(' || t->kind == ')'))
			open += t->kind == '(' ? 1 : -1;
	}
	if (open != 0)
		tame_source_error(source.tokens.at[tame_source_token(begin)].offset,
				  "weft-tame cannot follow the macros here: one opens or closes "
				  "a bracket of the source");
}

static void put_code(struct text *out, const struct region *r, const char **names, size_t count)
{
	size_t first = offset_of(expanded.marks[r->first].token);
	size_t last = offset_of(expanded.marks[r->last].token);
	/* declarations that are kept become statements, and others stand behind them; a program that
	 * chooses its warnings there does so for what is behind, too */
	bool own = memmem(expanded.text + first, last - first, "#pragma", 7) != NULL;

	tame_put(out, "\n");
	for (size_t i = 0; i < count; i++)
		tame_print(out, "#pragma push_macro(\"%s\")\n#undef %s\n", names[i], names[i]);
	if (!own)
		tame_put(out, "#pragma GCC diagnostic push\n"
			      "#pragma GCC diagnostic ignored \"-Wdeclaration-after-statement\"\n");
	out->file = NULL;
	tame_render(out, first, last);
	tame_put(out, own ? "\n" : "\n#pragma GCC diagnostic pop\n");
	for (size_t i = 0; i < count; i++)
		tame_print(out, "#pragma pop_macro(\"%s\")\n", names[i]);
}

static void put_region(struct text *out, const struct region *r)
{
	const struct source_mark *a = &expanded.marks[r->first], *z = &expanded.marks[r->last];
	struct place end = tame_source_place(z->source);
	struct text before = *out, code;
	const char **names;
	size_t count;

	check_pragmas(a->source, z->source);
	check_once(a->token, z->token);
	check_brackets(a->source, z->source);
	follow_macros(a->token);
	put_code(out, r, NULL, 0);
	code = (struct text){ .at = out->at + before.size, .size = out->size - before.size };
	count = macros_of(&code, &names);
	if (count > 0) {
		before.at = out->at; /* it may be elsewhere now */
		before.room = out->room;
		*out = before;
		put_code(out, r, names, count);
	}
	put_counts(out, r);
	put_conditionals(out, a->source, z->source, true);
	put_changes(out, a->token, z->token);
	put_conditionals(out, a->source, z->source, false);
	if (strcmp(z->file, end.file) != 0)
		end = (struct place){ z->file, z->line, 1 }; /* a #line says so */
	tame_print(out, "#line %u ", end.line);
	tame_put_string(out, end.file, strlen(end.file));
	tame_put(out, "\n");
}

/* From one folder to a file, both by their full names. */
static const char *way_to(const char *folder, const char *file)
{
	size_t same = 0, at = 0;
	struct text way = { 0 };

	for (; folder[at] == file[at] && folder[at] != '\0'; at++)
		if (folder[at] == '/')
			same = at;
	if (folder[at] == '\0' && file[at] == '/')
		same = at;
	for (at = same; folder[at] != '\0'; at++)
		if (folder[at] == '/' && folder[at + 1] != '\0')
			tame_put(&way, "../");
	tame_put(&way, file + same + 1);
	return way.at;
}

static const char *from_output(const char *file)
{
	const char *slash = strrchr(options.out, '/');
	char *folder =
		realpath(slash == NULL ? "."
				       : tame_copy(options.out, (size_t)(slash + 1 - options.out)),
			 NULL);
	char *full = realpath(file, NULL);
	const char *way = folder == NULL || full == NULL ? file : way_to(folder, full);

	free(folder);
	free(full);
	return way;
}

/* A header that was put in includes what is beside it, but its text is elsewhere now. */
static void put_text(struct text *out, size_t begin, size_t end)
{
	for (size_t i = tame_source_token(begin); i < tame_source_token(end); i++) {
		const struct token *t = &source.tokens.at[i];
		const char *file, *path;
		struct range name;

		if (t->kind != '#')
			continue;
		file = tame_source_place(t->offset).file;
		path = strcmp(file, options.in) == 0
			       ? NULL
			       : tame_beside(source.text + t->offset, t->size, file, &name);
		if (path == NULL)
			continue;
		tame_add(out, source.text + begin, t->offset + name.begin - begin);
		tame_put(out, from_output(path));
		begin = t->offset + name.end;
	}
	tame_add(out, source.text + begin, end - begin);
}

/* The source as it is; where another file begins a directive says so. */
static void put_source(struct text *out, size_t begin, size_t end)
{
	for (size_t i = 1; i < source.segment_count; i++) {
		struct segment *s = &source.segments[i];

		if (s->offset < begin || s->offset >= end)
			continue;
		put_text(out, begin, s->offset);
		tame_print(out, "#line %u ", s->line);
		tame_put_string(out, s->file, strlen(s->file));
		tame_put(out, "\n");
		begin = s->offset;
	}
	put_text(out, begin, end);
}

void tame_put_back(struct text *out)
{
	size_t at = 0;

	tame_sort_edits();
	for (size_t i = 0; i < function_count; i++)
		add_region(functions[i]);
	for (size_t i = 0; i < region_count; i++) {
		put_source(out, at, expanded.marks[regions[i].first].source);
		put_region(out, &regions[i]);
		at = expanded.marks[regions[i].last].source;
	}
	put_source(out, at, source.size);
}
