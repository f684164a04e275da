/* lex.c - the tokens of C, and what can be found by them. */
#include <ctype.h>
#include <string.h>

#include "tool.h"

struct reader {
	const char *text;
	size_t size, at;
	unsigned line;
	struct tokens out;
};

static char peek(const struct reader *r, size_t ahead)
{
	return r->at + ahead < r->size ? r->text[r->at + ahead] : '\0';
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static void step(struct reader *r)
{
	r->line += r->text[r->at] == '\n';
	r->at++;
}

/* A backslash at the end of a line continues it. */
static bool skip_splice(struct reader *r)
{
	size_t blanks = 1;

	if (peek(r, 0) != '\\')
		return false;
	while (peek(r, blanks) == '\r' || peek(r, blanks) == ' ' || peek(r, blanks) == '\t')
		blanks++;
	if (peek(r, blanks) != '\n')
		return false;
	for (; blanks > 0; blanks--)
		step(r);
	step(r);
	return true;
}

/* No further than the line: what is not compiled may hold a lone apostrophe. */
static void skip_quoted(struct reader *r)
{
	char quote = peek(r, 0);

	for (step(r); r->at < r->size && peek(r, 0) != quote;) {
		if (skip_splice(r))
			continue;
		if (peek(r, 0) == '\n')
			return;
		if (peek(r, 0) == '\\' && r->at + 1 < r->size)
			step(r);
		step(r);
	}
	if (r->at < r->size)
		step(r);
}

static bool skip_comment(struct reader *r)
{
	if (peek(r, 0) != '/' || (peek(r, 1) != '*' && peek(r, 1) != '/'))
		return false;
	if (peek(r, 1) == '/') {
		while (r->at < r->size && peek(r, 0) != '\n')
			if (!skip_splice(r))
				step(r);
		return true;
	}
	for (step(r), step(r); r->at < r->size; step(r))
		if (peek(r, 0) == '*' && peek(r, 1) == '/') {
			step(r), step(r);
			return true;
		}
	return true;
}

/* To the end of the line, as the preprocessor has it. */
static void skip_directive(struct reader *r)
{
	while (r->at < r->size && peek(r, 0) != '\n') {
		if (skip_splice(r) || skip_comment(r))
			continue;
		if (peek(r, 0) == '"' || peek(r, 0) == '\'')
			skip_quoted(r);
		else
			step(r);
	}
}

static size_t punctuation(const struct reader *r)
{
	static const char *const longer[] = { "...", "<<=", ">>=", "->", "++", "--", "<<",
					      ">>",  "<=",  ">=",  "==", "!=", "&&", "||",
					      "*=",  "/=",  "%=",  "+=", "-=", "&=", "^=",
					      "|=",  "##",  "<%",  "%>", "<:", ":>", "%:" };

	for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
		if (r->size - r->at >= strlen(longer[i]) &&
		    memcmp(r->text + r->at, longer[i], strlen(longer[i])) == 0)
			return strlen(longer[i]);
	return 1;
}

/* Of a string or a character: L"x". */
static bool is_prefix(const struct reader *r, size_t from)
{
	const char *t = r->text + from;

	return (peek(r, 0) == '"' || peek(r, 0) == '\'') &&
	       ((r->at - from == 1 && strchr("LuU", t[0]) != NULL) ||
		(r->at - from == 2 && memcmp(t, "u8", 2) == 0));
}

static char read_number(struct reader *r)
{
	while (is_name(peek(r, 0)) || peek(r, 0) == '.' ||
	       (peek(r, 0) == '\'' && isalnum((unsigned char)peek(r, 1))) ||
	       ((peek(r, 0) == '+' || peek(r, 0) == '-') &&
		strchr("eEpP", r->text[r->at - 1]) != NULL))
		step(r);
	return 'n';
}

static char read_name(struct reader *r)
{
	size_t from = r->at;

	while (is_name(peek(r, 0)) || (peek(r, 0) == '\\' && tolower(peek(r, 1)) == 'u'))
		step(r);
	if (!is_prefix(r, from))
		return 'i';
	skip_quoted(r);
	return 's';
}

static char read_token(struct reader *r)
{
	char c = peek(r, 0);

	if (c == '"' || c == '\'') {
		skip_quoted(r);
		return 's';
	}
	if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)peek(r, 1))))
		return read_number(r);
	if (is_name(c) || (c == '\\' && tolower(peek(r, 1)) == 'u'))
		return read_name(r);
	r->at += punctuation(r);
	return c;
}

static void add_token(struct reader *r, bool directive)
{
	struct token *t;

	if (r->out.count == r->out.room) {
		r->out.at = tame_grow(r->out.at, r->out.room, sizeof *t);
		r->out.room = r->out.room == 0 ? 1 : 2 * r->out.room;
	}
	t = &r->out.at[r->out.count++];
	*t = (struct token){ .from = TAME_NOWHERE };
	t->offset = (uint32_t)r->at;
	t->line = r->line;
	if (directive) {
		t->kind = '#';
		skip_directive(r);
	} else
		t->kind = read_token(r);
	t->size = (uint32_t)(r->at - t->offset);
}

