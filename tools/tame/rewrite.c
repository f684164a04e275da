/* rewrite.c - what becomes of the text of a tamed or threaded function. */
#include <string.h>

#include "tool.h"

/* Names */

static void rewrite_references(struct function *f)
{
	for (size_t i = 0; i < f->reference_count; i++) {
		struct reference *r = &f->references[i];

		if (r->variable->kept)
			tame_edit_once(r->offset, strlen(r->variable->name),
				       tame_format("\5c->%s", r->variable->member));
	}
}

/* What a name would mean at an offset, by the scopes. */
static struct variable *visible(struct function *f, size_t token)
{
	size_t at = tokens[token].offset;
	struct variable *found = NULL;

	for (size_t i = 0; i < f->variable_count; i++) {
		struct variable *v = f->variables[i];

		if (!tame_is(token, v->name))
			continue;
		if (v->group == NULL ||
		    (v->offset <= at && at >= v->scope->range.begin && at < v->scope->range.end))
			found = v; /* inner scopes come later */
	}
	return found;
}

static bool is_explained(const struct function *f, size_t offset)
{
	for (size_t i = 0; i < f->type_reference_count; i++)
		if (f->type_references[i].offset == offset)
			return true;
	for (size_t i = 0; i < f->constant_reference_count; i++)
		if (f->constant_references[i].offset == offset)
			return true;
	for (size_t i = 0; i < f->known_count; i++)
		if (f->known[i] == offset)
			return true;
	for (size_t i = 0; i < f->reference_count; i++)
		if (f->references[i].offset == offset)
			return true;
	return false;
}

/* Whether a name is that of a type or a constant which gets another at file scope. */
static bool is_moved(const struct function *f, size_t token)
{
	for (size_t i = 0; i < f->type_count; i++)
		if (f->types[i]->name != NULL && tame_is(token, f->types[i]->name))
			return true;
	for (size_t i = 0; i < f->constant_count; i++)
		if (tame_is(token, f->constants[i].name))
			return true;
	return false;
}

/* Every name that a kept variable has, where that is in scope, must have been met as something. */
static void look_for_leftovers(struct function *f)
{
	size_t i = tame_token_at(f->body.begin);

	for (; i < token_count && tokens[i].offset < f->body.end; i++) {
		size_t at = tokens[i].offset;
		struct variable *v;

		if (tokens[i].kind != 'i' || tame_is(i - 1, ".") || tame_is(i - 1, "->") ||
		    (at >= f->refusal.begin && at < f->refusal.end))
			continue;
		v = visible(f, i);
		if (is_moved(f, i) && (v == NULL || !v->kept) && !is_explained(f, at))
			tame_error(at,
				   "weft-tame does not understand this use of '%s', which is "
				   "declared in the function: declare it in front",
				   tame_spelling(i));
		if (v != NULL && v->kept && !is_explained(f, at))
			tame_error(at,
				   "'%s' lives across a wait, and weft-tame does not "
				   "understand its use here: write this line without macros",
				   v->name);
	}
}

/* The function's name for itself: its text becomes that of another. */
static void rewrite_own_name(struct function *f)
{
	size_t i = tame_token_at(f->body.begin);

	for (; i < token_count && tokens[i].offset < f->body.end; i++)
		if ((tame_is(i, "__func__") || tame_is(i, "__FUNCTION__") ||
		     tame_is(i, "__PRETTY_FUNCTION__")) &&
		    !(tokens[i].offset >= f->refusal.begin && tokens[i].offset < f->refusal.end))
			tame_edit_once(tokens[i].offset, tokens[i].size,
				       tame_format("\"%s\"", f->name));
}

/* Declarations */

/* { 0 }, or { }: there may be much of it. */
static bool is_zero(const struct variable *v)
{
	size_t i = tame_token_at(v->initializer.begin) + 1;

	if (!v->list_initializer)
		return false;
	if (tame_is(i, "0"))
		i++;
	return tame_is(i, "}");
}

