/* states.h - the states of a program, and those that were found. */
#ifndef TESTS_ASYNC_SEMANTICS_STATES_H
#define TESTS_ASYNC_SEMANTICS_STATES_H

#include "async/semantics/interpret.h"

enum {
	MAX_THREADS = 8,
	MAX_POOLS = 8,
	MAX_STATES = 20000,
	MAX_OUTCOMES = 2000,
	SLOTS = 1 << 16,
	/* Places that are no command, and what is added to a block that waits at its end. */
	FREE = 0xff,
	OVER = 0xfe,
	AT_END = 0x80,
	ROOT = 0xff, /* as a pool: none */
};

struct thread {
	uint8_t place;
	uint8_t pool;
	bool woken; /* E[skip]: it has done an operation, and did not go on yet */
	bool holds; /* what it is going to send, or has received (BESIDE) */
	int8_t held;
};

struct pool {
	uint8_t command; /* its block; FREE if there is no such pool */
	uint8_t up;
	uint8_t live; /* threads that belong to it */
	bool cancelled;
};

/* Compared byte by byte: what is not used is as memset left it. */
struct state {
	struct outcome world;
	struct thread thread[MAX_THREADS];
	struct pool pool[MAX_POOLS];
	uint8_t stack[MAX_THREADS];
	uint8_t depth;
	uint8_t unused[3];
};

_Static_assert(sizeof(struct state) % 8 == 0, "states are hashed in words");

struct interpreter {
	const struct program *p;
	int rules;
	bool too_large;
	/* Where a sequence goes on behind a command, and where its branches begin. */
	uint8_t after[MAX_COMMANDS], body[MAX_COMMANDS], other[MAX_COMMANDS];
	struct state state[MAX_STATES];
	int states;
	/* A hash table of states; numbers below `base` are left from earlier programs. */
	uint32_t slot[SLOTS];
	uint32_t base;
	struct outcome outcome[MAX_OUTCOMES];
	int outcomes;
};

/* Forgets the states and outcomes of the last program. */
void states_begin(struct interpreter *in);

/* Notes a state that can be reached, if it is new, and one in which nothing can be done. */
void states_add(struct interpreter *in, const struct state *s);
void states_add_outcome(struct interpreter *in, const struct state *s, bool stuck);

#endif
