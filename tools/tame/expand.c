/* expand.c - reads what the preprocessor gives: the tokens of the program with all macros expanded,
 * where each of them comes from, and which macros are defined where.
 *
 * The text for libclang is made of these tokens. Bodies of functions that have none of Weft's words
 * are left out of it: they have no say in what others mean, they are most of the text, and
 * a compiler's own headers use in them what only that compiler understands.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

struct expanded expanded;
struct token *tokens;
size_t token_count;

struct raw { /* a token of the preprocessor's text */
	const char *at;
	struct token t;
	bool left; /* out of what libclang reads */
};

static struct raw *raw;
static size_t raw_count;
static struct inclusion *inclusion; /* NULL: of the source */
static const char *file;
static unsigned line;
static bool is_system;

/* One string for each name of a file. */
static const char *name_of_file(const char *name, size_t size)
{
	for (size_t i = expanded.file_count; i > 0; i--)
		if (strlen(expanded.files[i - 1]) == size &&
		    memcmp(expanded.files[i - 1], name, size) == 0)
			return expanded.files[i - 1];
	return *ADD(expanded.files, expanded.file_count) = tame_copy(name, size);
}

static const char *unescaped(const char *p, const char *end)
{
	struct text t = { 0 };

	for (; p < end && *p != '"'; p++) {
		if (*p == '\\' && p + 1 < end)
			p++;
		tame_add(&t, p, 1);
	}
	return name_of_file(t.at == NULL ? "" : t.at, t.size);
}

/* # 12 "file" 1 3: a file begins (1), is gone back to (2), or belongs to the system (3). */
static void read_marker(const char *p, const char *end)
{
	char *after;
	unsigned long number = strtoul(p + 1, &after, 10);
	const char *name, *flags = memrchr(p, '"', (size_t)(end - p));

	if (flags == NULL)
		return;
	name = unescaped(strchr(after, '"') + 1, end);
	is_system = memchr(flags, '3', (size_t)(end - flags)) != NULL;
	if (memchr(flags, '1', (size_t)(end - flags)) != NULL) {
		struct inclusion *inner = tame_alloc(sizeof *inner);

		*inner = (struct inclusion){ .outer = inclusion, .header = name, .file = file };
		inclusion = inner;
	} else if (memchr(flags, '2', (size_t)(end - flags)) != NULL && inclusion != NULL) {
		inclusion->line = (unsigned)number - 1;
		inclusion = inclusion->outer;
	}
	file = name;
	line = (unsigned)number;
}

static struct macro_change *add_change(const char *text, const char *end, const char *name)
{
	struct macro_change *c = ADD(expanded.changes, expanded.change_count);
	const char *p = name;

	while (p < end && *p != ' ' && *p != '(')
		p++;
	c->token = raw_count;
	c->name = name;
	c->name_size = (uint32_t)(p - name);
	c->text = text;
	c->text_size = (uint32_t)(end - text);
	return c;
}

static void add_pragma(const char *p, const char *end)
{
	struct raw *r = ADD(raw, raw_count);

	*r = (struct raw){
		.at = p, .t = { .size = (size_t)(end - p), .kind = '#', .line = line, .file = file }
	};
}

static void read_directive(const char *p, const char *end)
{
	if (end - p > 2 && p[1] == ' ' && p[2] >= '0' && p[2] <= '9') {
		read_marker(p, end);
		return;
	}
	if (strncmp(p, "#define ", 8) == 0)
		add_change(p, end, p + 8)->defined = true;
	else if (strncmp(p, "#undef ", 7) == 0)
		(void)add_change(p, end, p + 7);
	else
		add_pragma(p, end);
	line++;
}

static void say_spoilt(void)
{
	tame_say((struct place){ file, line, 1 }, "error",
		 "weft-tame cannot follow the macros here: an argument of one has ';' or '{' "
		 "outside of all brackets");
}

/* Marks come out in the order in which they went in, each once. */
static bool read_mark(const char *p, size_t size)
{
	size_t prefix = strlen(TAME_MARK), number;
	struct source_mark *m;
	char *end;

	if (size <= prefix || memcmp(p, TAME_MARK, prefix) != 0)
		return false;
	number = strtoul(p + prefix, &end, 10);
	if (end != p + size || number >= tame_mark_count)
		return false;
	if (expanded.mark_count > 0 && expanded.marks[expanded.mark_count - 1].number >= number) {
		say_spoilt();
		return true;
	}
	m = ADD(expanded.marks, expanded.mark_count);
	*m = (struct source_mark){ raw_count, tame_marks[number], number, file, line };
	return true;
}

