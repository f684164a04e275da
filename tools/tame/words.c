/* words.c - mistakes that the tokens alone show, said before libclang reads the file: it would only
 * tell of what follows from them. The header of the words is missing or comes too late; a tamed
 * function has a type.
 */
#include <string.h>

#include "tool.h"

static bool is_any(size_t token, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tame_is(token, words[i]))
			return true;
	return false;
}
#define IS_ANY(token, words) is_any((token), (words), sizeof(words) / sizeof *(words))

static bool is_name(size_t token)
{
	return token < token_count && tokens[token].kind == 'i';
}

/* The header */

static const char begin_of_words[] = "#define tamed " TAME_TAMED;

/* The first token behind the header; token_count: it is not included. */
static size_t after_header(void)
{
	for (size_t i = 0; i < expanded.change_count; i++)
		if (strncmp(expanded.changes[i].text, begin_of_words, sizeof begin_of_words - 1) ==
		    0)
			return expanded.changes[i].token;
	return token_count;
}

/* Where a declaration or a type may begin. */
static bool begins_here(size_t token)
{
	static const char *const fronts[] = { ";",      "}",        "{",          ")",
					      "(",      ",",        "static",     "extern",
					      "inline", "__inline", "__inline__", "const" };

	return token == 0 || IS_ANY(token - 1, fronts);
}

/* `tamed f(`, `threaded int f(`: nothing of C, unless the word is a type. */
static bool is_function(size_t i)
{
	static const char *const words[] = { "tamed", "threaded" };

	return IS_ANY(i, words) && is_name(i + 1) && !tame_is(i + 1, "__attribute__") &&
	       (tame_is(i + 2, "(") || is_name(i + 2) || tame_is(i + 2, "*"));
}

/* `event(int) e`. */
static bool is_type(size_t i)
{
	static const char *const words[] = { "event", "rendezvous" };
	size_t behind;

	if (!IS_ANY(i, words) || !tame_is(i + 1, "("))
		return false;
	behind = tame_close(i + 1) + 1;
	if (is_name(behind))
		behind++;
	else if (!tame_is(behind, "*"))
		return false;
	return tame_is(behind, ")") || tame_is(behind, ",") || tame_is(behind, ";") ||
	       tame_is(behind, "=") || tame_is(behind, "[") || is_name(behind);
}

static bool is_block(size_t i)
{
	static const char *const tags[] = { "struct", "union", "enum" };

	return tame_is(i, "twait") && tame_is(i + 1, "{") && (i == 0 || !IS_ANY(i - 1, tags));
}

/* `typedef ... tamed;` or a variable of that name. */
static bool is_declared(size_t before)
{
	const char *name = tame_spelling(before);

	for (size_t i = 0; i < before; i++)
		if (tame_is(i, name) && (tame_is(i + 1, ";") || tame_is(i + 1, ",")))
			return true;
	return false;
}

static bool is_use(size_t i)
{
	if (tokens[i].kind != 'i' || tokens[i].system)
		return false;
	return (is_block(i) || ((is_function(i) || is_type(i)) && begins_here(i))) &&
	       !is_declared(i);
}

static void say_missing(size_t token, bool later)
{
	const char *word = tame_spelling(token);

	if (!expanded.is_tame)
		tame_align();
	if (later)
		tame_error(tokens[token].offset,
			   "'%s' is not known yet: '#include <weft/tame.h>' comes later; put it in "
			   "front of this line",
			   word);
	else
		tame_error(tokens[token].offset,
			   "'%s' is not known: put '#include <weft/tame.h>' at the beginning of "
			   "the file",
			   word);
}

static bool check_header(void)
{
	size_t end = after_header();

	for (size_t i = 0; i < end; i++)
		if (is_use(i)) {
			say_missing(i, end < token_count);
			return true;
		}
	return false;
}

/* A block in the body of a plain function, which is left out of the tokens. */
static void check_bodies(void)
{
	for (size_t i = 0; i < token_count; i++) {
		if (!tame_body_has(&tokens[i], "twait", "{"))
			continue;
		for (size_t k = 0; k < source.tokens.count; k++) {
			const struct token *t = &source.tokens.at[k];

			if (!tame_is_word(source.text + t->offset, t->size, "twait"))
				continue;
			tame_source_error(t->offset,
					  "'twait' is not known: put '#include <weft/tame.h>' at "
					  "the beginning of the file");
			return;
		}
	}
}

/* The type of a tamed function */

static size_t behind_specifiers(size_t i)
{
	static const char *const specifiers[] = { "static",       "extern",     "inline",
						  "__inline",     "__inline__", "_Noreturn",
						  "__extension__" };

	for (;;)
		if (IS_ANY(i, specifiers))
			i++;
		else if ((tame_is(i, "__attribute__") || tame_is(i, "__attribute")) &&
			 tame_is(i + 1, "("))
			i = tame_close(i + 1) + 1;
		else
			return i;
}

/* The name of the function that is declared from `i` on; 0: it is something else. */
static size_t function_name(size_t i)
{
	for (; i < token_count && (is_name(i) || tame_is(i, "*")); i++)
		if (is_name(i) && tame_is(i + 1, "("))
			return i;
	return 0;
}

static void check_type(size_t tamed)
{
	size_t type = behind_specifiers(tamed + 1), name = function_name(type);
	const char *text;

	if (name == 0 || name == type)
		return;
	text = tame_cut(tame_token_range(type, name - 1));
	if (strcmp(text, "void") == 0)
		tame_error(tokens[type].offset,
			   "'tamed' says already that '%s' returns nothing: leave out 'void'",
			   tame_spelling(name));
	else
		tame_error(
			tokens[type].offset,
			"tamed function '%s' cannot return '%s', it returns when it first waits: "
			"give it an 'event(%s)' and trigger that, or write 'threaded %s'",
			tame_spelling(name), text, text, text);
}

void tame_check_words(void)
{
	if (check_header())
		return;
	if (after_header() == token_count)
		check_bodies();
	for (size_t i = 0; i < token_count; i++)
		if (tame_is(i, TAME_TAMED))
			check_type(i);
}
