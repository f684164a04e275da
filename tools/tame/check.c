/* check.c - what must not be, in tamed and threaded functions, and what the events are. */
#include <string.h>

#include "tool.h"

static bool is_pointer(CXCursor c)
{
	return tame_canonical(clang.getCursorType(c)).kind == CXType_Pointer;
}

static struct variable *variable_of(struct function *f, CXCursor c);
static struct variable *pointed_to(struct function *f, CXCursor c);

struct looking_into {
	struct function *f;
	struct variable *found;
};

static int look_into(CXCursor c, CXCursor parent, void *arg)
{
	struct looking_into *l = arg;

	(void)parent;
	if (l->found == NULL)
		l->found = pointed_to(l->f, c);
	return CXVisit_Continue;
}

/* Of a[i] and a + i, whichever is the pointer. */
static struct variable *pointed_into(struct function *f, CXCursor c)
{
	struct looking_into l = { f, NULL };

	clang.visitChildren(c, look_into, &l);
	return l.found;
}

/* The variable that a pointer points into, as far as that can be seen: it is an array, or & of it. */
static struct variable *pointed_to(struct function *f, CXCursor c)
{
	CXCursor child = tame_first_child(c);

	switch (c.kind) {
	case CXCursor_ParenExpr:
	case CXCursor_UnexposedExpr:
	case CXCursor_CStyleCastExpr:
		return pointed_to(f, child);
	case CXCursor_DeclRefExpr:
	case CXCursor_MemberRefExpr:
	case CXCursor_ArraySubscriptExpr:
		return tame_is_array(clang.getCursorType(c)) ? variable_of(f, c) : NULL;
	case CXCursor_UnaryOperator:
		if (tame_is(tame_token_at(tame_extent(c).begin), "&"))
			return variable_of(f, child);
		return tame_is_array(clang.getCursorType(c)) ? variable_of(f, c) : NULL;
	case CXCursor_BinaryOperator:
		return pointed_into(f, c);
	default:
		return NULL;
	}
}

/* The variable that something to assign to is part of; NULL: of none of the function's. */
static struct variable *variable_of(struct function *f, CXCursor c)
{
	CXCursor child = tame_first_child(c);

	switch (c.kind) {
	case CXCursor_DeclRefExpr:
		return tame_variable(f, clang.getCursorReferenced(c));
	case CXCursor_ParenExpr:
	case CXCursor_UnexposedExpr:
		return variable_of(f, child);
	case CXCursor_MemberRefExpr:
		return is_pointer(child) ? pointed_to(f, child) : variable_of(f, child);
	case CXCursor_ArraySubscriptExpr:
		return pointed_into(f, c);
	case CXCursor_UnaryOperator:
		return pointed_to(f, child);
	default:
		return NULL;
	}
}

/* What can be assigned to. */
static bool is_slot(struct function *f, CXCursor c, struct variable **variable)
{
	CXCursor child = tame_first_child(c);

	*variable = variable_of(f, c);
	switch (c.kind) {
	case CXCursor_DeclRefExpr:
		c = clang.getCursorReferenced(c);
		return c.kind == CXCursor_VarDecl || c.kind == CXCursor_ParmDecl;
	case CXCursor_ParenExpr:
	case CXCursor_UnexposedExpr:
		return is_slot(f, child, variable);
	case CXCursor_MemberRefExpr:
		return is_pointer(child) || is_slot(f, child, variable);
	case CXCursor_ArraySubscriptExpr:
		return true;
	case CXCursor_UnaryOperator:
		return tame_is(tame_token_at(tame_extent(c).begin), "*");
	default:
		return false;
	}
}

/* Closures and events are aligned to 16 bytes. */
void tame_check_alignment(size_t offset, CXType type)
{
	if (clang.Type_getAlignOf(type) > 16)
		tame_error(offset,
			   "this is aligned to %lld bytes, and what lives across a wait to 16: "
			   "pass a pointer to it",
			   clang.Type_getAlignOf(type));
}

static void check_slot(struct function *f, struct mkevent *m, struct argument *a)
{
	struct variable *v;
	const char *text = tame_cut(a->range);
	CXType type;

	if (!a->seen) {
		tame_error(a->range.begin,
			   "trigger slot '%s' is not understood: give a variable, a member or an "
			   "element",
			   text);
		return;
	}
	type = clang.getCursorType(a->cursor);
	tame_check_alignment(a->range.begin, type);
	if (!is_slot(f, a->cursor, &v))
		tame_error(a->range.begin,
			   "trigger slot '%s' is not something to assign to: give a variable, a "
			   "member or an element",
			   text);
	else if (tame_is_array(type))
		tame_error(a->range.begin,
			   "trigger slot '%s' is an array, to which nothing can be assigned: give "
			   "a struct that holds it",
			   text);
	else if (tame_has_const(type))
		tame_error(a->range.begin,
			   "trigger slot '%s' is const: an event assigns to it; give a variable "
			   "that is not",
			   text);
	if (v == NULL)
		return;
	v->slot = true;
	v->rendezvous_slot = v->rendezvous_slot || m->of_rendezvous;
}

