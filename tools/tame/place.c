/* place.c - decides which variables live in the closure, and where there.
 *
 * In a tamed function these are all that are in scope at a wait behind their declaration: what a
 * wait may come between. Anywhere in their scope, if there are labels to jump back to. A twait
 * block waits at its closing brace, so what is declared in it lives there too. In a threaded
 * function the stack keeps variables; only what the runtime has to know lives in its closure.
 */
#include <string.h>

#include "tool.h"

/* Whether something that is made at an offset, and ends with a scope, is there behind a wait. */
bool tame_lives_across(const struct function *f, const struct scope *scope, size_t offset)
{
	for (size_t i = 0; i < f->wait_count; i++) {
		size_t at = f->waits[i]->position;

		if (at < scope->range.begin || at > scope->range.end)
			continue;
		if (at > offset || f->label_count > 0)
			return true;
	}
	return false;
}

static bool must_keep(const struct function *f, const struct variable *v)
{
	if (v->is_static)
		return false;
	if (v->rendezvous)
		return true;
	if (f->threaded)
		return v->slot && v->scope->wait != NULL;
	return v->slot || tame_lives_across(f, v->scope, v->offset);
}

static bool taken(const struct function *f, const char *name, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (f->variables[i]->member != NULL && strcmp(f->variables[i]->member, name) == 0)
			return true;
	return false;
}

static void name_member(struct function *f, size_t i)
{
	struct variable *v = f->variables[i];
	const char *name = v->name;

	for (unsigned n = 2; taken(f, name, i); n++)
		name = tame_format("%s__%u", v->name, n);
	v->member = name;
}

/* Slots whose scope can end while their event is out, and rendezvous, share no memory. */
static bool stands_alone(const struct variable *v)
{
	const struct scope *s = v->scope;

	return v->rendezvous || v->rendezvous_slot ||
	       (v->slot && s->wait != NULL && s->range.begin != s->wait->body.begin);
}

/* As clang writes the declaration: with attributes, wherever they came from. */
static bool is_declared(const struct variable *v, const char *attribute)
{
	return strstr(tame_string(clang.getCursorPrettyPrinted(v->cursor, NULL)), attribute) !=
	       NULL;
}

static const char *reason_not_to_keep(const struct variable *v)
{
	if (v->in_expression)
		return "belongs to a statement expression: declare it in front of that";
	if (tame_is_variable(v->type))
		return tame_is_array(v->type)
			       ? "its size is not constant: use malloc, or a constant"
			       : "the size of what it points to is not constant: point to the "
				 "first element";
	if (tame_is_flexible(v->type))
		return "its struct ends with an array that has no size: keep a pointer to it";
	if (is_declared(v, "((cleanup("))
		return "has a cleanup function, which would run at the wait: call that function "
		       "yourself";
	if (is_declared(v, "_Alignas(") || is_declared(v, "((aligned(") ||
	    clang.Type_getAlignOf(v->type) > 16)
		return "is aligned in a way of its own: keep a pointer to it";
	if (is_declared(v, "asm("))
		return "is bound to a register: use a plain variable";
	return NULL;
}

/* Whether a scope has a name more than once: where it is declared, and elsewhere. */
static bool is_used(const char *name, const struct scope *scope)
{
	size_t count = 0, i = tame_token_at(scope->range.begin);

	for (; i < token_count && tokens[i].offset < scope->range.end; i++)
		count += tame_is(i, name);
	return count > 1;
}

static void check_kept(const struct variable *v)
{
	const char *reason = reason_not_to_keep(v);

	if (v->group->prototype != NULL && is_used(v->group->prototype, v->scope))
		tame_error(
			v->offset,
			"'%s' is declared together with the function '%s', which lives across no "
			"wait: declare that by itself",
			v->name, v->group->prototype);
	if (reason != NULL)
		tame_error(v->offset, "variable '%s' lives across a wait, but %s", v->name, reason);
	else if (v->rendezvous && v->has_initializer)
		tame_error(v->offset,
			   "variable '%s' holds a rendezvous and cannot be initialized: leave out "
			   "the '='",
			   v->name);
}

static void number_waits(struct function *f)
{
	for (size_t i = 0; i < f->wait_count; i++)
		f->waits[i]->state = (unsigned)i + 1;
	f->state_count = (unsigned)f->wait_count;
}

void tame_place_variables(struct function *f)
{
	if (f->kind == 0)
		return;
	for (size_t i = f->parameter_count; i < f->variable_count; i++)
		f->variables[i]->kept = must_keep(f, f->variables[i]);
	for (size_t i = 0; i < f->group_count; i++) {
		struct group *g = f->groups[i];
		bool kept = false;

		for (size_t k = 0; k < g->variable_count; k++)
			kept = kept || g->variables[k]->kept;
		for (size_t k = 0; k < g->variable_count; k++)
			g->variables[k]->kept = kept;
		g->kept = kept;
	}
	for (size_t i = 0; i < f->variable_count; i++) {
		struct variable *v = f->variables[i];

		if (!v->kept)
			continue;
		if (v->group != NULL)
			check_kept(v);
		v->alone = v->group == NULL || stands_alone(v);
		name_member(f, i);
		if (v->rendezvous)
			v->number = ++f->rendezvous_count;
	}
	number_waits(f);
}
