/* parse.c - has libclang read what the preprocessor gave, and says of its errors what people can use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

CXTranslationUnit unit;
static CXIndex index_;
static CXFile main_file;

/* The words, as libclang is to understand them: beside the header that made them. */
static const char *words_header(void)
{
	static const char name[] = "weft/tame_words.h";

	for (size_t i = 0; i < expanded.file_count; i++) {
		const char *file = expanded.files[i];
		size_t size = strlen(file), tail = sizeof name - 1;

		if (size >= tail && strcmp(file + size - tail, name) == 0)
			return tame_format("%.*sweft/tame_untranslated.h", (int)(size - tail),
					   file);
	}
	tame_fail("%s: no header of Weft is included: put '#include <weft/tame.h>' in front",
		  options.in);
}

/* Of the compiler's flags those that say what its language means; libclang does not know all
 * others. What is included and defined the preprocessor has done. */
static void add_flags(const char ***arguments, size_t *count)
{
	static const char *const known[] = { "-std=",
					     "-ansi",
					     "-m32",
					     "-m64",
					     "-mx32",
					     "-march=",
					     "-mcpu=",
					     "-mavx",
					     "-msse",
					     "-funsigned-char",
					     "-fsigned-char",
					     "-fshort-enums",
					     "-fms-extensions",
					     "-fplan9-extensions" };

	for (size_t i = 0; i < options.flag_count; i++) {
		const char *flag = options.flags[i];

		if (tame_begins(flag, "-std=") && strstr(flag, "23") != NULL)
			flag = "-std=gnu2x";
		for (size_t k = 0; k < sizeof known / sizeof *known; k++)
			if (tame_begins(flag, known[k])) {
				*ADD(*arguments, *count) = flag;
				break;
			}
	}
}

static bool parse(void)
{
	const char *always[] = {
		"-xc",      "-std=gnu17",  "-ferror-limit=0", "-Wincompatible-pointer-types",
		"-include", words_header()
	};
	struct CXUnsavedFile file = { options.in, expanded.text, expanded.size };
	const char **arguments = NULL;
	size_t count = 0;

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		*ADD(arguments, count) = always[i];
	add_flags(&arguments, &count);
	if (tame_machine()[0] != '\0')
		*ADD(arguments, count) = tame_format("--target=%s", tame_machine());
	return clang.parseTranslationUnit2(index_, options.in, arguments, (int)count, &file, 1, 0,
					   &unit) == 0;
}

bool tame_in_source(CXSourceLocation location, size_t *offset)
{
	CXFile file;
	unsigned at;

	clang.getFileLocation(location, &file, NULL, NULL, &at);
	*offset = at;
	return file != NULL && clang.File_isEqual(file, main_file);
}

size_t tame_offset(CXCursor c)
{
	size_t offset;

	return tame_in_source(clang.getCursorLocation(c), &offset) ? offset : SIZE_MAX;
}

/* From its first character to behind its last token. */
struct range tame_extent(CXCursor c)
{
	CXSourceRange extent = clang.getCursorExtent(c);
	struct range r = { SIZE_MAX, SIZE_MAX };
	size_t offset;

	if (tame_in_source(clang.getRangeStart(extent), &offset))
		r.begin = offset;
	if (tame_in_source(clang.getRangeEnd(extent), &offset))
		r.end = offset;
	return r;
}

static int take_first(CXCursor c, CXCursor parent, void *arg)
{
	(void)parent;
	*(CXCursor *)arg = c;
	return CXVisit_Break;
}

CXCursor tame_first_child(CXCursor c)
{
	CXCursor child = { .kind = 0 };

	clang.visitChildren(c, take_first, &child);
	return child;
}

const char *tame_name(CXCursor c)
{
	return tame_string(clang.getCursorSpelling(c));
}

/* The types of events, as people write them. */
static const char *pretty(const char *text)
{
	static const char *const forms[] = { "void (*const *)(struct weft_tame_event *",
					     "void (*const *)(weft_tame_event *" };
	struct text out = { 0 };

	while (*text != '\0') {
		size_t skip = 0;

		for (size_t i = 0; i < 2 && skip == 0; i++)
			if (strncmp(text, forms[i], strlen(forms[i])) == 0)
				skip = strlen(forms[i]);
		if (skip == 0) {
			tame_add(&out, text++, 1);
			continue;
		}
		text += skip;
		tame_put(&out, "event(");
		if (strncmp(text, ", ", 2) == 0)
			text += 2;
	}
	return out.at == NULL ? "" : out.at;
}

