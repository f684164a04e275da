/* outlive.c - addresses of variables that are used when the variable is gone: one that is given away with
 * an event, which is triggered later; one that is kept in a variable of an outer scope.
 */
#include "tool.h"

static void check_given(const struct function *f, const struct address *a)
{
	bool with_event = false;

	for (size_t i = 0; i < f->mkevent_count; i++)
		with_event = with_event || tame_holds(a->call, f->mkevents[i]->offset);
	if (with_event && !a->variable->slot)
		tame_warning(
			a->offset,
			"'%s' goes out of scope before the wait at the end of the twait block, "
			"but its address is given away with an event: declare '%s' in front of "
			"the block; in a loop, as an array with an element for each turn",
			a->variable->name, a->variable->name);
}

/* Where an address is kept: `p` or its member `p->m`, `p.m`. */
struct keeper {
	const struct variable *variable;
	size_t first, last; /* tokens */
};

static const struct variable *variable_at(const struct function *f, size_t token)
{
	for (size_t i = 0; token < token_count && i < f->reference_count; i++)
		if (f->references[i].offset == tokens[token].offset)
			return f->references[i].variable;
	return NULL;
}

static bool begins_statement(size_t token)
{
	return tame_is(token - 1, ";") || tame_is(token - 1, "{") || tame_is(token - 1, "}") ||
	       tame_is(token - 1, ")") || tame_is(token - 1, ":") || tame_is(token - 1, "else");
}

/* What stands in front of an `=`. */
static struct keeper keeper_before(const struct function *f, size_t equals)
{
	struct keeper k = { .first = equals - 1, .last = equals - 1 };

	if (tame_is(equals - 2, "->") || tame_is(equals - 2, "."))
		k.first = equals - 3;
	k.variable = begins_statement(k.first) ? variable_at(f, k.first) : NULL;
	return k;
}

static bool is_keeper(const struct function *f, const struct keeper *k, size_t token)
{
	if (!tame_is(token, k->variable->name) || variable_at(f, token) != k->variable)
		return false;
	for (size_t i = k->first + 1; i <= k->last; i++)
		if (!tame_is(++token, tame_spelling(i)))
			return false;
	return true;
}

/* From the name on: &x, &x.member, &x[i]. */
static bool is_all_of_it(const struct variable *v, size_t token)
{
	for (token++; !tame_is(token, ";"); token++)
		if (tame_is(token, ".") && tokens[token + 1].kind == 'i')
			token++;
		else if (tame_is(token, "[") && tame_is_array(v->type))
			token = tame_close(token);
		else
			return false;
	return true;
}

/* The `=` by which the address of the variable at a token is kept; 0: it is not. */
static size_t kept_by(const struct variable *v, size_t token)
{
	size_t at = token - 1;

	if (tame_is(at, "&") && is_all_of_it(v, token))
		at--;
	else if (!tame_is_array(v->type) || !tame_is(token + 1, ";"))
		return 0;
	return tame_is(at, "=") ? at : 0;
}

static bool is_slot(const struct function *f, size_t token)
{
	for (size_t i = 0; i < f->mkevent_count; i++)
		if (tame_holds(f->mkevents[i]->range, tokens[token].offset))
			return true;
	return false;
}

static bool is_compared(const struct keeper *k, size_t token)
{
	size_t behind = token + (k->last - k->first) + 1;

	return tame_is(behind, "==") || tame_is(behind, "!=") || tame_is(token - 1, "!") ||
	       tame_is(token - 1, "==") || tame_is(token - 1, "!=") ||
	       (tame_is(token - 1, ")") && tame_is(token - 2, "void"));
}

/* Whether it is given another value there, or may be. */
static bool is_changed(const struct function *f, const struct keeper *k, size_t token)
{
	size_t behind = token + (k->last - k->first) + 1;

	return tame_is(behind, "=") || tame_is(token - 1, "&") || is_slot(f, token);
}

/* The token where it is used behind the scope's end, with the address in it; 0: nowhere. */
static size_t use_behind(const struct function *f, const struct keeper *k, size_t end)
{
	for (size_t i = k->last + 1; i < token_count && tokens[i].offset < f->body.end; i++) {
		if (tame_is(i, "goto"))
			return 0;
		if (!is_keeper(f, k, i) || is_compared(k, i))
			continue;
		if (is_changed(f, k, i))
			return 0;
		if (tokens[i].offset >= end)
			return i;
	}
	return 0;
}

static bool is_outside(const struct scope *outer, const struct scope *inner)
{
	for (const struct scope *s = inner->parent; s != NULL; s = s->parent)
		if (s == outer)
			return true;
	return false;
}

static void check_kept(const struct function *f, const struct reference *r)
{
	const struct variable *v = r->variable;
	size_t token = tame_token_at(r->offset), equals, use;
	struct keeper k;

	if (v->is_static || v->group == NULL || v->scope->wait == NULL)
		return;
	equals = kept_by(v, token);
	if (equals == 0)
		return;
	k = keeper_before(f, equals);
	if (k.variable == NULL || !is_outside(k.variable->scope, v->scope))
		return;
	use = use_behind(f, &k, v->scope->range.end);
	if (use != 0)
		tame_warning(
			r->offset,
			"'%s' goes out of scope before line %u, which uses its address, kept in "
			"'%s': declare '%s' in front of the block",
			v->name, tame_place(tokens[use].offset).line,
			tame_cut(tame_token_range(k.first, k.last)), v->name);
}

void tame_check_addresses(struct function *f)
{
	for (size_t i = 0; i < f->address_count; i++)
		check_given(f, &f->addresses[i]);
	for (size_t i = 0; i < f->reference_count; i++)
		check_kept(f, &f->references[i]);
}
