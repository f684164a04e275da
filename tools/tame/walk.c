/* walk.c - walks through the body of a function and notes all that matters to the translation:
 * variables and where they are used, waits, events, jumps, types.
 *
 * libclang says where things are by offsets in the expanded text. The words of the language are the
 * only macros left in it: what one of them makes is where the word is, and its arguments are where
 * they are written.
 */
#include <string.h>

#include "walk.h"

static int visit(CXCursor c, CXCursor parent, void *arg);

void tame_descend(CXCursor c, struct walk *w)
{
	clang.visitChildren(c, visit, w);
}

struct variable *tame_variable(struct function *f, CXCursor declaration)
{
	for (size_t i = f->variable_count; i > 0; i--)
		if (clang.equalCursors(f->variables[i - 1]->cursor, declaration))
			return f->variables[i - 1];
	return NULL;
}

void tame_know(struct walk *w, size_t offset)
{
	*ADD(w->f->known, w->f->known_count) = offset;
}

static void open_scope(struct walk *w, CXCursor c)
{
	struct scope *scope = tame_alloc(sizeof *scope);

	scope->parent = w->scope;
	scope->range = tame_extent(c);
	scope->wait = w->wait;
	*ADD(w->scope->children, w->scope->child_count) = scope;
	w->scope = scope;
}

/* Waits */

static void block_wait(struct walk *w, struct wait *wait, size_t token)
{
	size_t close = tame_close(token + 1);

	wait->kind = WAIT_BLOCK;
	wait->body = tame_token_range(token + 1, close);
	wait->range = tame_token_range(token, close);
	wait->position = tokens[close].offset;
	wait->depth = w->wait == NULL ? 0 : w->wait->depth + 1;
	wait->text = "twait { }";
	if (w->f->depth < wait->depth + 1)
		w->f->depth = wait->depth + 1;
}

static void rendezvous_wait(struct wait *wait, size_t token)
{
	size_t close = tame_close(token + 1);
	struct range *arguments;
	size_t count = tame_arguments(token + 1, true, &arguments);

	wait->kind = WAIT_RENDEZVOUS;
	wait->position = wait->offset;
	wait->range = tame_token_range(token, close + 1);
	wait->text = tame_cut(tame_token_range(token, close));
	if (!tame_is(close + 1, ";") || count < 1 || count > 2) {
		tame_error(wait->offset, "expected 'twait(rendezvous);' or "
					 "'twait(rendezvous, id);'");
		return;
	}
	wait->rendezvous.range = arguments[0];
	if (count == 2)
		wait->id.range = arguments[1];
}

static void visit_wait(CXCursor c, struct walk w, size_t offset)
{
	struct wait *wait;
	size_t token = tame_token_at(offset);

	wait = tame_alloc(sizeof *wait);
	wait->offset = offset;
	wait->parent = w.wait;
	wait->in_expression = w.in_expression;
	*ADD(w.f->waits, w.f->wait_count) = wait;
	if (tame_is(token + 1, "{")) {
		block_wait(&w, wait, token);
		w.wait = wait;
		w.in_loop = w.breaks_here = w.continues_here = false;
	} else if (tame_is(token + 1, "(")) {
		rendezvous_wait(wait, token);
	} else {
		tame_error(offset, "expected '{' or '(' after 'twait'");
		return;
	}
	tame_descend(c, &w);
}

static void visit_refusal(struct walk *w, size_t offset)
{
	size_t token = tame_token_at(offset), close = tame_close(token + 1);
	struct function *f = w->f;

	f->refusal = tame_token_range(token, close);
	if (!tame_is(close + 1, "{")) {
		tame_error(offset, "expected a block after 'trefused': 'trefused (err) { ... }'");
		return;
	}
	f->refusal = tame_token_range(token, tame_close(close + 1));
	f->refusal_block = tame_token_range(close + 1, tame_close(close + 1));
	f->refusal_name = tame_cut(tame_token_range(token + 2, close - 1));
	if (f->kind != 't')
		tame_error(offset, "'trefused' in a function that is not 'tamed': only those have "
				   "a closure that can be refused; leave it out");
	else if (token == 0 || tokens[token - 1].offset != f->body.begin)
		tame_error(offset, "'trefused' must be the first statement of the function");
}