/* Whether it is a statement of its own: then nobody has the event. */
static bool is_dropped(const struct mkevent *m)
{
	size_t i = tame_token_at(m->offset), before = i - 1;

	return i > 0 && (tame_is(before, "{") || tame_is(before, "}") || tame_is(before, ";")) &&
	       tame_is(tame_token_at(m->range.end), ";");
}

static void check_mkevent(struct function *f, struct mkevent *m)
{
	size_t first = 0;

	if (m->argument_count > 0 && m->arguments[0].seen)
		m->of_rendezvous = tame_is_rendezvous(clang.getCursorType(m->arguments[0].cursor),
						      &m->id_type, &m->named);
	if (m->of_rendezvous)
		first = m->named ? 2 : 1;
	if (first > m->argument_count) {
		tame_error(m->offset,
			   "mkevent needs an event ID, as '%s' is a rendezvous with IDs: "
			   "'mkevent(%s, id)'",
			   tame_cut(m->arguments[0].range), tame_cut(m->arguments[0].range));
		return;
	}
	if (m->named && tame_is_array(m->id_type))
		tame_error(m->arguments[1].range.begin,
			   "an event ID cannot be an array: use a number, a pointer or a struct");
	if (!m->of_rendezvous && m->wait == NULL)
		tame_error(m->offset,
			   "mkevent without a rendezvous outside a twait block: nothing would wait "
			   "for the event; put it into a twait block, or name a rendezvous first");
	else if (is_dropped(m))
		tame_warning(m->offset, "this event is dropped: nothing will trigger it; give it "
					"to a function, or store it");
	m->slots = m->arguments + first;
	m->slot_count = m->argument_count - first;
	for (size_t i = 0; i < m->slot_count; i++)
		check_slot(f, m, &m->slots[i]);
	/* A thread may hop between two mkevents, and its stack soon has other use. */
	m->apart =
		f->threaded || m->in_loop || m->seen > 1 || (m->wait != NULL && m->wait->has_label);
}

/* Waits */

static bool within(const struct wait *inner, const struct wait *outer)
{
	for (; inner != NULL; inner = inner->parent)
		if (inner == outer)
			return true;
	return outer == NULL;
}

static int look_for_call(CXCursor c, CXCursor parent, void *arg)
{
	(void)parent;
	if (c.kind == CXCursor_CallExpr || c.kind == CXCursor_StmtExpr ||
	    c.kind == CXCursor_CompoundAssignOperator)
		*(bool *)arg = true;
	return CXVisit_Recurse;
}

/* It is evaluated each time the function goes on there. */
static bool has_effects(const struct argument *a)
{
	bool effects = a->cursor.kind == CXCursor_CallExpr;
	size_t i = tame_token_at(a->range.begin);

	for (; i < token_count && tokens[i].offset < a->range.end; i++)
		effects = effects || tame_is(i, "++") || tame_is(i, "--") || tame_is(i, "=");
	clang.visitChildren(a->cursor, look_for_call, &effects);
	return effects;
}

/* A name means the same as long as the function is in its scope. */
static bool is_plain(const struct argument *a)
{
	size_t first = tame_token_at(a->range.begin);

	return tokens[first].kind == 'i' && tame_token_end(first) == a->range.end;
}

/* A block of weft_async may run on another stack, beside the function. */
static bool in_async(const struct function *f, size_t offset)
{
	size_t i = tame_token_at(f->body.begin);

	for (; i < token_count && tokens[i].offset < offset; i++) {
		size_t brace = i + 1;

		if (!tame_is(i, TAME_ASYNC) && !tame_is(i, TAME_ASYNC_OWN))
			continue;
		for (; !tame_is(brace, ";") && brace < token_count; brace = tame_close(brace) + 1)
			if (tame_is(brace, "{") && tame_token_end(tame_close(brace)) > offset)
				return true;
	}
	return false;
}