/* A member that is const is written to when its declaration is reached. */
static const char *without_const(CXType type, const char *member)
{
	return tame_format("*(%s)(uintptr_t)&\5c->%s", tame_declare(type, "*", true), member);
}

static const char *copy_bytes(const char *member, const char *from)
{
	return tame_format("__builtin_memcpy((void *)(uintptr_t)&\5c->%s, "
			   "(const void *)(uintptr_t)%s, sizeof \5c->%s)",
			   member, from, member);
}

static bool is_string(const struct variable *v)
{
	size_t i = tame_token_at(v->initializer.begin);

	while (tame_is(i, "("))
		i++;
	return i < token_count && tokens[i].kind == 's';
}

static const char *assign_array(const struct variable *v, const char *init)
{
	const char *m = v->member;

	if (is_zero(v))
		return tame_format("__builtin_memset((void *)(uintptr_t)\5c->%s, 0, "
				   "sizeof \5c->%s)",
				   m, m);
	if (!v->list_initializer && !is_string(v))
		return copy_bytes(m, init);
	return copy_bytes(m, tame_format("(__typeof__(\5c->%s))%s", m,
					 v->list_initializer ? init : tame_format("{ %s }", init)));
}

static const char *assign_list(const struct variable *v)
{
	const char *m = v->member, *init = tame_range(v->initializer);

	if (tame_is_array(v->type))
		return assign_array(v, init);
	if (tame_is_record(v->type) && tame_has_const(v->type))
		return copy_bytes(m, tame_format("(__typeof__(\5c->%s)[1]){ %s }", m, init));
	if (v->list_initializer)
		init = tame_format("(__typeof__(\5c->%s))%s", m, init);
	if (tame_has_const(v->type))
		return tame_format("%s = %s", without_const(v->type, m), init);
	return tame_format("\5c->%s = %s", m, init);
}

static void rewrite_group(struct function *f, struct group *g)
{
	struct text t = { 0 };

	for (size_t i = 0; i < g->variable_count; i++) {
		struct variable *v = g->variables[i];

		if (!v->rendezvous && !v->has_initializer)
			continue;
		if (t.size > 0)
			tame_put(&t, ", ");
		if (v->rendezvous)
			tame_print(&t, "%s__r%u(\5c)", f->stem, v->number);
		else
			tame_put(&t, assign_list(v));
	}
	tame_put(&t, ";");
	tame_edit(g->range.begin, g->range.end, t.at);
}

/* Waits */

/* What a thread waits for, as dumps and reports of deadlocks tell it. */
static const char *tell_wait(const struct wait *w)
{
	struct text t = { 0 };

	tame_put(&t, "\5c->\5h.wait_.what = ");
	tame_put_string(&t, w->text, strlen(w->text));
	tame_print(&t, " \" at \" %s", tame_here(w->offset));
	return t.at;
}

/* The labels stand where control does not come by itself, or compilers would warn of cases of
 * a switch that fall through to them. */
static const char *block_wait(const struct function *f, const struct wait *w)
{
	const char *counter = tame_format("\5c->\5j[%u]", w->depth);

	if (!f->threaded)
		return tame_format("{ %s = 1; %s \5c->\5h.state_ = %u; "
				   "if (--%s != 0) { return; \5L%u:; } }",
				   counter, tame_range(w->body), w->state, counter, w->state);
	/* inside of the block: what it declares is on the stack */
	tame_edit(w->body.end - 1, w->body.end - 1,
		  tame_format("; %s; weft_tame_thread_join(&\5c->\5h, &%s); ", tell_wait(w),
			      counter));
	return tame_format("{ weft_tame_thread_block(&\5c->\5h, &%s); %s }", counter,
			   tame_range(w->body));
}

