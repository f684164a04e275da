/* resolve.c - finds the functions that a slot may hold. */
#include "check.h"

static unsigned visits;

static void hold(struct slot *s, struct function *f)
{
	if (f->visit == visits)
		return;
	f->visit = visits;
	*ADD(s->holds, s->hold_count) = f;
}

/* No source is seen for a slot that nothing goes into, and not every source for a parameter of a
 * function whose address is taken. */
static bool is_unknown(const struct slot *s)
{
	return s->unknown || (s->owner != NULL && s->owner->taken) ||
	       (s->function_count == 0 && s->from_count == 0);
}

static void gather(struct slot *s, struct slot *from, bool seen_only)
{
	if (from->visit == visits)
		return;
	from->visit = visits;
	for (size_t i = 0; i < from->function_count; i++)
		hold(s, from->functions[i]);
	if (!seen_only && is_unknown(from) && from->type != NULL)
		for (size_t i = 0; i < from->type->taken_count; i++)
			hold(s, from->type->taken[i]);
	for (size_t i = 0; i < from->from_count; i++)
		gather(s, from->from[i], seen_only);
}

void check_resolve(struct slot *s)
{
	if (s->resolved)
		return;
	visits++;
	s->resolved = true;
	s->hold_count = 0;
	gather(s, s, false);
}

void check_see(struct slot *s)
{
	visits++;
	s->resolved = false;
	s->hold_count = 0;
	gather(s, s, true);
}