/* A directive is one token, of the kind '#'. */
static void lex(struct reader r, struct tokens *into)
{
	bool fresh = true; /* nothing stands before it on its line */

	while (r.at < r.size) {
		if (isspace((unsigned char)peek(&r, 0))) {
			fresh = fresh || peek(&r, 0) == '\n';
			step(&r);
		} else if (!skip_splice(&r) && !skip_comment(&r)) {
			add_token(&r, fresh && peek(&r, 0) == '#');
			fresh = false;
		}
	}
	*into = r.out;
}

struct tokens tame_lex(const char *text, size_t size)
{
	struct tokens all = { 0 };

	if (size >= TAME_NOWHERE)
		tame_fail("%s: too large", options.in);
	lex((struct reader){ .text = text, .size = size, .line = 1 }, &all);
	return all;
}

void tame_lex_again(struct tokens *into, const char *text, size_t size)
{
	struct reader r = { .text = text, .size = size, .line = 1, .out = *into };

	r.out.count = 0;
	lex(r, into);
}

/* What the compiler reads */

struct range tame_token_range(size_t first, size_t last)
{
	return (struct range){ tokens[first].offset, tame_token_end(last) };
}

size_t tame_token_at(size_t offset)
{
	size_t low = 0, high = token_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (tokens[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool tame_is_word(const char *text, size_t size, const char *word)
{
	return size == strlen(word) && memcmp(text, word, size) == 0;
}

bool tame_is(size_t token, const char *what)
{
	return token < token_count &&
	       tame_is_word(expanded.text + tokens[token].offset, tokens[token].size, what);
}

size_t tame_token_end(size_t token)
{
	return token < token_count ? tokens[token].offset + tokens[token].size : expanded.size;
}

int tame_nesting(const struct token *t)
{
	if (t->size != 1)
		return 0;
	switch (t->kind) {
	case '(':
	case '[':
	case '{':
		return 1;
	case ')':
	case ']':
	case '}':
		return -1;
	default:
		return 0;
	}
}

size_t tame_close(size_t token)
{
	int depth = 0;

	for (; token < token_count; token++) {
		depth += tame_nesting(&tokens[token]);
		if (depth == 0)
			return token;
	}
	return token_count;
}

/* Brackets that close what was open before do not count: a name may stand in them. */
size_t tame_until(size_t token, const char *ends)
{
	int depth = 0;

	for (; token < token_count; token++) {
		if (depth == 0 && tokens[token].size == 1 &&
		    strchr(ends, tokens[token].kind) != NULL)
			return token;
		depth += tame_nesting(&tokens[token]);
		if (depth < 0)
			depth = 0;
	}
	return token_count;
}

size_t tame_arguments(size_t open, bool of_macro, struct range **arguments)
{
	size_t close = tame_close(open), count = 0;
	int depth = 0;
	struct range *list = NULL;
	size_t begin = open + 1;

	*arguments = NULL;
	if (close == token_count || close == open + 1)
		return 0;
	for (size_t i = open + 1; i <= close; i++) {
		bool ends = depth == 0 && (i == close || tame_is(i, ","));

		/* commas between braces separate the arguments of macros */
		if (!of_macro)
			depth += tame_nesting(&tokens[i]);
		else if (tokens[i].size == 1 && (tokens[i].kind == '(' || tokens[i].kind == ')'))
			depth += tokens[i].kind == '(' ? 1 : -1;
		if (!ends)
			continue;
		*ADD(list, count) = (struct range){
			.begin = begin < i ? tokens[begin].offset : tokens[i].offset,
			.end = begin < i ? tame_token_end(i - 1) : tokens[i].offset,
		};
		begin = i + 1;
	}
	*arguments = list;
	return count;
}

static const struct {
	const char *marker, *word;
} words[] = {
	{ TAME_TWAIT, "twait" },      { TAME_MKEVENT, "mkevent" },
	{ TAME_TFORK, "tfork" },      { TAME_TREFUSED, "trefused" },
	{ TAME_TAMED, "tamed" },      { TAME_THREADED, "threaded" },
	{ TAME_ASYNC, "weft_async" }, { TAME_ASYNC_OWN, "weft_async_own" },
};

/* A token as people write it. */
const char *tame_spelling(size_t token)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (tame_is(token, words[i].marker))
			return words[i].word;
	return tame_copy(expanded.text + tokens[token].offset, tokens[token].size);
}

/* The text of a range as it stands in the source; if a macro made it, as the compiler reads it. */
const char *tame_cut(struct range r)
{
	size_t first = tame_token_at(r.begin), last = tame_token_at(r.end);
	struct text t = { 0 };

	if (first == last)
		return "";
	last--;
	if (tokens[first].from != TAME_NOWHERE && tokens[last].from != TAME_NOWHERE &&
	    tokens[last].from >= tokens[first].from)
		return tame_copy(source.text + tokens[first].from,
				 tokens[last].from - tokens[first].from + tokens[last].from_size);
	for (size_t i = first; i <= last; i++) {
		if (i > first && tokens[i].offset > tame_token_end(i - 1))
			tame_put(&t, " ");
		tame_put(&t, tame_spelling(i));
	}
	return t.at;
}
