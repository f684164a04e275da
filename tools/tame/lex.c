/* lex.c - the tokens of the source, to find in the text what libclang only knows by meaning. */
#include <ctype.h>
#include <string.h>

#include "tool.h"

struct token *tokens;
size_t token_count;
size_t *conditionals;
size_t conditional_count;

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t skip_quoted(size_t at)
{
	char quote = source.text[at];

	/* no further than the line: what is not compiled may hold a lone apostrophe */
	for (at++; at < source.size && source.text[at] != quote; at++) {
		if (source.text[at] == '\n')
			return at;
		if (source.text[at] == '\\')
			at++;
	}
	return at < source.size ? at + 1 : source.size;
}

static size_t skip_comment(size_t at)
{
	const char *t = source.text, *end;

	if (t[at + 1] == '*') {
		end = strstr(t + at + 2, "*/");
		return end == NULL ? source.size : (size_t)(end + 2 - t);
	}
	while (at < source.size && t[at] != '\n')
		at += t[at] == '\\' && at + 1 < source.size ? 2 : 1;
	return at;
}

/* From `at`, to behind the end of the line; a backslash continues it, so does a comment. */
static size_t skip_directive(size_t at)
{
	const char *t = source.text;

	while (at < source.size && t[at] != '\n') {
		if (t[at] == '\\' && at + 1 < source.size)
			at += t[at + 1] == '\r' ? 3 : 2;
		else if (t[at] == '/' && (t[at + 1] == '*' || t[at + 1] == '/'))
			at = skip_comment(at);
		else if (t[at] == '"' || t[at] == '\'')
			at = skip_quoted(at);
		else
			at++;
	}
	return at;
}

static size_t punctuation(size_t at)
{
	static const char *const longer[] = { "...", "<<=", ">>=", "->", "++", "--", "<<", ">>",
					      "<=",  ">=",  "==",  "!=", "&&", "||", "*=", "/=",
					      "%=",  "+=",  "-=",  "&=", "^=", "|=", "##" };

	for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
		if (strncmp(source.text + at, longer[i], strlen(longer[i])) == 0)
			return strlen(longer[i]);
	return 1;
}

/* Of a string or a character: L"x". */
static bool is_prefix(size_t at, size_t end)
{
	const char *t = source.text + at;

	return (source.text[end] == '"' || source.text[end] == '\'') &&
	       ((end - at == 1 && strchr("LuU", t[0]) != NULL) ||
		(end - at == 2 && memcmp(t, "u8", 2) == 0));
}

static struct token *next_token(size_t at)
{
	const char *t = source.text;
	struct token *token = ADD(tokens, token_count);
	size_t end = at;

	token->offset = at;
	if (t[at] == '"' || t[at] == '\'') {
		token->kind = 's';
		end = skip_quoted(at);
	} else if (isdigit((unsigned char)t[at]) ||
		   (t[at] == '.' && isdigit((unsigned char)t[at + 1]))) {
		token->kind = 'n';
		while (is_name(t[end]) || t[end] == '.' ||
		       ((t[end] == '+' || t[end] == '-') && end > at &&
			strchr("eEpP", t[end - 1]) != NULL))
			end++;
	} else if (is_name(t[at])) {
		token->kind = 'i';
		while (is_name(t[end]))
			end++;
		if (is_prefix(at, end)) {
			token->kind = 's';
			end = skip_quoted(end);
		}
	} else {
		token->kind = t[at];
		end += punctuation(at);
	}
	token->size = end - at;
	return token;
}

static bool is_conditional(size_t at)
{
	for (at++; at < source.size && (source.text[at] == ' ' || source.text[at] == '\t');)
		at++;
	return strncmp(source.text + at, "if", 2) == 0; /* or ifdef, ifndef */
}

void tame_lex(void)
{
	const char *t = source.text;
	bool fresh = true, directive = false;

	for (size_t at = 0; at < source.size;) {
		if (isspace((unsigned char)t[at])) {
			fresh = fresh || t[at] == '\n';
			at++;
		} else if (t[at] == '/' && (t[at + 1] == '*' || t[at + 1] == '/')) {
			at = skip_comment(at);
		} else if (fresh && t[at] == '#') {
			if (is_conditional(at))
				*ADD(conditionals, conditional_count) = at;
			at = skip_directive(at);
			directive = true;
		} else if (t[at] == '\\' && (t[at + 1] == '\n' || t[at + 1] == '\r')) {
			at++;
		} else {
			struct token *token = next_token(at);

			token->directive = directive;
			at += token->size;
			fresh = directive = false;
		}
	}
}

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

bool tame_is(size_t token, const char *what)
{
	return token < token_count && tokens[token].size == strlen(what) &&
	       memcmp(source.text + tokens[token].offset, what, tokens[token].size) == 0;
}

size_t tame_token_end(size_t token)
{
	return token < token_count ? tokens[token].offset + tokens[token].size : source.size;
}

static int nesting(size_t token)
{
	if (tokens[token].size != 1)
		return 0;
	switch (tokens[token].kind) {
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
		depth += nesting(token);
		if (depth == 0)
			return token;
	}
	return token_count;
}

/* Whether brackets that are opened between two tokens are those that are closed there. */
bool tame_is_balanced(size_t first, size_t last)
{
	int depth = 0;

	for (size_t i = first; i <= last && i < token_count && depth >= 0; i++)
		depth += nesting(i);
	return depth == 0;
}

/* Brackets that close what was open before do not count: a name may stand in them. */
size_t tame_until(size_t token, const char *ends)
{
	int depth = 0;

	for (; token < token_count; token++) {
		if (depth == 0 && tokens[token].size == 1 &&
		    strchr(ends, tokens[token].kind) != NULL)
			return token;
		depth += nesting(token);
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
			depth += nesting(i);
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

const char *tame_cut(struct range r)
{
	return tame_copy(source.text + r.begin, r.end - r.begin);
}