static void check_wait(struct function *f, struct wait *w)
{
	const char *text = tame_cut(w->rendezvous.range);
	bool named = false;
	struct variable *v;

	if (w->in_expression)
		tame_error(w->offset, "'twait' inside a statement expression, in which a function "
				      "cannot go on: make it a statement of its own");
	if (in_async(f, w->offset))
		tame_error(w->offset, "'twait' inside weft_async: call a threaded function there");
	if (w->kind != WAIT_RENDEZVOUS || w->rendezvous.range.end == 0)
		return;
	if (!w->rendezvous.seen ||
	    !tame_is_rendezvous(clang.getCursorType(w->rendezvous.cursor), &w->id_type, &named)) {
		tame_error(w->rendezvous.range.begin,
			   "'%s' is not a rendezvous: 'twait' takes one that is declared by "
			   "'rendezvous() r;'",
			   text);
		return;
	}
	w->keeps = !is_plain(&w->rendezvous);
	if (has_effects(&w->rendezvous))
		tame_error(
			w->rendezvous.range.begin,
			"'%s' has side effects, and is evaluated each "
			"time an event wakes the function: take a pointer to the rendezvous first",
			text);
	if (w->id.range.end == 0)
		return;
	if (!named)
		tame_error(w->id.range.begin,
			   "rendezvous '%s' carries no event IDs: write 'twait(%s)', or declare it "
			   "as 'rendezvous(int)'",
			   text, text);
	else if (!w->id.seen || !is_slot(f, w->id.cursor, &v) ||
		 tame_has_const(clang.getCursorType(w->id.cursor)))
		tame_error(w->id.range.begin,
			   "'%s' is not something to assign an event ID to: give a variable",
			   tame_cut(w->id.range));
}

/* Jumps */

static const struct label *label_of(const struct function *f, size_t target)
{
	for (size_t i = 0; i < f->label_count; i++)
		if (f->labels[i].offset == target)
			return &f->labels[i];
	return NULL;
}

static void check_jumps(struct function *f)
{
	for (size_t i = 0; i < f->return_count; i++)
		if (f->returns[i].wait != NULL)
			tame_error(f->returns[i].offset,
				   "'return' leaves a twait block while its events are "
				   "outstanding: leave it at its end, or use a rendezvous");
	for (size_t i = 0; i < f->jump_count; i++) {
		const struct label *l = label_of(f, f->jumps[i].target);

		if (l == NULL)
			continue;
		if (!within(f->jumps[i].wait, l->wait))
			tame_error(f->jumps[i].offset,
				   "'goto' jumps into a twait block, which begins at its opening "
				   "brace only: put the label in front of it");
		else if (!within(l->wait, f->jumps[i].wait))
			tame_error(f->jumps[i].offset,
				   "'goto' leaves a twait block while its events are outstanding: "
				   "leave it at its end, or use a rendezvous");
	}
}

/* The function */

static void check_parameters(struct function *f)
{
	if (!f->threaded &&
	    tame_canonical(clang.getCursorType(f->cursor)).kind == CXType_FunctionProto &&
	    clang.isFunctionTypeVariadic(clang.getCursorType(f->cursor)))
		tame_error(f->offset,
			   "tamed function '%s' is variadic, and its closure cannot keep such "
			   "arguments: give it an array",
			   f->name);
	if (tame_is(tame_token_at(f->body.begin) - 1, ";"))
		tame_error(f->offset,
			   "the parameters of '%s' are declared behind the brackets: declare them "
			   "inside",
			   f->name);
	for (size_t i = tame_token_at(f->range.begin); tokens[i].offset < f->body.begin; i++)
		if (tame_is(i, "{") && !f->threaded)
			tame_error(tokens[i].offset,
				   "a type is declared in the head of '%s': declare it in front of "
				   "the function",
				   f->name);
	for (size_t i = 0; i < f->parameter_count && !f->threaded; i++)
		tame_check_alignment(f->variables[i]->offset, f->variables[i]->type);
	for (size_t i = 0; i < f->parameter_count && !f->threaded; i++)
		if (tame_is_variable(f->variables[i]->type))
			tame_error(f->variables[i]->offset,
				   "the size of what parameter '%s' points to is not constant: "
				   "pass a pointer to its first element, and the sizes",
				   f->variables[i]->name);
	for (size_t i = 0; i < f->parameter_count; i++)
		if (f->variables[i]->rendezvous)
			tame_error(f->variables[i]->offset,
				   "rendezvous '%s' is passed by value: pass a pointer to it",
				   f->variables[i]->name);
}

static void check_refusal(const struct function *f)
{
	size_t i = tame_token_at(f->refusal_block.begin);

	for (; i < token_count && tokens[i].offset < f->refusal_block.end; i++)
		if (tame_is(i, TAME_MKEVENT) || tame_is(i, TAME_TWAIT) || tame_is(i, TAME_TFORK))
			tame_error(tokens[i].offset,
				   "'%s' in a trefused block, which has no closure: only trigger "
				   "the function's events there",
				   tame_spelling(i));
}

