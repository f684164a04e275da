/* odd.h - what the odd programs share. Each of them is a tamed function that gives an int; ODD(f, v)
 * registers it with the value expected. Nothing here is a word of weft/tame.h, so a program may
 * include this before its own macros or after.
 */
#ifndef ODD_H
#define ODD_H

#include <stdlib.h>
#include <string.h>

#include <weft/trigger.h>
#include <weft/weft.h>

struct odd_program {
	const char *file, *name;
	void (*function)(WEFT_EVENT(int) done);
	int expected;
};

#define ODD(function, expected) \
	static const struct odd_program odd_##function \
		__attribute__((used, section("odd_programs"))) = { __FILE__, #function, function, \
								   expected };

struct odd_pair {
	int a, b;
};

/* These trigger e later, in the same color. What a pointer points to is read then. */
void soon(WEFT_EVENT() e);
void later(int value, WEFT_EVENT(int) e);
void sum_later(const int *x, int count, WEFT_EVENT(int) e);
void pair_later(const struct odd_pair *p, WEFT_EVENT(int) e); /* 10 a + b */
void length_later(const char *text, WEFT_EVENT(int) e);

#endif
