/* compare.h - whether Weft does with a program what the semantics say. */
#ifndef TESTS_ASYNC_SEMANTICS_COMPARE_H
#define TESTS_ASYNC_SEMANTICS_COMPARE_H

#include "async/semantics/execute.h"
#include "async/semantics/interpret.h"

struct comparison;

/* What is asked of a program. `seed` is that of the schedules. */
typedef bool question(struct comparison *c, const struct program *p, uint64_t seed);

struct comparison {
	/* Chosen by the caller. */
	question *holds;
	unsigned manners; /* bits: those to choose from */
	enum seeded_bug bug;
	int schedules;     /* how many are tried with each program */
	uint64_t known;    /* every other is of this seed, which has failed; 0: there is none */
	weft_color beside; /* of each run */
	/* What is happening, or has failed. */
	struct program p;
	enum manner manner;
	uint64_t seed;
	bool running;                    /* it has not come to an outcome */
	weft_channel *channel[CHANNELS]; /* NULL: freed */
	struct outcome outcome;
	const char *wrong; /* NULL: the outcome is not allowed */
	struct interpreter *in, *other;
	long compared, too_large;
};

/* Questions; all are false if Weft does not do as the semantics say. A program that is not fit
 * for a question is changed so that it is.
 */
question outcomes_are_allowed; /* everything that Weft ends with, the semantics allow */
question async_can_be_elided;  /* without operations, taking async out changes nothing */
question cancel_can_be_elided; /* without try, taking cancel out changes nothing */

void comparison_init(struct comparison *c, question *holds, unsigned manners, enum seeded_bug bug);
void comparison_fini(struct comparison *c);

/* Asks the question of the random program of this seed, in one of the manners. */
bool compare(struct comparison *c, uint64_t seed);

/* Frees what a run has left that was given up; when no runtime runs. */
void comparison_give_up(struct comparison *c);

/* Shows what failed, for people. */
void comparison_print(FILE *f, const struct comparison *c);

#endif
