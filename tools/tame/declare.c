/* declare.c - declarations in the body of a function: variables, types, constants. */
#include <string.h>

#include "walk.h"

static void find_initializer(struct variable *v)
{
	size_t token = tame_token_at(v->offset);
	size_t at = tame_until(token + 1, "=,;"), end;

	if (!tame_is(at, "="))
		return;
	end = tame_until(at + 1, ",;");
	v->initializer = tame_token_range(at + 1, end - 1);
	v->list_initializer = tame_is(at + 1, "{");
}

void tame_check_place(CXCursor c)
{
	if (tame_holds_rendezvous(clang.getCursorType(c)))
		tame_error(tame_offset(c),
			   "'%s' holds a rendezvous: it must be a variable of a 'tamed' or "
			   "'threaded' function, and not static",
			   tame_name(c));
}

void tame_visit_variable(CXCursor c, struct walk w)
{
	struct variable *v = tame_alloc(sizeof *v);
	int storage = clang.Cursor_getStorageClass(c);
	size_t offset = tame_offset(c);

	v->cursor = c;
	v->name = tame_name(c);
	v->type = clang.getCursorType(c);
	v->offset = offset;
	v->scope = w.scope;
	v->group = w.group;
	v->is_static = storage == CX_SC_Static || storage == CX_SC_Extern;
	v->in_expression = w.in_expression;
	v->has_initializer = clang.Cursor_getVarDeclInitializer(c).kind >= CXCursor_FirstExpr;
	tame_know(&w, offset);
	if (w.f->kind == 0 || v->is_static)
		tame_check_place(c);
	if (v->has_initializer)
		find_initializer(v);
	*ADD(w.f->variables, w.f->variable_count) = v;
	if (w.group != NULL)
		*ADD(w.group->variables, w.group->variable_count) = v;
	tame_descend(c, &w);
}

void tame_visit_declaration(CXCursor c, struct walk w)
{
	struct group *g = tame_alloc(sizeof *g);
	size_t begin = tame_extent(c).begin;

	if (begin != SIZE_MAX) {
		size_t end = tame_until(tame_token_at(begin), ";");

		g->range = tame_token_range(tame_token_at(begin), end);
	}
	*ADD(w.f->groups, w.f->group_count) = g;
	w.group = g;
	tame_descend(c, &w);
}

/* Some libclangs give one the name of its typedef. */
static bool is_anonymous(CXCursor c)
{
	const char *name = tame_name(c);
	size_t token = tame_token_at(tame_offset(c));

	return clang.Cursor_isAnonymous(c) || name[0] == '\0' || strchr(name, '(') != NULL ||
	       tame_is(token, "struct") || tame_is(token, "union") || tame_is(token, "enum");
}

/* It is found in the declaration, and again in each variable of that. */
void tame_visit_type(CXCursor c, struct walk w)
{
	struct local_type *t = tame_alloc(sizeof *t);
	bool anonymous = is_anonymous(c);

	for (size_t i = 0; i < w.f->type_count; i++)
		if (clang.equalCursors(w.f->types[i]->cursor, c))
			return;
	if (anonymous && w.in_type) {
		tame_descend(
			c, &w); /* its members are members of the outer one; a tag would end that */
		return;
	}
	t->cursor = c;
	t->name = anonymous ? NULL : tame_name(c);
	t->offset = tame_offset(c);
	t->range = tame_extent(c);
	t->group = w.group;
	t->is_definition = clang.isCursorDefinition(c);
	t->new_name = tame_format("%s__%s_%zu", w.f->stem, anonymous ? "type" : t->name,
				  w.f->type_count + 1);
	for (size_t i = 0; i < w.f->type_count; i++)
		if (tame_same_type(w.f->types[i]->cursor, c))
			t->new_name = w.f->types[i]->new_name;
	tame_know(&w, t->offset);
	*ADD(w.f->types, w.f->type_count) = t;
	w.in_type = true;
	tame_descend(c, &w);
}

void tame_visit_constant(CXCursor c, struct walk *w)
{
	struct constant *k = ADD(w->f->constants, w->f->constant_count);

	k->cursor = c;
	k->name = tame_name(c);
	k->offset = tame_offset(c);
	k->new_name = tame_format("%s__%s_e%zu", w->f->stem, k->name, w->f->constant_count);
	tame_know(w, k->offset);
	tame_descend(c, w);
}
