/* fork.c - what tfork calls. */
#include <string.h>

#include "tool.h"

static bool same_type(CXType a, CXType b)
{
	return strcmp(tame_declare(tame_canonical(a), "", true),
		      tame_declare(tame_canonical(b), "", true)) == 0;
}

static void check_event(struct fork *k)
{
	CXType type = clang.getCursorType(k->event.cursor), function;
	bool none = tame_canonical(k->result).kind == CXType_Void;
	const char *wanted = none ? "" : tame_declare(k->result, "", true);

	if (!k->event.seen || !tame_is_event(type)) {
		tame_error(k->event.range.begin,
			   "'%s' is not an event: 'tfork' takes the event to trigger first, then "
			   "the call",
			   tame_cut(k->event.range));
		return;
	}
	function = tame_event_function(type);
	if (clang.getNumArgTypes(function) != (none ? 1 : 2) ||
	    (!none && !same_type(clang.getArgType(function, 1), k->result)))
		tame_error(k->event.range.begin,
			   "tfork of a call that returns '%s' needs an event(%s)",
			   none ? "void" : wanted, wanted);
}

static void find_arguments(struct fork *k)
{
	CXCursor call = k->call.cursor;
	int count = clang.Cursor_getNumArguments(call);
	size_t close = tame_token_at(k->call.range.end) - 1, open = close;

	/* the bracket that the call ends with */
	while (open > 0 && tame_close(open) != close)
		open--;
	k->argument_count = tame_arguments(open, false, &k->arguments);
	if (!tame_is(close, ")") || (size_t)count != k->argument_count) {
		tame_error(k->call.range.begin, "expected 'tfork(event, function(arguments))'");
		return;
	}
	k->types = tame_alloc((k->argument_count + 1) * sizeof *k->types);
	for (int i = 0; i < count; i++)
		tame_check_alignment(k->call.range.begin,
				     clang.getCursorType(
					     clang.Cursor_getArgument(call, (unsigned)i)));
	for (int i = 0; i < count; i++)
		k->types[i] = clang.getCursorType(clang.Cursor_getArgument(call, (unsigned)i));
	k->callee = (struct range){ k->call.range.begin, tokens[open].offset };
}

static int find_callee(CXCursor c, CXCursor parent, void *arg)
{
	(void)parent;
	*(CXType *)arg = clang.getCursorType(c);
	return CXVisit_Break;
}

void tame_check_fork(struct fork *k)
{
	CXCursor function;

	if (!k->call.seen || k->call.cursor.kind != CXCursor_CallExpr) {
		tame_error(k->call.range.begin, "expected 'tfork(event, function(arguments))'");
		return;
	}
	function = clang.getCursorReferenced(k->call.cursor);
	k->result = clang.getCursorType(k->call.cursor);
	check_event(k);
	/* f(1)(2) calls what f gives */
	if (function.kind == CXCursor_FunctionDecl &&
	    tame_token_end(tame_close(tame_token_at(k->call.range.begin) + 1)) ==
		    k->call.range.end) {
		k->function = tame_name(function);
		k->threaded = tame_mark_of(function) == 'h';
		if (tame_mark_of(function) == 't')
			tame_error(k->call.range.begin,
				   "'%s' is 'tamed' and does not block: call it without 'tfork', "
				   "and give it the event",
				   k->function);
	}
	find_arguments(k);
	if (k->function != NULL)
		k->callee = (struct range){ 0, 0 };
	else
		clang.visitChildren(k->call.cursor, find_callee, &k->callee_type);
}