static void visit_loop(CXCursor c, struct walk w)
{
	size_t begin = tame_extent(c).begin;
	size_t token = begin == SIZE_MAX ? token_count : tame_token_at(begin);

	if (c.kind == CXCursor_ForStmt && tame_is(token, TAME_TWAIT)) {
		visit_wait(c, w, begin);
		return;
	}
	if (c.kind == CXCursor_ForStmt && tame_is(token, TAME_TREFUSED)) {
		visit_refusal(&w, begin);
		return;
	}
	w.in_loop = w.breaks_here = w.continues_here = true;
	if (c.kind == CXCursor_ForStmt)
		open_scope(&w, c);
	tame_descend(c, &w);
}

/* Jumps */

static int find_label(CXCursor c, CXCursor parent, void *arg)
{
	(void)parent;
	if (c.kind == CXCursor_LabelRef)
		*(size_t *)arg = tame_offset(clang.getCursorReferenced(c));
	return CXVisit_Continue;
}

static void visit_jump(CXCursor c, struct walk *w)
{
	size_t offset = tame_offset(c);

	switch (c.kind) {
	case CXCursor_ReturnStmt:
		*ADD(w->f->returns, w->f->return_count) =
			(struct mark){ .offset = offset, .wait = w->wait };
		break;
	case CXCursor_BreakStmt:
	case CXCursor_ContinueStmt:
		if (w->wait != NULL &&
		    !(c.kind == CXCursor_BreakStmt ? w->breaks_here : w->continues_here))
			tame_error(offset,
				   "'%s' leaves a twait block while its events are outstanding: "
				   "leave it at its end, or use a rendezvous",
				   c.kind == CXCursor_BreakStmt ? "break" : "continue");
		break;
	case CXCursor_GotoStmt: {
		struct jump *j = ADD(w->f->jumps, w->f->jump_count);

		*j = (struct jump){ .offset = offset, .wait = w->wait };
		clang.visitChildren(c, find_label, &j->target);
		break;
	}
	case CXCursor_IndirectGotoStmt:
		if (w->f->kind == 't')
			tame_error(offset,
				   "a computed 'goto' in a function that waits: use 'switch'");
		break;
	case CXCursor_LabelStmt:
		*ADD(w->f->labels, w->f->label_count) =
			(struct label){ .offset = offset, .wait = w->wait };
		for (struct wait *wait = w->wait; wait != NULL; wait = wait->parent)
			wait->has_label = true;
		break;
	case CXCursor_CaseStmt:
	case CXCursor_DefaultStmt:
		if (w->wait != w->switch_wait)
			tame_error(offset,
				   "'%s' jumps into a twait block: put the whole switch inside, or "
				   "the block behind the '%s'",
				   c.kind == CXCursor_CaseStmt ? "case" : "default",
				   c.kind == CXCursor_CaseStmt ? "case" : "default");
		break;
	}
	tame_know(w, offset);
	tame_descend(c, w);
}

static void note_event(CXCursor c, struct walk *w)
{
	size_t offset = tame_extent(c).begin;

	if (offset != SIZE_MAX && tame_is_event(clang.getCursorType(c)))
		*ADD(w->f->events, w->f->event_count) = offset;
}

static void visit_block(CXCursor c, struct walk w)
{
	open_scope(&w, c);
	tame_descend(c, &w);
}

static bool may_hold_address(CXType type)
{
	return tame_is_record(type) || tame_canonical(type).kind == CXType_Pointer;
}

/* Whether it is what is inside of it. */
static bool is_transparent(CXCursor c)
{
	return c.kind == CXCursor_ParenExpr || c.kind == CXCursor_UnexposedExpr ||
	       c.kind == CXCursor_GenericSelectionExpr ||
	       (c.kind == CXCursor_UnaryOperator &&
		tame_is(tame_token_at(tame_extent(c).begin), "__extension__"));
}