/* "'typeof (...)' (aka 'event(int)')": only what it is also known as. */
static const char *without_spellings(const char *text)
{
	struct text out = { 0 };
	const char *typeof_, *aka, *end;

	while ((typeof_ = strstr(text, "'typeof")) != NULL) {
		tame_add(&out, text, (size_t)(typeof_ - text));
		aka = strstr(typeof_, "' (aka '");
		end = aka == NULL ? NULL : strstr(aka + 8, "')");
		if (end == NULL) {
			text = typeof_;
			break;
		}
		tame_add(&out, aka + 7, (size_t)(end + 1 - (aka + 7)));
		text = end + 2;
	}
	tame_put(&out, text);
	return out.at;
}

/* What is triggered is called through a pointer; who wrote it does not know that. */
static bool triggers_no_event(const char *text, size_t token)
{
	static const char *const told[] = { "indirection requires pointer operand",
					    "arithmetic or pointer type is required",
					    "is not a function or function pointer" };
	bool tells = false;

	for (size_t i = 0; i < sizeof told / sizeof *told; i++)
		tells = tells || strstr(text, told[i]) != NULL;
	for (size_t i = token > 4 ? token - 4 : 0; tells && i < token + 3; i++)
		if (tame_is(i, "weft_e_"))
			return true;
	return false;
}

/* A program may have words of the language for names. */
static const char *word_near(const char *text, size_t token)
{
	static const char *const words[] = { TAME_TAMED, TAME_THREADED, TAME_TWAIT };

	for (size_t i = token > 0 ? token - 1 : 0; i < token + 2; i++)
		for (size_t k = 0; k < sizeof words / sizeof *words; k++)
			if (strncmp(text, "expected", 8) == 0 && tame_is(i, words[k]))
				return tame_format(": '%s' is a word of weft/tame.h",
						   tame_spelling(i));
	return "";
}

/* "void function 'f' should not return a value": a tamed one, whose type nobody wrote. */
static const char *of_return(const char *text)
{
	static const char begin[] = "void function '", end[] = "' should not return a value";
	const char *name, *close = strstr(text, end);

	if (!tame_begins(text, begin) || close == NULL)
		return NULL;
	name = tame_copy(text + sizeof begin - 1, (size_t)(close - (text + sizeof begin - 1)));
	for (size_t i = 0; i + 2 < token_count; i++)
		if (tame_is(i, TAME_TAMED) && tame_is(tame_until(i, "({;") - 1, name))
			return tame_format("tamed function '%s' returns no value: trigger an event "
					   "with it, and 'return;'",
					   name);
	return NULL;
}

/* What is triggered is called with the event in front of the values. */
static const char *of_count(const char *text, size_t token)
{
	unsigned wanted, given;
	const char *numbers = strstr(text, "arguments to function call, expected ");

	if (numbers == NULL || sscanf(numbers, "arguments to function call, expected %u, have %u",
				      &wanted, &given) != 2)
		return NULL;
	for (size_t i = token; i + 20 > token && i > 0; i--) {
		if (tame_is(i, "{") || tame_is(i, "}"))
			return NULL;
		if (tame_is(i, "weft_e_"))
			return tame_format("'trigger' gives %u value%s to an event that has %u: "
					   "give it as many as its type has",
					   given - 1, given == 2 ? "" : "s", wanted - 1);
	}
	return NULL;
}

/* Of what clang says the compiler of the result says the same, except for what is wrong with
 * events, which some take as a warning; they must fit. */
static void say_diagnostic(CXDiagnostic d)
{
	const char *text = tame_string(clang.getDiagnosticSpelling(d));
	int severity = clang.getDiagnosticSeverity(d);
	bool of_event = severity == CXDiagnostic_Warning &&
			strstr(text, "incompatible pointer types") != NULL &&
			strstr(text, "weft_tame_") != NULL;
	const char *better = of_return(text);
	size_t offset, token;

	if (severity < CXDiagnostic_Error && !of_event)
		return;
	if (!tame_in_source(clang.getDiagnosticLocation(d), &offset))
		offset = 0;
	token = tame_token_at(offset);
	if (token < token_count && tokens[token].system && tokens[token].inclusion != NULL)
		return;
	if (triggers_no_event(text, token))
		text = "what is triggered is not an event: give 'trigger' an event first, then its "
		       "values";
	if (better == NULL)
		better = of_count(text, token);
	if (better != NULL)
		text = better;
	tame_error(offset, "%s%s", pretty(without_spellings(text)), word_near(text, token));
}

static void done(void)
{
	if (unit != NULL)
		clang.disposeTranslationUnit(unit);
	if (index_ != NULL)
		clang.disposeIndex(index_);
}

void tame_parse(void)
{
	index_ = clang.createIndex(0, 0);
	atexit(done);
	if (!parse())
		tame_fail("%s: libclang cannot read it: is it C, and are the flags those of its "
			  "compiler?",
			  options.in);
	main_file = clang.getFile(unit, options.in);
	for (unsigned i = 0; i < clang.getNumDiagnostics(unit); i++) {
		CXDiagnostic d = clang.getDiagnostic(unit, i);

		say_diagnostic(d);
		clang.disposeDiagnostic(d);
	}
}
