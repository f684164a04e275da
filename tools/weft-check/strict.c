/* strict.c - reports what code that must not wait calls without anyone knowing whether that waits:
 * functions without a body, and pointers that no function was seen to go into.
 */
#include <string.h>

#include "check.h"

/* flow.c's visits of functions never come so far. */
enum { LOOKED_INTO = 0x7fffffff };

static bool is_known(const struct function *f)
{
	return f->body_count > 0 || f->waits || f->no_wait || f->of_weft || f->foreign ||
	       strncmp(f->name, "__", 2) == 0 ||
	       strncmp(f->name, "weft_tame_untranslated_", 23) == 0;
}

static void say_unknown(const struct body *b, const struct call *c, const char *what)
{
	check_find(c->place, tame_format("it is not known whether %s waits, which %s() calls", what,
					 b->function->name));
}

static void look_into(struct function *f);

static void look_at_call(const struct body *b, const struct call *c)
{
	struct function *const *f = &c->function;
	size_t count = 1;

	if (c->kind == TWAIT || (c->slot != NULL && (c->slot->no_wait || c->slot->waits)))
		return;
	if (c->slot != NULL) {
		check_resolve(c->slot);
		f = c->slot->holds;
		count = c->slot->hold_count;
	}
	if (count == 0)
		say_unknown(b, c, tame_format("'%s'", c->written));
	for (size_t i = 0; i < count; i++) {
		if (!is_known(f[i]))
			say_unknown(b, c, tame_format("%s()", f[i]->name));
		look_into(f[i]);
	}
}

static void look_at_body(const struct body *b, bool regions_only)
{
	for (size_t i = 0; i < b->call_count; i++)
		if (!regions_only || b->calls[i].region != NULL)
			look_at_call(b, &b->calls[i]);
}

static void look_into(struct function *f)
{
	if (f->visit == LOOKED_INTO || f->waits || f->of_weft)
		return;
	f->visit = LOOKED_INTO;
	for (size_t i = 0; i < f->body_count; i++)
		look_at_body(f->bodies[i], false);
}

void check_strict(void)
{
	for (size_t i = 0; i < function_count; i++)
		for (size_t k = 0; k < functions[i]->body_count; k++)
			look_at_body(functions[i]->bodies[k], !check_promises(functions[i]));
}