static void read_tokens(const char *p, const char *end)
{
	static struct tokens found;

	tame_lex_again(&found, p, (size_t)(end - p));
	for (size_t i = 0; i < found.count; i++) {
		struct token *t = &found.at[i];
		const char *at = p + t->offset;

		if (t->kind == 'i' && read_mark(at, t->size))
			continue;
		if (tame_is_word(at, t->size, TAME_COUNT) && i + 1 < found.count) {
			expanded.counts = p[found.at[i + 1].offset] != '0';
			break;
		}
		if ((t->kind == 'i' || t->kind == 's') &&
		    memmem(at, t->size, TAME_MARK, strlen(TAME_MARK)) != NULL)
			say_spoilt();
		t->line = line;
		t->file = file;
		t->system = is_system;
		t->inclusion = inclusion;
		*ADD(raw, raw_count) = (struct raw){ .at = at, .t = *t };
	}
	line++;
}

static void read_lines(const char *p, const char *end)
{
	while (p < end) {
		const char *next = memchr(p, '\n', (size_t)(end - p));

		next = next == NULL ? end : next;
		if (*p == '#')
			read_directive(p, next);
		else if (next > p)
			read_tokens(p, next);
		else
			line++;
		p = next + 1;
	}
}

/* Bodies */

static bool is(size_t i, const char *what)
{
	return i < raw_count && raw[i].t.size == strlen(what) &&
	       memcmp(raw[i].at, what, raw[i].t.size) == 0;
}

static size_t close_of(size_t i)
{
	int open = 0;

	for (; i < raw_count; i++) {
		open += tame_nesting(&raw[i].t);
		if (open == 0 && raw[i].t.kind != '#')
			return i;
	}
	return raw_count;
}

/* Whether the brackets before a brace are those of a function's parameters. */
static bool has_parameters(size_t close)
{
	static const char *const others[] = { "__attribute__", "__attribute", "__asm__",
					      "__asm",         "asm",         "_Alignas",
					      "__typeof__",    "__typeof",    "typeof" };
	int open = 0;
	size_t i = close;

	if (!is(i, ")"))
		return false;
	for (; i > 0; i--) {
		open += tame_nesting(&raw[i].t);
		if (open == 0)
			break;
	}
	if (i == 0 || raw[i - 1].t.kind != 'i')
		return false;
	for (size_t k = 0; k < sizeof others / sizeof *others; k++)
		if (is(i - 1, others[k]))
			return false;
	return true;
}

static bool has_word(size_t first, size_t last)
{
	for (size_t i = first; i <= last && i < raw_count; i++)
		if (raw[i].t.kind == 'i' && raw[i].t.size > 10 &&
		    (memcmp(raw[i].at, "WEFT_TAME_", 10) == 0 || is(i, "weft_tame_rendezvous")))
			return true;
	return false;
}

/* Whether a definition has to be translated. */
static bool is_ours(size_t first, size_t last)
{
	for (size_t i = first; i <= last && i < raw_count; i++)
		if (raw[i].at[0] != 'W')
			continue;
		else if (is(i, TAME_TAMED) || is(i, TAME_THREADED) || is(i, TAME_TWAIT) ||
			 is(i, TAME_MKEVENT) || is(i, TAME_TFORK))
			return true;
	return false;
}

/* A function of ours in a header: its text, and that of all that include it, is put in. */
static bool ask_for_header(const struct token *t)
{
	bool new = false;

	for (const struct inclusion *i = t->inclusion; i != NULL; i = i->outer)
		if (i->file != NULL && tame_put_in(i->file, i->line, i->header))
			new = true;
	return new;
}

static bool includes(size_t first, size_t last)
{
	for (size_t i = first; i <= last && i < raw_count; i++)
		if (raw[i].t.inclusion != raw[first].t.inclusion)
			return true;
	return false;
}

/* What is behind a body must not be taken for what is behind a mark in it. */
static void drop_marks(size_t first, size_t last)
{
	size_t low = expanded.mark_count, kept = 0;

	while (low > 0 && expanded.marks[low - 1].token > first)
		low--;
	for (size_t i = kept = low; i < expanded.mark_count; i++)
		if (expanded.marks[i].token > last)
			expanded.marks[kept++] = expanded.marks[i];
	expanded.mark_count = kept;
}

static void leave_out(size_t first, size_t last)
{
	struct raw *r = &raw[first];

	if (r->t.inclusion == NULL)
		drop_marks(first, last);
	last = last < raw_count ? last : raw_count - 1;
	r->t.body = (uint32_t)first;
	r->t.body_size = (uint32_t)(last + 1 - first);
	r->left = true;
	while (++first <= last)
		raw[first].left = true;
}

/* True: a header must be put in, and all be read again. */
static bool look_at_bodies(void)
{
	size_t begin = 0;
	bool again = false;

	for (size_t i = 0; i < raw_count; i++) {
		size_t close;

		if (raw[i].t.kind == '#')
			continue;
		if (is(i, ";")) {
			begin = i + 1;
			continue;
		}
		if (tame_nesting(&raw[i].t) <= 0)
			continue;
		close = close_of(i);
		if (is(i, "{") && (has_parameters(i - 1) || i == begin)) {
			if (is_ours(begin, close))
				again = ask_for_header(&raw[i].t) || again;
			else if (!has_word(begin, close) && i > begin && !includes(i, close))
				leave_out(i, close);
			begin = close + 1;
		}
		i = close;
	}
	return again;
}

