/* execute.h - runs a program of the core language on Weft, once. */
#ifndef TESTS_ASYNC_SEMANTICS_EXECUTE_H
#define TESTS_ASYNC_SEMANTICS_EXECUTE_H

#include <weft/scope.h>
#include <weft/weft.h>

#include "async/semantics/program.h"

/* How operations are done. EXACT is what figure 5 says, the others need what interpret.h adds to
 * it. */
enum manner {
	EXACT,     /* each lets the others run first: it blocks, as the figure has it */
	DIRECT,    /* it waits only if it must */
	MIXED,     /* the one or the other at random */
	BESIDE_IT, /* the same, and some are done in another color: so perhaps on another core */
	MANNERS,
};

/* What interpret.h calls the rules of a manner. */
int manner_rules(enum manner m);
const char *manner_name(enum manner m);

/* Errors that Weft does not have, to see what the comparison is worth: the program is run as
 * if Weft had them. */
enum seeded_bug {
	NO_BUG,
	LOSES_MESSAGE,  /* a receive that is cancelled may have taken a message */
	SHIELD_IS_OPEN, /* cancelling enters a shield */
	CANCELS_OUTER,  /* cancel reaches the block around the one it names */
	CANCELS_ONCE,   /* cancel ends the waits there are, but not those that come later */
	STARTS_LATE,    /* async lets the code behind it run first */
	GIVES_UP,       /* a tamed function that is asked to end says so though a message came */
	BUGS,
};

struct execution {
	const struct program *p;
	enum manner manner;
	enum seeded_bug bug;
	uint64_t seed; /* of all choices */
	weft_color beside;
	weft_channel **channel; /* unused ones, as channels_new makes them */
};

/* Makes the channels of a program, and frees them. They are not execute's, as that may not
 * return: a run in which all wait is given up. */
void channels_new(weft_channel **channel, int capacity);
void channels_free(weft_channel **channel);

/* Runs a program, in the caller's thread. `outcome` is what it ended with; the
 * result is NULL, or a sentence that says what Weft did that no program should see.
 */
const char *execute(const struct execution *e, struct outcome *outcome);

#endif
