/* words.c - what the words of Weft are to libclang. */
#include <string.h>

#include "check.h"

static bool refers_to(CXCursor expression, const char *name)
{
	CXCursor e = check_strip(expression);

	return e.kind == CXCursor_DeclRefExpr && strcmp(check_name(e), name) == 0;
}

static bool calls(CXCursor c, const char *name)
{
	return c.kind == CXCursor_CallExpr && refers_to(check_child(c, 0), name);
}

/* tfork(e, f(x)): (weft_tame_untranslated_tfork(), (void)(e), (void)(f(x))). f runs on another
 * thread. */
bool check_is_fork(CXCursor c)
{
	CXCursor first = check_child(c, 0);

	return first.kind == CXCursor_BinaryOperator &&
	       calls(check_child(first, 0), "weft_tame_untranslated_tfork");
}

/* trigger(e) calls through the event, a pointer. The closure that waits for it runs later. */
bool check_is_event(const struct type *t)
{
	static const char event[] = "void (struct weft_tame_event *";

	return t != NULL && strncmp(t->text, event, strlen(event)) == 0;
}

/* WEFT_ATOMIC { ... } is, for this tool only: if ("WEFT_ATOMIC") { ... } */
bool check_is_atomic(CXCursor c)
{
	CXCursor condition;

	if (c.kind != CXCursor_IfStmt)
		return false;
	condition = check_strip(check_child(c, 0));
	return condition.kind == CXCursor_StringLiteral &&
	       strcmp(check_name(condition), "\"WEFT_ATOMIC\"") == 0;
}
