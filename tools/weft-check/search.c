/* search.c - finds paths of calls from code that must not wait to calls that wait.
 *
 * First, each body gets the length of its shortest path to a wait. This goes in rounds: round n
 * finds the bodies whose path has n calls. Then each call in a WEFT_NO_WAIT function or a
 * WEFT_ATOMIC block that begins such a path is reported, with the path.
 */
#include <string.h>

#include "check.h"

size_t check_promised;

bool check_promises(const struct function *f)
{
	return f->no_wait || f->handler || f->goes_into != NULL;
}

static bool waits(const struct function *f)
{
	return f->waits || check_is_blocking(f);
}

/* The functions that a call may reach. */
struct reach {
	struct function *const *functions;
	size_t count;
};

static struct reach reach_of(const struct call *c)
{
	if (c->slot == NULL)
		return (struct reach){ &c->function, 1 };
	if (c->slot->no_wait || (options.handlers && c->slot->handler))
		return (struct reach){ 0 };
	check_resolve(c->slot);
	return (struct reach){ c->slot->holds, c->slot->hold_count };
}

static bool share_target(const struct source *a, const struct source *b)
{
	for (size_t i = 0; i < a->target_count; i++)
		for (size_t k = 0; k < b->target_count; k++)
			if (strcmp(a->targets[i], b->targets[k]) == 0)
				return true;
	return false;
}

/* Several programs that are read together may define one name. A caller means the definition in its
 * own file (2), or else the one that is linked to the same target (1). */
static int nearness(const struct body *from, const struct body *to)
{
	if (from->source == to->source)
		return 2;
	return share_target(from->source, to->source) ? 1 : 0;
}

/* Whether the promise is that of this definition, not of another program's of the same name. */
static bool is_promised(const struct body *b)
{
	const struct function *f = b->function;

	for (size_t i = 0; i < f->promised_count; i++)
		if (f->body_count == 1 || f->promised_by[i] == b->source ||
		    share_target(f->promised_by[i], b->source))
			return true;
	return false;
}

/* The definition that a caller means; of several, the one with the shortest path to a wait. */
static const struct body *definition_of(const struct body *from, const struct function *f)
{
	const struct body *best = NULL;
	int near = -1;

	for (size_t i = 0; i < f->body_count; i++) {
		const struct body *b = f->bodies[i];
		int n = f->body_count == 1 ? 0 : nearness(from, b);
		bool less = best == NULL || best->depth == 0 ||
			    (b->depth > 0 && b->depth < best->depth);

		if (n > near || (n == near && less))
			best = b;
		near = n > near ? n : near;
	}
	return best;
}

/* The body to look at for a call; NULL: none, as the function has made a promise of its own. */
static const struct body *body_of(const struct body *from, const struct function *f)
{
	const struct body *b;

	if (f->of_weft || f->handler || f->goes_into != NULL)
		return NULL;
	b = definition_of(from, f);
	return b == NULL || is_promised(b) ? NULL : b;
}

/* Whether the call itself waits. A tamed function returns to its caller at a twait: callers do not
 * wait there. */
static bool ends_here(const struct body *b, const struct call *c, bool for_callers)
{
	struct reach r;

	if (c->kind == TWAIT)
		return !(for_callers && b->function->tamed);
	if (c->slot != NULL && c->slot->waits)
		return true;
	r = reach_of(c);
	for (size_t i = 0; i < r.count; i++)
		if (waits(r.functions[i]))
			return true;
	return false;
}

/* The body with the shortest path to a wait among those that a call may reach, or NULL. */
static const struct body *next_of(const struct body *b, const struct call *c)
{
	struct reach r = reach_of(c);
	const struct body *best = NULL;

	for (size_t i = 0; i < r.count; i++) {
		const struct body *n = body_of(b, r.functions[i]);

		if (n != NULL && n->depth > 0 && (best == NULL || n->depth < best->depth))
			best = n;
	}
	return best;
}

static bool measure(struct body *b, unsigned round)
{
	for (size_t i = 0; i < b->call_count; i++) {
		const struct call *c = &b->calls[i];
		const struct body *next;

		if (round == 1) {
			if (!ends_here(b, c, true))
				continue;
		} else {
			next = next_of(b, c);
			if (next == NULL || next->depth >= round)
				continue;
			b->next = next;
		}
		b->via = c;
		b->depth = round;
		return true;
	}
	return false;
}

