/* parse.c - has libclang read the source, and says of its errors what people can use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

CXTranslationUnit unit;
static CXIndex index_;
static CXFile main_file;

/* What a command says, if that is a folder. */
static const char *folder_from(const char *command)
{
	FILE *pipe = popen(command, "r");
	char line[4096];
	bool fine;

	if (pipe == NULL)
		return NULL;
	fine = fgets(line, sizeof line, pipe) != NULL;
	pclose(pipe);
	if (!fine || line[0] != '/')
		return NULL;
	return tame_copy(line, strcspn(line, "\n"));
}

/* The folder of the compiler's own headers, for a libclang that came without them: clang's of
 * another version, or gcc's, whose atomics clang does not understand. */
static const char *compiler_headers(void)
{
	const char *folder = folder_from("clang -print-resource-dir 2>/dev/null");

	if (folder != NULL)
		return tame_format("%s/include", folder);
	return folder_from("cc -print-file-name=include 2>/dev/null");
}

static bool parse(const char *headers)
{
	static const char *const always[] = { "-xc", "-std=gnu11", "-ferror-limit=0",
					      "-Wincompatible-pointer-types" };
	struct CXUnsavedFile file = { options.in, source.text, source.size };
	const char **arguments = NULL;
	size_t count = 0;

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		*ADD(arguments, count) = always[i];
	for (size_t i = 0; i < options.flag_count; i++)
		*ADD(arguments, count) = options.flags[i];
	if (headers != NULL) {
		*ADD(arguments, count) = "-isystem";
		*ADD(arguments, count) = headers;
	}
	if (unit != NULL)
		clang.disposeTranslationUnit(unit);
	unit = NULL;
	return clang.parseTranslationUnit2(index_, options.in, arguments, (int)count, &file, 1,
					   CXTranslationUnit_DetailedPreprocessingRecord,
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

const char *tame_name(CXCursor c)
{
	return tame_string(clang.getCursorSpelling(c));
}

const char *tame_macro_at(size_t offset, const char *name)
{
	size_t token = tame_token_at(offset);

	if (token == token_count || tokens[token].offset != offset)
		return "?";
	if (tame_is(token, name))
		return NULL;
	return tame_copy(source.text + offset, tokens[token].size);
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

static struct place place_of(CXSourceLocation location)
{
	struct place where = { options.in, 1, 1 };
	CXString name;
	size_t offset;

	if (tame_in_source(location, &offset))
		return tame_place(offset);
	clang.getPresumedLocation(location, &name, &where.line, &where.column);
	where.file = tame_string(name);
	if (where.file[0] == '\0')
		where.file = options.in;
	return where;
}

/* What is triggered is called through a pointer; who wrote it does not know that. */
static bool triggers_no_event(const char *text, CXSourceLocation location)
{
	static const char *const told[] = { "indirection requires pointer operand",
					    "arithmetic or pointer type is required",
					    "is not a function or function pointer" };
	bool tells = false;
	size_t offset;

	for (size_t i = 0; i < sizeof told / sizeof *told; i++)
		tells = tells || strstr(text, told[i]) != NULL;
	return tells && tame_in_source(location, &offset) &&
	       tame_is(tame_token_at(offset), "trigger");
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

	if (severity < CXDiagnostic_Error && !of_event)
		return;
	if (triggers_no_event(text, clang.getDiagnosticLocation(d)))
		text = "what is triggered is not an event";
	tame_say(place_of(clang.getDiagnosticLocation(d)), "error",
		 pretty(without_spellings(text)));
}

static bool lacks_headers(void)
{
	static const char *const own[] = { "'stddef.h' file not found",
					   "'stdbool.h' file not found",
					   "'stdarg.h' file not found",
					   "'stdint.h' file not found" };
	bool lacks = false;

	for (unsigned i = 0; i < clang.getNumDiagnostics(unit) && !lacks; i++) {
		CXDiagnostic d = clang.getDiagnostic(unit, i);
		const char *text = tame_string(clang.getDiagnosticSpelling(d));

		for (size_t k = 0; k < sizeof own / sizeof *own; k++)
			lacks = lacks || strcmp(text, own[k]) == 0;
		clang.disposeDiagnostic(d);
	}
	return lacks;
}

static void done(void)
{
	if (unit != NULL)
		clang.disposeTranslationUnit(unit);
	if (index_ != NULL)
		clang.disposeIndex(index_);
}

static struct range *skipped;
static size_t skipped_count;

static void find_skipped(void)
{
	CXSourceRangeList *list = clang.getSkippedRanges(unit, main_file);

	for (unsigned i = 0; list != NULL && i < list->count; i++) {
		struct range r;

		if (tame_in_source(clang.getRangeStart(list->ranges[i]), &r.begin) &&
		    tame_in_source(clang.getRangeEnd(list->ranges[i]), &r.end))
			*ADD(skipped, skipped_count) = r;
	}
	clang.disposeSourceRangeList(list);
}

bool tame_is_skipped(size_t offset)
{
	for (size_t i = 0; i < skipped_count; i++)
		if (offset >= skipped[i].begin && offset < skipped[i].end)
			return true;
	return false;
}

void tame_parse(void)
{
	index_ = clang.createIndex(0, 0);
	atexit(done);
	if (!parse(NULL) || (lacks_headers() && !parse(compiler_headers())))
		tame_fail("%s: libclang cannot read it", options.in);
	main_file = clang.getFile(unit, options.in);
	find_skipped();
	for (unsigned i = 0; i < clang.getNumDiagnostics(unit); i++) {
		CXDiagnostic d = clang.getDiagnostic(unit, i);

		say_diagnostic(d);
		clang.disposeDiagnostic(d);
	}
}