static const char *rendezvous_wait(const struct function *f, const struct wait *w)
{
	bool has_id = w->id.range.end > 0;
	const char *rendezvous = tame_format("((weft_tame_rendezvous *)(uintptr_t)&(%s))",
					     tame_range(w->rendezvous.range));
	const char *id = has_id ? "&\5v, sizeof \5v" : "0, 0";
	const char *declare =
		has_id ? tame_format("%s; ", tame_declare(w->id_type, "\5v", true)) : "";
	const char *assign = has_id ? tame_format("%s = \5v; ", tame_range(w->id.range)) : "";

	if (f->threaded)
		return tame_format("{ %s%s; weft_tame_thread_next(&\5c->\5h, %s, %s); %s}", declare,
				   tell_wait(w), rendezvous, id, assign);
	if (w->keeps)
		return tame_format("{ %s\5c->\5w%u = %s; \5c->\5h.state_ = %u; if (0) { \5L%u:; } "
				   "if (!weft_tame_next(\5c->\5w%u, &\5c->\5h, %s)) return; %s}",
				   declare, w->state, rendezvous, w->state, w->state, w->state, id,
				   assign);
	return tame_format("{ %s\5c->\5h.state_ = %u; if (0) { \5L%u:; } "
			   "if (!weft_tame_next(%s, &\5c->\5h, %s)) return; %s}",
			   declare, w->state, w->state, rendezvous, id, assign);
}

static void rewrite_wait(struct function *f, struct wait *w)
{
	tame_edit(w->range.begin, w->range.end,
		  w->kind == WAIT_BLOCK ? block_wait(f, w) : rendezvous_wait(f, w));
}

static void rewrite_mkevent(struct function *f, struct mkevent *m)
{
	struct text t = { 0 };

	tame_print(&t, "%s__mk%u(\5c", f->stem, m->number);
	if (m->of_rendezvous)
		tame_print(&t, ", ((weft_tame_rendezvous *)(uintptr_t)&(%s))",
			   tame_range(m->arguments[0].range));
	if (m->named)
		tame_print(&t, ", %s", tame_range(m->arguments[1].range));
	for (size_t i = 0; i < m->slot_count; i++)
		tame_print(&t, ", &(%s)", tame_range(m->slots[i].range));
	tame_put(&t, ")");
	tame_edit(m->range.begin, m->range.end, t.at);
}

/* A compound literal whose address is still of use behind a wait. */
static void rewrite_literal(const struct literal *l, size_t i)
{
	const char *member = tame_format("\5l%zu", i);

	tame_edit(l->range.begin, l->range.end,
		  tame_format("(*((void)%s, &\5c->%s))",
			      copy_bytes(member, tame_format("&%s", tame_range(l->range))),
			      member));
}

static void rewrite_fork(struct function *f, struct fork *k)
{
	struct text t = { 0 };

	tame_print(&t, "%s__fork%u(%s", f->stem, k->number, tame_range(k->event.range));
	if (k->callee.end > 0)
		tame_print(&t, ", %s", tame_range(k->callee));
	for (size_t i = 0; i < k->argument_count; i++)
		tame_print(&t, ", %s", tame_range(k->arguments[i]));
	tame_put(&t, ")");
	tame_edit(k->range.begin, k->range.end, t.at);
}

/* Ends */

static void rewrite_return(const struct mark *r)
{
	static const char leave[] = "weft_tame_leave(&\5c->\5h);";
	size_t token = tame_token_at(r->offset), end = tame_until(token, ";");
	struct range value = { tame_token_end(token), tokens[end].offset };

	if (end == token + 1)
		tame_edit(r->offset, tame_token_end(end), tame_format("{ %s return; }", leave));
	else
		tame_edit(r->offset, tame_token_end(end),
			  tame_format("{ %s; %s return; }", tame_range(value), leave));
}

static const char *line_of(size_t offset)
{
	return tame_format("\4%zu\2", offset);
}

static const char *refusal(const struct function *f)
{
	if (f->refusal_block.end == 0)
		return tame_format("weft_tame_refusal(&%s__fn, 0); return;", f->stem);
	return tame_format("int %s = weft_tame_refusal(&%s__fn, 1); (void)%s;%s%s return;",
			   f->refusal_name, f->stem, f->refusal_name,
			   line_of(f->refusal_block.begin), tame_range(f->refusal_block));
}