/* How a rendezvous is used: only for making events, or also otherwise. */
static void check_rendezvous(struct function *f, const struct variable *v)
{
	bool made = false, otherwise = false;

	for (size_t i = 0; i < f->reference_count; i++) {
		bool making = false;

		if (f->references[i].variable != v)
			continue;
		for (size_t k = 0; k < f->mkevent_count; k++)
			making = making || (f->mkevents[k]->of_rendezvous &&
					    tame_holds(f->mkevents[k]->arguments[0].range,
						       f->references[i].offset));
		made = made || making;
		otherwise = otherwise || !making;
	}
	if (made && !otherwise)
		tame_warning(v->offset,
			     "events of rendezvous '%s' are never waited for or cancelled: use "
			     "'twait(%s)' or 'rv_cancel(%s)'",
			     v->name, v->name, v->name);
}

/* An event that a function gets and does not name is triggered by nobody. */
static void check_event(struct function *f, const struct variable *v)
{
	for (size_t i = 0; i < f->reference_count; i++)
		if (f->references[i].variable == v)
			return;
	tame_warning(v->offset,
		     "event '%s' is never triggered or passed on: trigger it, or say '(void)%s;' "
		     "if nobody waits for it",
		     v->name, v->name);
}

/* Whether something is given to a call together with an event: then it is used until that
 * is triggered. */
static bool comes_with_event(const struct function *f, struct range call)
{
	for (size_t i = 0; i < f->mkevent_count; i++)
		if (tame_holds(call, f->mkevents[i]->offset))
			return true;
	for (size_t i = 0; i < f->event_count; i++)
		if (tame_holds(call, f->events[i]))
			return true;
	return false;
}

static void check_literal(struct function *f, struct literal *l)
{
	bool given = comes_with_event(f, l->call), loops = l->wait != NULL && l->in_loop;
	bool lives = !loops && tame_lives_across(f, l->scope, l->offset);

	if (l->in_expression)
		return;
	l->kept = !f->threaded && (lives || (loops && !given));
	if (l->kept)
		tame_check_alignment(l->offset, l->type);
	if (given && !lives && (!f->threaded || l->wait != NULL))
		tame_error(l->offset,
			   "'%s' is gone before the event that is given with it is "
			   "triggered: put it into a variable in front of the wait; in a "
			   "loop, into an array with an element for each turn",
			   tame_cut(l->range));
}

static void check_temporaries(struct function *f)
{
	for (size_t i = 0; i < f->literal_count; i++)
		check_literal(f, &f->literals[i]);
	for (size_t i = 0; i < f->temporary_count; i++)
		if (comes_with_event(f, f->temporaries[i].call))
			tame_error(f->temporaries[i].range.begin,
				   "'%s' is gone before the event that is given with it is "
				   "triggered: put the struct into a variable",
				   tame_cut(f->temporaries[i].range));
}

static void warn(struct function *f)
{
	for (size_t i = 0; i < f->parameter_count; i++)
		if (tame_is_event(f->variables[i]->type) && f->variables[i]->name[0] != '\0')
			check_event(f, f->variables[i]);
	for (size_t i = f->parameter_count; i < f->variable_count; i++)
		if (f->variables[i]->rendezvous)
			check_rendezvous(f, f->variables[i]);
	tame_check_addresses(f);
	for (size_t i = 0; i < f->waiting_count; i++)
		if (!in_async(f, f->waitings[i].offset))
			tame_warning(f->waitings[i].offset,
				     "'%s' waits on the stack of a thread, which the tamed "
				     "function '%s' does not have: wait for an event, or call it "
				     "by 'tfork'",
				     f->waitings[i].function, f->name);
}

void tame_check(struct function *f)
{
	for (size_t i = 0; i < f->fork_count; i++)
		tame_check_fork(f->forks[i]);
	if (f->kind == 0)
		return;
	for (size_t i = 0; i < f->variable_count; i++)
		f->variables[i]->rendezvous = tame_holds_rendezvous(f->variables[i]->type);
	for (size_t i = 0; i < f->mkevent_count; i++)
		check_mkevent(f, f->mkevents[i]);
	for (size_t i = 0; i < f->wait_count; i++)
		check_wait(f, f->waits[i]);
	for (size_t i = 0; i < f->alloca_count && !f->threaded && f->wait_count > 0; i++)
		tame_error(f->allocas[i], "memory of 'alloca' does not live across a wait: use an "
					  "array of constant size, or malloc");
	check_parameters(f);
	check_jumps(f);
	check_refusal(f);
	check_temporaries(f);
	warn(f);
}