/* The text for libclang. */

static void put_raw(struct text *out, const struct raw *r, const struct raw *before)
{
	struct token *t;
	bool body = r->t.body_size > 0;

	if (r->left && !body)
		return;
	if (r->t.kind == '#' || before == NULL || before->t.line != r->t.line ||
	    before->t.kind == '#')
		tame_put(out, "\n");
	else if (before->at + before->t.size != r->at)
		tame_put(out, " ");
	if (r->t.kind != '#') {
		t = ADD(tokens, token_count);
		*t = r->t;
		t->offset = (uint32_t)out->size;
		if (body)
			t->kind = ';', t->size = 1;
	}
	tame_add(out, body ? ";" : r->at, body ? 1 : r->t.size);
}

bool tame_body_has(const struct token *t, const char *word, const char *next)
{
	for (size_t i = t->body; i < t->body + t->body_size; i++)
		if (is(i, word) && is(i + 1, next))
			return true;
	return false;
}

void tame_put_body(struct text *out, const struct token *t)
{
	for (size_t i = t->body; i < t->body + t->body_size; i++)
		tame_print(out, raw[i].t.kind == '#' ? "\n%.*s\n" : "%.*s ", (int)raw[i].t.size,
			   raw[i].at);
}

/* Marks and changes of macros tell the number of a token from now on. */
static void write_text(void)
{
	struct text out = { 0 };
	size_t m = 0, c = 0;

	tame_put(&out, tame_dialect());
	for (size_t i = 0; i <= raw_count; i++) {
		for (; m < expanded.mark_count && expanded.marks[m].token == i; m++)
			expanded.marks[m].token = token_count;
		for (; c < expanded.change_count && expanded.changes[c].token == i; c++)
			expanded.changes[c].token = token_count;
		if (i < raw_count)
			put_raw(&out, &raw[i], i == 0 ? NULL : &raw[i - 1]);
	}
	tame_put(&out, "\n");
	expanded.text = out.at;
	expanded.size = out.size;
}

/* Whether there is anything to translate, or wrong. */
static bool is_tame(void)
{
	for (size_t i = 0; i < raw_count; i++)
		if (raw[i].t.inclusion == NULL && raw[i].at[0] == 'W' &&
		    (is_ours(i, i) || is(i, TAME_TRIGGER)))
			return true;
	return false;
}

bool tame_expand(void)
{
	struct text feed = tame_feed(false);
	size_t size;
	char *text = tame_preprocess(&feed, &size);

	expanded = (struct expanded){ 0 };
	raw = NULL, tokens = NULL;
	raw_count = token_count = 0;
	inclusion = NULL;
	file = name_of_file(options.in, strlen(options.in));
	line = 1;
	read_lines(text, text + size);
	if (expanded.mark_count == 0 ||
	    expanded.marks[expanded.mark_count - 1].number + 1 != tame_mark_count)
		tame_fail("%s: the preprocessor does not give all of it", options.in);
	if (look_at_bodies())
		return false;
	write_text();
	expanded.is_tame = is_tame();
	if (expanded.is_tame)
		tame_align();
	return true;
}

static const struct token *token_of(size_t offset)
{
	static const struct token none;
	size_t i = tame_token_at(offset);

	return token_count == 0 ? &none : &tokens[i < token_count ? i : token_count - 1];
}

size_t *tame_count_uses(void)
{
	struct text feed = tame_feed(true);
	size_t size, *uses = tame_alloc((tame_mark_count + 1) * sizeof *uses), marks = 0;
	const char *p = tame_preprocess(&feed, &size);

	while ((p = strstr(p, TAME_MARK)) != NULL) {
		char *end;
		size_t number = strtoul(p + strlen(TAME_MARK), &end, 10);

		if (number < tame_mark_count)
			uses[number] = strtoul(end, &end, 10) - marks++;
		p = end;
	}
	return uses;
}

struct place tame_place(size_t offset)
{
	const struct token *t = token_of(offset);
	size_t known = t->from != TAME_NOWHERE ? t->from : t->near;

	if (t->inclusion == NULL && known != 0)
		return tame_source_place(known);
	return (struct place){ t->file != NULL ? t->file : options.in, t->line, 1 };
}

const char *tame_written(size_t offset, const char *name)
{
	const struct token *t = token_of(offset);
	const char *text = source.text + t->near;
	size_t size = 0;

	if (t->from != TAME_NOWHERE || t->near == 0)
		return name;
	while (isalnum((unsigned char)text[size]) || text[size] == '_')
		size++;
	return tame_copy(text, size);
}
