/* locals.c - types that are declared inside of a function: they move in front of it, by names of
 * their own, because its closure and its events need them there.
 */
#include <string.h>

#include "tool.h"

static bool inside(struct range inner, struct range outer)
{
	return inner.begin >= outer.begin && inner.end <= outer.end;
}

static const char *word_of(const struct local_type *t)
{
	return t->cursor.kind == CXCursor_UnionDecl  ? "union"
	       : t->cursor.kind == CXCursor_EnumDecl ? "enum"
						     : "struct";
}

/* The name where the type is declared; one without gets one. */
static void rename_declaration(const struct local_type *t)
{
	size_t token = tame_token_at(t->range.begin);
	const char *macro;

	if (t->name != NULL) {
		macro = tame_macro_at(t->offset, t->name);
		if (macro != NULL)
			tame_error(t->offset,
				   "the macro '%s' declares the type '%s' inside of a "
				   "function that waits",
				   macro, t->name);
		else
			tame_edit(t->offset, t->offset + strlen(t->name), t->new_name);
		return;
	}
	while (token < token_count && !tame_is(token, word_of(t)) && !tame_is(token, "{"))
		token++;
	if (tame_is(token, word_of(t)))
		tame_edit(tame_token_end(token), tame_token_end(token),
			  tame_format(" %s", t->new_name));
}

/* A definition in front of variables: struct P { int x; } p; */
static void move_definition(struct text *out, const struct local_type *t)
{
	size_t open = tame_token_at(t->range.begin);
	struct range braces;

	while (open < token_count && !tame_is(open, "{"))
		open++;
	braces = (struct range){ tokens[open].offset, tame_token_end(tame_close(open)) };
	tame_print(out, "%s %s %s;\n", word_of(t), t->new_name, tame_range(braces));
	tame_edit(t->range.begin, t->range.end, tame_format("%s %s", word_of(t), t->new_name));
}

/* The outermost types of a declaration. */
static bool is_outer(const struct function *f, const struct local_type *t)
{
	for (size_t i = 0; i < f->type_count; i++) {
		const struct local_type *other = f->types[i];

		if (other != t && other->group == t->group && inside(t->range, other->range) &&
		    !inside(other->range, t->range))
			return false;
	}
	return true;
}

static void move_group(struct text *out, struct function *f, struct group *g)
{
	struct range all = { g->range.begin, g->range.end - 1 };
	bool any = false;

	for (size_t i = 0; i < f->type_count; i++) {
		struct local_type *t = f->types[i];

		if (t->group != g)
			continue;
		any = true;
		rename_declaration(t);
		if (g->variable_count > 0 && t->is_definition && is_outer(f, t))
			move_definition(out, t);
	}
	if (!any || g->variable_count > 0)
		return;
	tame_print(out, "%s;\n", tame_range(all));
	tame_edit(g->range.begin, g->range.end, ";");
}

static void check_references(const struct function *f)
{
	for (size_t i = 0; i < f->reference_count; i++)
		if (f->references[i].in_type)
			tame_error(f->references[i].offset,
				   "a type that is local to a function which waits depends on its "
				   "variable '%s'",
				   f->references[i].variable->name);
}

void tame_move_types(struct text *out, struct function *f)
{
	for (size_t i = 0; i < f->group_count; i++)
		move_group(out, f, f->groups[i]);
	for (size_t i = 0; i < f->type_reference_count; i++) {
		struct type_reference *r = &f->type_references[i];
		const char *macro = tame_macro_at(r->offset, r->type->name);

		if (macro != NULL)
			tame_error(r->offset,
				   "the body of the macro '%s' names the type '%s', which is "
				   "local to a function that waits",
				   macro, r->type->name);
		else
			tame_edit_once(r->offset, strlen(r->type->name), r->type->new_name);
	}
	for (size_t i = 0; i < f->constant_count; i++)
		tame_edit_once(f->constants[i].offset, strlen(f->constants[i].name),
			       f->constants[i].new_name);
	for (size_t i = 0; i < f->constant_reference_count; i++) {
		struct constant_reference *r = &f->constant_references[i];
		struct constant *k = &f->constants[r->constant];
		const char *macro = tame_macro_at(r->offset, k->name);

		if (macro != NULL)
			tame_error(r->offset,
				   "the body of the macro '%s' names '%s', which is local to a "
				   "function that waits",
				   macro, k->name);
		else
			tame_edit_once(r->offset, strlen(k->name), k->new_name);
	}
	check_references(f);
}
