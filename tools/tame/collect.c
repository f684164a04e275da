/* collect.c - finds the tamed and threaded functions of the source. */
#include <string.h>

#include "tool.h"

struct function **functions;
size_t function_count;

static int look_for_mark(CXCursor child, CXCursor parent, void *arg)
{
	int *mark = arg;
	const char *name;

	(void)parent;
	if (child.kind != CXCursor_AnnotateAttr)
		return CXVisit_Continue;
	name = tame_name(child);
	if (strcmp(name, "weft_tamed") == 0)
		*mark = 't';
	else if (strcmp(name, "weft_threaded") == 0)
		*mark = 'h';
	else if (strcmp(name, "weft_waits") == 0 && *mark == 0)
		*mark = 'w';
	return CXVisit_Continue;
}

int tame_mark_of(CXCursor function)
{
	int mark = 0;

	clang.visitChildren(function, look_for_mark, &mark);
	/* what gives a tamed function need not be one */
	if (mark == 't' &&
	    tame_canonical(clang.getResultType(clang.getCursorType(function))).kind != CXType_Void)
		return 0;
	return mark;
}

static int find_body(CXCursor child, CXCursor parent, void *arg)
{
	CXCursor *body = arg;

	(void)parent;
	if (child.kind == CXCursor_CompoundStmt)
		*body = child;
	return CXVisit_Continue;
}

/* Behind the declaration that was looked at last. */
static size_t last_end;

/* Attributes may stand in front of what clang takes for the beginning. */
static size_t begin_of(size_t offset)
{
	size_t token = tame_token_at(offset);

	while (token > 0 && tokens[token - 1].offset >= last_end && !tame_is(token - 1, ";") &&
	       !tame_is(token - 1, "}"))
		token--;
	return tokens[token].offset;
}

static void add_parameters(struct function *f)
{
	int count = clang.Cursor_getNumArguments(f->cursor);

	for (int i = 0; i < count; i++) {
		struct variable *v = tame_alloc(sizeof *v);

		v->cursor = clang.Cursor_getArgument(f->cursor, (unsigned)i);
		v->name = tame_name(v->cursor);
		v->type = clang.getCursorType(v->cursor);
		v->offset = tame_offset(v->cursor);
		v->scope = f->scope;
		v->kept = f->kind == 't';
		*ADD(f->variables, f->variable_count) = v;
	}
	f->parameter_count = f->variable_count;
}

/* Names of the program with two underscores inside, as made names have. */
static struct token **dashed;
static size_t dashed_count;

static void find_dashed(void)
{
	for (size_t i = 0; i < token_count; i++) {
		const char *text = expanded.text + tokens[i].offset;

		if (tokens[i].kind == 'i' && text[0] != '_' &&
		    memmem(text, tokens[i].size, "__", 2) != NULL)
			*ADD(dashed, dashed_count) = &tokens[i];
	}
}

/* Whether a name of the program begins with a stem and two underscores. */
static bool is_taken(const char *stem)
{
	size_t size = strlen(stem);

	for (size_t i = 0; i < dashed_count; i++) {
		const char *text = expanded.text + dashed[i]->offset;

		if (dashed[i]->size > size + 2 && memcmp(text, stem, size) == 0 &&
		    memcmp(text + size, "__", 2) == 0)
			return true;
	}
	return false;
}

static bool is_name(const char *name)
{
	for (size_t i = 0; i < token_count; i++)
		if (tame_is(i, name))
			return true;
	return false;
}

static const char *stem_of(const char *name)
{
	const char *stem = name;

	for (unsigned n = 2; is_taken(stem) || (n > 2 && is_name(stem)); n++)
		stem = tame_format("%s_%u", name, n);
	return stem;
}

static void add_function(CXCursor cursor, CXCursor body, int mark)
{
	struct function *f = tame_alloc(sizeof *f);
	struct range extent = tame_extent(cursor);

	f->cursor = cursor;
	f->name = tame_name(cursor);
	f->stem = stem_of(f->name);
	f->kind = mark;
	f->threaded = mark == 'h';
	f->offset = tame_offset(cursor);
	f->body = tame_extent(body);
	f->range = (struct range){ begin_of(extent.begin), f->body.end };
	f->result = clang.getResultType(clang.getCursorType(cursor));
	f->scope = tame_alloc(sizeof *f->scope);
	f->scope->range = f->body;
	add_parameters(f);
	tame_walk(f, body);
	tame_check_paths(f);
	if (mark != 0 || f->fork_count > 0)
		*ADD(functions, function_count) = f;
}

static int look_at(CXCursor child, CXCursor parent, void *arg)
{
	CXCursor body = { .kind = 0 };
	size_t offset;
	int mark;

	(void)parent, (void)arg;
	if (!tame_in_source(clang.getCursorLocation(child), &offset))
		return CXVisit_Continue;
	if (child.kind == CXCursor_VarDecl)
		tame_check_place(child);
	if (child.kind == CXCursor_FunctionDecl && clang.isCursorDefinition(child))
		clang.visitChildren(child, find_body, &body);
	mark = tame_mark_of(child);
	if (body.kind == CXCursor_CompoundStmt)
		add_function(child, body, mark != 'w' ? mark : 0);
	if (child.kind < CXCursor_FirstExpr)
		last_end = tame_extent(child).end;
	return CXVisit_Continue;
}

void tame_collect(void)
{
	find_dashed();
	clang.visitChildren(clang.getTranslationUnitCursor(unit), look_at, NULL);
}
