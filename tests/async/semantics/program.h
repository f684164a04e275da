/* program.h - small programs in the core language of AC (section 3 of the paper), and
 * what they can end with.
 *
 * A program is a tree of commands, all in a finish block, in the order they are written.
 * The language is that of figure 5, with five additions: cancel may name an outer block,
 * a shield is a block that cancelling what is around it does not enter, a channel may be
 * bounded, the condition of while counts, so that every loop ends, and an operation may be
 * waited for by an event.
 */
#ifndef TESTS_ASYNC_SEMANTICS_PROGRAM_H
#define TESTS_ASYNC_SEMANTICS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	MAX_COMMANDS = 26,
	VARIABLES = 4,           /* x y z i */
	COUNTER = VARIABLES - 1, /* i, which only while changes */
	CHANNELS = 3,            /* p q r */
	MAX_MESSAGES = 12,       /* in one channel; programs that send more are left out */
	NONE = -1,
};

enum kind {
	ASSIGN, /* variable := from * times + plus, which wraps */
	IF,     /* if (variable < plus) body else other */
	WHILE,  /* while (i < plus) { i := i + 1; body } */
	ASYNC,  /* async body */
	FINISH, /* pool ACTV {body} */
	SHIELD, /* the same, not entered by cancelling what is around it */
	CANCEL, /* of the block `label`, which is around it */
	SEND,   /* from, or plus, to channel */
	RECV,   /* variable from channel */
};

/* How a thread waits for an operation. To the semantics all but the first are the same. */
enum way {
	BY_CALL,
	BY_BLOCK, /* an event of a twait block */
	BY_NEXT,  /* an event of a rendezvous */
	BY_CHILD, /* an event of a tamed function, which lets a cancel pass */
	BY_DEAF,  /* of one that does not: what is not in a try needs no shield then */
	BY_FORK,  /* an event of a call on another thread */
	WAYS,
};

struct command {
	uint8_t kind, by;
	bool tries; /* SEND, RECV: try ... else other; else it cannot be cancelled */
	int8_t variable, from, times, plus, channel, label; /* from: NONE is 0 */
	/* Commands; NONE is the end of a sequence. */
	int8_t body, other, next, up;
};

/* Command 0 is the finish block around everything. */
struct program {
	struct command command[MAX_COMMANDS];
	int count;
	int capacity; /* of the channels; 0: they are unbounded */
};

/* What there is when a program can do no more. */
struct outcome {
	int8_t store[VARIABLES];
	uint8_t length[CHANNELS];
	int8_t message[CHANNELS][MAX_MESSAGES]; /* the oldest first, zeros behind */
	bool stuck;                             /* not ended: what is left waits for ever */
};

static inline bool is_io(const struct command *c)
{
	return c->kind == SEND || c->kind == RECV;
}

static inline bool is_block(const struct command *c)
{
	return c->kind == FINISH || c->kind == SHIELD;
}

/* What an assignment or a send computes. */
static inline int8_t value_of(const struct command *c, const int8_t *store)
{
	return (int8_t)((c->from == NONE ? 0 : store[c->from] * c->times) + c->plus);
}

/* A random program of at most `size` commands, the outer block not counted. `events`: some of its
 * operations are waited for by events. */
void program_make(struct program *p, uint64_t seed, int size, bool events);

/* How programs are changed: to check elisions, and to shrink those that fail. */
enum change {
	DELETE,    /* the command with all in it */
	TO_BODY,   /* the command is replaced by its body */
	TO_OTHER,  /* ... by its else branch */
	DROP_ELSE, /* its else branch is emptied */
	PLAIN,     /* try becomes the plain operation, a shield becomes finish */
	TO_ZERO,   /* what it computes becomes 0 */
	TO_CALL,   /* it is waited for by a call */
};

/* Writes to `to` what becomes of `from` when the commands marked are changed. A cancel
 * whose block is gone names the next block around that.
 */
void program_change(struct program *to, const struct program *from, const bool *marked,
		    enum change how);

/* Changes `p`, which fails, until every further change gives a program that does not. */
void program_shrink(struct program *p, bool (*fails)(const struct program *p, void *arg),
		    void *arg);

/* Reads a program that is written as program_print does it. */
void program_parse(struct program *p, const char *text);

/* Shows a program, and an outcome, for people. */
void program_print(FILE *f, const struct program *p);
void outcome_print(FILE *f, const struct outcome *o);

#endif
