/* account.h - what the threads of a running program do, as the semantics see it: which blocks
 * are cancelled, who waits for what, and whether all that is left waits for ever.
 */
#ifndef TESTS_ASYNC_SEMANTICS_ACCOUNT_H
#define TESTS_ASYNC_SEMANTICS_ACCOUNT_H

#include <pthread.h>

#include <weft/scope.h>
#include <weft/weft.h>

#include "async/semantics/program.h"

/* A block that is being run. */
struct block {
	weft_scope scope;
	struct block *up;
	int command;
	bool shield, cancelled;
	int live; /* asyncs in it that have not ended */
};

enum doing { RUNS, OPERATES, ENDS };

/* A piece of the program that runs on its own: its first thread, or the body of an async. */
struct piece {
	struct piece *next, **link;
	struct block *block; /* the innermost */
	enum doing doing;
	const struct command *command; /* OPERATES: what */
};

struct account {
	pthread_mutex_t lock; /* all of this, and what is in blocks and pieces */
	struct piece *pieces;
	int starting; /* pieces that account_start told of, and are not in the list yet */
	weft_channel **channel;
	int capacity;
	int sent[CHANNELS], received[CHANNELS];
	bool stuck;
	const char *wrong;
};

void account_open(struct account *a, int capacity, weft_channel **channel);

/* Gives what account_wrong said first, or NULL. */
const char *account_close(struct account *a);
void account_wrong(struct account *a, const char *what);

/* A piece begins to run in a block, and ends. account_start comes before, and is called by
 * who starts it.
 */
void account_start(struct account *a, struct block *b);
void account_enter(struct account *a, struct piece *me, struct block *b);
bool account_leave(struct account *a, struct piece *me);

/* Says what a piece does next, or that it has done (or not done) an operation. The result of
 * account_turn and account_leave is true, once, if from now on nobody will do anything.
 */
bool account_turn(struct account *a, struct piece *me, enum doing doing, const struct command *c);
void account_done(struct account *a, struct piece *me, const struct command *c, bool success);
bool account_stuck(struct account *a);

/* Cancels a block; tells whether it was, or one around it. */
bool account_cancel(struct account *a, struct block *b);
bool account_cancelled(const struct block *b);

#endif