static bool measure_all(unsigned round)
{
	bool found = round == 1;

	for (size_t i = 0; i < function_count; i++)
		for (size_t k = 0; k < functions[i]->body_count; k++)
			if (functions[i]->bodies[k]->depth == 0 &&
			    measure(functions[i]->bodies[k], round))
				found = true;
	return found;
}

/* Reporting */

static const struct function *first_waiting(const struct call *c)
{
	struct reach r = reach_of(c);

	for (size_t i = 0; i < r.count; i++)
		if (waits(r.functions[i]))
			return r.functions[i];
	return NULL;
}

static const char *how(const struct function *f)
{
	return f->waits ? "waits" : "blocks the worker";
}

static const char *describe_end(const struct body *b, const struct call *c)
{
	const char *name = b->function->name;
	const struct function *f;

	if (c->kind == TWAIT)
		return tame_format("%s() waits by %s", name, c->written);
	if (c->kind == CLEANUP && strcmp(c->function->name, "weft_finish_end_") == 0)
		return tame_format("%s() waits at the end of %s", name, c->written);
	if (c->slot != NULL && c->slot->waits)
		return tame_format("%s() calls '%s', which is WEFT_WAITS", name, c->written);
	f = first_waiting(c);
	if (c->slot != NULL)
		return tame_format("%s() calls '%s', which may be %s(), which %s", name, c->written,
				   f->name, how(f));
	return tame_format("%s() calls %s(), which %s", name, c->written, how(f));
}

static const char *describe(const struct body *b, const struct call *c, const struct body *next)
{
	if (c->slot != NULL)
		return tame_format("%s() calls '%s', which may be %s()", b->function->name,
				   c->written, next->function->name);
	return tame_format("%s() calls %s()", b->function->name, c->written);
}

/* The path from a call to the wait. */
static void note_path(const struct body *b, const struct call *c, const struct body *next)
{
	while (next != NULL) {
		check_note(c->place, describe(b, c, next));
		b = next;
		c = b->via;
		next = b->next;
	}
	check_note(c->place, describe_end(b, c));
}

static void try_call(const struct body *b, const struct call *c, const char *promise)
{
	const struct body *next = NULL;

	if (!ends_here(b, c, false)) {
		next = next_of(b, c);
		if (next == NULL)
			return;
	}
	check_find(c->place, promise);
	note_path(b, c, next);
}

static const char *promise_of(const struct body *b, const struct call *c)
{
	const struct function *f = b->function;

	if (is_promised(b))
		return tame_format("'%s' is WEFT_NO_WAIT, but may wait:", f->name);
	if (f->handler)
		return tame_format("'%s' is a handler, but may wait:", f->name);
	if (f->goes_into != NULL)
		return tame_format("'%s' goes into '%s', which is WEFT_NO_WAIT, but may wait:",
				   f->name, f->goes_into);
	if (c->region != NULL)
		return tame_format("'%s' may wait in the WEFT_ATOMIC block of line %u:", f->name,
				   c->region->place.line);
	return NULL;
}

static void search_body(const struct body *b)
{
	for (size_t i = 0; i < b->call_count; i++) {
		const char *promise = promise_of(b, &b->calls[i]);

		if (promise != NULL)
			try_call(b, &b->calls[i], promise);
	}
}

/* A function that goes into a WEFT_NO_WAIT pointer must not wait. */
static void look_at_pointer(const struct slot *s, struct function *f)
{
	if (f->waits)
		check_find(s->place, tame_format("'%s' is WEFT_NO_WAIT, but gets %s(), which waits",
						 s->name, f->name));
	else if (!f->no_wait && f->goes_into == NULL)
		f->goes_into = s->name;
}

static void look_at_slot(struct slot *s)
{
	bool takes_handlers = options.handlers && s->handler;

	if (!s->no_wait && !takes_handlers)
		return;
	if (s->owner != NULL && s->from[0]->no_wait)
		return; /* its declaration says so, too */
	check_see(s);
	for (size_t i = 0; i < s->hold_count; i++)
		if (s->no_wait)
			look_at_pointer(s, s->holds[i]);
		else
			s->holds[i]->handler = true;
}

void check_search(void)
{
	for (size_t i = 0; i < slot_count; i++)
		look_at_slot(slots[i]);
	for (unsigned round = 1; measure_all(round); round++)
		;
	for (size_t i = 0; i < function_count; i++) {
		check_promised += check_promises(functions[i]) && functions[i]->body_count > 0;
		for (size_t k = 0; k < functions[i]->body_count; k++)
			search_body(functions[i]->bodies[k]);
	}
	if (options.strict)
		check_strict();
}