static const char *copy_parameter(const struct variable *v)
{
	if (tame_is_record(v->type) && tame_has_const(v->type))
		return tame_format(" %s;", copy_bytes(v->member, tame_format("&%s", v->name)));
	if (!tame_is_array(v->type) && clang.isConstQualifiedType(tame_canonical(v->type)))
		return tame_format(" %s = %s;", without_const(v->type, v->member), v->name);
	return tame_format(" \5c->%s = %s;", v->member, v->name);
}

/* The function that users call: makes the closure and begins. */
static const char *entry(const struct function *f)
{
	struct text t = { 0 };

	tame_print(&t,
		   "{ struct %s__c *\5c = (struct %s__c *)weft_tame_enter(&%s__fn); "
		   "if (__builtin_expect(\5c == 0, 0)) { %s }",
		   f->stem, f->stem, f->stem, refusal(f));
	for (size_t i = 0; i < f->parameter_count; i++)
		if (f->variables[i]->name[0] != '\0')
			tame_put(&t, copy_parameter(f->variables[i]));
	tame_print(&t, " if (weft_tame_begins(&\5c->\5h)) %s__body(&\5c->\5h); }", f->stem);
	return t.at;
}

static void rewrite_tamed_body(struct function *f)
{
	struct text t = { 0 };

	tame_print(&t, " struct %s__c *\5c = (struct %s__c *)\5p; ", f->stem, f->stem);
	if (f->state_count > 0) {
		tame_put(&t, "switch (\5c->\5h.state_) {");
		for (unsigned i = 1; i <= f->state_count; i++)
			tame_print(&t, " case %u: goto \5L%u;", i, i);
		tame_put(&t, " default: break; }");
	}
	tame_edit(f->body.begin + 1, f->body.begin + 1, t.at);
	tame_edit(f->body.end - 1, f->body.end - 1,
		  tame_format("\6%zu\2 weft_tame_leave(&\5c->\5h); ", f->body.end - 1));
	if (f->refusal.end > 0)
		tame_edit(f->refusal.begin, f->refusal.end, "");
	tame_edit(f->body.begin, f->body.end,
		  tame_format("%s%sstatic void %s__body(void *\5p) %s", entry(f),
			      line_of(f->body.begin), f->stem, tame_range(f->body)));
}

/* However it is left, it leaves the closure, after its value is known. */
static void rewrite_threaded_body(struct function *f)
{
	tame_edit(f->body.begin + 1, f->body.begin + 1,
		  tame_format(" struct %s__c \5s, *\5c = &\5s; "
			      "weft_tame_thread_closure *\5h WEFT_TAME_LEAVES_ = &\5c->\5h; "
			      "weft_tame_thread_enter(\5h, &%s__fn);",
			      f->stem, f->stem));
}

void tame_rewrite(struct function *f)
{
	struct text before = { 0 };

	tame_types_of(f);
	rewrite_references(f);
	for (size_t i = 0; i < f->group_count; i++)
		if (f->groups[i]->kept)
			rewrite_group(f, f->groups[i]);
	for (size_t i = 0; i < f->wait_count; i++)
		rewrite_wait(f, f->waits[i]);
	for (size_t i = 0; i < f->mkevent_count; i++)
		rewrite_mkevent(f, f->mkevents[i]);
	for (size_t i = 0; i < f->fork_count; i++)
		rewrite_fork(f, f->forks[i]);
	for (size_t i = 0; i < f->literal_count; i++)
		if (f->literals[i].kept)
			rewrite_literal(&f->literals[i], i);
	for (size_t i = 0; i < f->return_count && f->kind == 't'; i++)
		rewrite_return(&f->returns[i]);
	if (f->kind != 0)
		look_for_leftovers(f);
	if (f->kind != 0)
		rewrite_own_name(f);
	if (f->kind == 't') {
		rewrite_tamed_body(f);
	} else if (f->threaded)
		rewrite_threaded_body(f);
	tame_emit_before(&before, f);
	tame_put(&before, line_of(f->range.begin));
	tame_edit(f->range.begin, f->range.begin, before.at);
	tame_types_of(NULL);
}
