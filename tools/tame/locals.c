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

	if (t->name != NULL) {
		tame_edit(t->offset, t->offset + strlen(t->name), t->new_name);
		return;
	}
	while (token < token_count && !tame_is(token, word_of(t)) && !tame_is(token, "{"))
		token++;
	if (tame_is(token, word_of(t)))
		tame_edit(tame_token_end(token), tame_token_end(token),
			  tame_format(" %s", t->new_name));
}

static bool is_attribute(size_t token)
{
	return tame_is(token, "__attribute__") || tame_is(token, "__attribute");
}

/* A definition in front of variables: struct P { int x; } p; its attributes stand behind the word or
 * behind the brace. */
static void move_definition(struct text *out, const struct local_type *t)
{
	size_t word = tame_token_at(t->range.begin), open, end;
	struct range attributes, rest;

	while (!tame_is(word, word_of(t)) && word < token_count)
		word++;
	for (open = word; open < token_count && !tame_is(open, "{");)
		open = tame_is(open, "(") ? tame_close(open) + 1 : open + 1;
	attributes = (struct range){ tokens[word + 1].offset, tokens[open].offset };
	if (t->name != NULL && t->offset >= attributes.begin && t->offset < attributes.end)
		attributes.end = t->offset;
	for (end = tame_close(open) + 1; is_attribute(end); end = tame_close(end + 1) + 1)
		;
	rest = (struct range){ tokens[open].offset, tame_token_end(end - 1) };
	tame_print(out, "%s %s %s %s;\n", word_of(t), tame_range(attributes), t->new_name,
		   tame_range(rest));
	tame_edit(t->range.begin, rest.end, tame_format("%s %s", word_of(t), t->new_name));
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

/* Pragmas in front of a type stay in front of it. */
static size_t move_pragmas(struct text *out, size_t from, size_t to)
{
	static const char pragma[] = "\n#pragma pack";
	const char *at = expanded.text + from, *end = expanded.text + to;

	while ((at = memmem(at, (size_t)(end - at), pragma, sizeof pragma - 1)) != NULL) {
		size_t size = strcspn(at + 1, "\n");

		tame_print(out, "%.*s\n", (int)size, at + 1);
		at += size;
	}
	return to;
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
				   "variable '%s': give it a constant size",
				   f->references[i].variable->name);
}

void tame_move_types(struct text *out, struct function *f)
{
	size_t at = f->body.begin;

	for (size_t i = 0; i < f->group_count && f->type_count > 0; i++) {
		at = move_pragmas(out, at, f->groups[i]->range.begin);
		move_group(out, f, f->groups[i]);
	}
	if (f->type_count > 0)
		(void)move_pragmas(out, at, f->body.end);
	for (size_t i = 0; i < f->type_reference_count; i++) {
		struct type_reference *r = &f->type_references[i];

		tame_edit_once(r->offset, strlen(r->type->name), r->type->new_name);
	}
	for (size_t i = 0; i < f->constant_count; i++)
		tame_edit(f->constants[i].offset,
			  f->constants[i].offset + strlen(f->constants[i].name),
			  f->constants[i].new_name);
	for (size_t i = 0; i < f->constant_reference_count; i++) {
		struct constant_reference *r = &f->constant_references[i];
		struct constant *k = &f->constants[r->constant];

		tame_edit_once(r->offset, strlen(k->name), k->new_name);
	}
	check_references(f);
}