/* What an expression's surroundings do with it. */
static void visit_expression(CXCursor c, struct walk *w)
{
	bool indexed = c.kind == CXCursor_ArraySubscriptExpr ||
		       (c.kind == CXCursor_UnaryOperator &&
			tame_is(tame_token_at(tame_extent(c).begin), "*"));

	tame_note_expression(w, c);
	if (c.kind == CXCursor_CompoundLiteralExpr)
		tame_visit_literal(c, w);
	if (c.kind == CXCursor_MemberRefExpr)
		tame_visit_member(c, w);
	if (c.kind == CXCursor_DeclRefExpr || c.kind == CXCursor_MemberRefExpr)
		note_event(c, w);
	if ((c.kind == CXCursor_MemberRefExpr || indexed) && tame_is_array(clang.getCursorType(c)))
		w->of_address = true;
	else if (!is_transparent(c) && c.kind != CXCursor_MemberRefExpr && !indexed)
		w->of_address = false;
	if (indexed)
		w->subscripted = true;
	else if (!is_transparent(c))
		w->subscripted = false;
}

static int visit(CXCursor c, CXCursor parent, void *arg)
{
	struct walk w = *(struct walk *)arg;

	(void)parent;
	if (c.kind >= CXCursor_FirstExpr && c.kind <= CXCursor_LastExpr)
		visit_expression(c, &w);
	else
		w.outer_call = (struct range){ 0, 0 };
	switch (c.kind) {
	case CXCursor_ForStmt:
	case CXCursor_WhileStmt:
	case CXCursor_DoStmt:
		visit_loop(c, w);
		break;
	case CXCursor_SwitchStmt:
		w.breaks_here = true;
		w.switch_wait = w.wait;
		tame_descend(c, &w);
		break;
	case CXCursor_CompoundStmt:
		visit_block(c, w);
		break;
	case CXCursor_StmtExpr:
		w.in_expression = true;
		tame_descend(c, &w);
		break;
	case CXCursor_DeclStmt:
		tame_visit_declaration(c, w);
		break;
	case CXCursor_VarDecl:
		tame_visit_variable(c, w);
		break;
	case CXCursor_FunctionDecl:
		if (w.group != NULL)
			w.group->prototype = tame_name(c);
		tame_know(&w, tame_offset(c));
		tame_descend(c, &w);
		break;
	case CXCursor_StructDecl:
	case CXCursor_UnionDecl:
	case CXCursor_EnumDecl:
	case CXCursor_TypedefDecl:
		tame_visit_type(c, w);
		break;
	case CXCursor_EnumConstantDecl:
		tame_visit_constant(c, &w);
		break;
	case CXCursor_DeclRefExpr:
		tame_visit_name(c, &w);
		tame_descend(c, &w);
		break;
	case CXCursor_CallExpr:
		w.call = tame_extent(c);
		if (w.outer_call.end == 0 || !may_hold_address(clang.getCursorType(c)))
			w.outer_call = w.call;
		tame_descend(c, &w);
		break;
	case CXCursor_UnaryOperator:
		if (tame_is(tame_token_at(tame_extent(c).begin), "&")) {
			w.of_address = true;
			tame_visit_address(c, &w);
		}
		tame_descend(c, &w);
		break;
	case CXCursor_TypeRef:
		tame_visit_type_name(c, &w);
		break;
	case CXCursor_ReturnStmt:
	case CXCursor_BreakStmt:
	case CXCursor_ContinueStmt:
	case CXCursor_GotoStmt:
	case CXCursor_IndirectGotoStmt:
	case CXCursor_LabelStmt:
	case CXCursor_CaseStmt:
	case CXCursor_DefaultStmt:
		visit_jump(c, &w);
		break;
	default:
		if (c.kind < CXCursor_FirstExpr || c.kind == CXCursor_MemberRefExpr)
			tame_know(&w, tame_offset(c));
		tame_descend(c, &w);
	}
	return CXVisit_Continue;
}

void tame_walk(struct function *f, CXCursor body)
{
	struct walk w = { .f = f, .scope = f->scope };

	if (f->kind != 0)
		tame_find_mkevents(f);
	tame_descend(body, &w);
}
