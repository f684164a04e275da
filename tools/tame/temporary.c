/* temporary.c - compound literals, and arrays in structs that functions return: memory without a name.
 *
 * What a literal's address is given to may use it as long as the block that it stands in, so across a
 * wait it lives in the closure. A returned struct is gone with its expression.
 */
#include "walk.h"

void tame_visit_literal(CXCursor c, struct walk *w)
{
	CXType type = clang.getCursorType(c);
	struct literal *l;

	if (!w->of_address && (!tame_is_array(type) || w->subscripted))
		return;
	l = ADD(w->f->literals, w->f->literal_count);
	*l = (struct literal){
		.offset = tame_extent(c).begin,
		.range = tame_extent(c),
		.type = type,
		.scope = w->scope,
		.wait = w->wait,
		.in_loop = w->in_loop,
		.in_expression = w->in_expression,
		.call = w->outer_call,
	};
}

/* Whether a struct is what a function returned, or another value that has no place. */
static bool is_value(CXCursor c)
{
	CXCursor child = tame_first_child(c);

	switch (c.kind) {
	case CXCursor_ParenExpr:
	case CXCursor_UnexposedExpr:
	case CXCursor_MemberRefExpr:
		return tame_is_record(clang.getCursorType(child)) && is_value(child);
	case CXCursor_CallExpr:
	case CXCursor_StmtExpr:
	case CXCursor_BinaryOperator:
	case CXCursor_ConditionalOperator:
		return tame_is_record(clang.getCursorType(c));
	default:
		return false;
	}
}

void tame_visit_member(CXCursor c, struct walk *w)
{
	if (!is_value(c) || (!w->of_address && !tame_is_array(clang.getCursorType(c))) ||
	    (w->subscripted && !w->of_address))
		return;
	*ADD(w->f->temporaries, w->f->temporary_count) =
		(struct temporary){ tame_extent(c), w->outer_call };
}
