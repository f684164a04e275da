/* Makes programs that fail smaller, as long as they fail. */
#include "async/semantics/program.h"

/* Whether a change would make a command smaller. */
static bool is_smaller(const struct command *c, enum change how)
{
	switch (how) {
	case DELETE:
		return true;
	case TO_BODY:
		return c->body != NONE;
	case TO_OTHER:
	case DROP_ELSE:
		return c->other != NONE;
	case PLAIN:
		return c->tries || c->kind == SHIELD;
	case TO_ZERO:
		return (c->kind == ASSIGN || c->kind == SEND) && c->from != NONE;
	case TO_CALL:
		return c->by != BY_CALL;
	}
	return false;
}

/* Tries all smaller programs that one change makes; `p` becomes the first that fails. */
static bool shrink_once(struct program *p, bool (*fails)(const struct program *p, void *arg),
			void *arg)
{
	for (int how = DELETE; how <= TO_CALL; how++) {
		for (int id = 1; id < p->count; id++) {
			bool marked[MAX_COMMANDS] = { false };
			struct program smaller;

			if (!is_smaller(&p->command[id], (enum change)how))
				continue;
			marked[id] = true;
			program_change(&smaller, p, marked, (enum change)how);
			if (!fails(&smaller, arg))
				continue;
			*p = smaller;
			return true;
		}
	}
	return false;
}

/* The same for two deletions at a time, as a send and its recv need each other. */
static bool shrink_by_two(struct program *p, bool (*fails)(const struct program *p, void *arg),
			  void *arg)
{
	for (int id = 1; id < p->count; id++) {
		for (int other = id + 1; other < p->count; other++) {
			bool marked[MAX_COMMANDS] = { false };
			struct program smaller;

			marked[id] = marked[other] = true;
			program_change(&smaller, p, marked, DELETE);
			if (!fails(&smaller, arg))
				continue;
			*p = smaller;
			return true;
		}
	}
	return false;
}

void program_shrink(struct program *p, bool (*fails)(const struct program *p, void *arg), void *arg)
{
	while (shrink_once(p, fails, arg) || shrink_by_two(p, fails, arg))
		;
}
