/* interpret.h - all that figure 5 of the AC paper lets a program end with. */
#ifndef TESTS_ASYNC_SEMANTICS_INTERPRET_H
#define TESTS_ASYNC_SEMANTICS_INTERPRET_H

#include "async/semantics/program.h"

/* What is allowed beyond the figure. Bits. */
enum {
	/* An operation that need not wait, or that is cancelled before, does not: the
	 * command goes on at once. In the figure every operation lets the code behind the
	 * async run first, though the paper's section 4 says that most do not. Whoever
	 * waits for the message then gets it in the same moment. */
	AT_ONCE = 1,
	/* Operations, and cancel, are done beside the program, by another core: what is sent
	 * is computed some time before, and what is received is stored some time behind. */
	BESIDE = 2,
	/* Behind the last end in a block the code behind the block goes on soon; in the
	 * figure, in the same step. */
	LATER = 4,
};

struct interpreter;

struct interpreter *interpreter_new(void);
void interpreter_free(struct interpreter *in);

/* Finds all outcomes. Gives their number, or NONE if the program is too large: then
 * nothing is known. The outcomes are kept until the next call.
 */
int interpret(struct interpreter *in, const struct program *p, int rules);
const struct outcome *interpreter_outcomes(const struct interpreter *in);

/* Tells whether an outcome is one of those found. */
bool interpreter_allows(const struct interpreter *in, const struct outcome *o);

#endif
