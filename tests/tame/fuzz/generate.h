/* generate.h - what the parts of the generator share: text, chance, and the function that is
 * being written.
 *
 * Everything is written twice, as plain C, where waiting is a call, and as tamed C: by put() if
 * both are the same, with an s or a t for each `@`, and by put_each() else. What the two do must
 * not depend on the order in which events come. So in a twait block what its slots will fill, and
 * what a rendezvous brings, is `busy`: nobody reads or writes it before all is there.
 */
#ifndef FUZZ_GENERATE_H
#define FUZZ_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PRINTF(at, first) __attribute__((format(printf, at, first)))

/* Chance. */
unsigned below(unsigned n);
bool one_in(unsigned n);

/* Text. */
char *text(const char *format, ...) PRINTF(1, 2); /* lives until the program is written */
void put(const char *format, ...) PRINTF(1, 2);
void put_each(const char *plain, const char *tame);
void indent(int by);
/* What is put comes into a file of its own, which is included here. */
void begin_file(void);
void end_file(void);

enum kind { INT, SHORT, CHAR, UNSIGNED, LONG, DOUBLE, PAIR, ARRAY, POINTER, LOCAL, KINDS };

struct variable {
	const char *name;
	enum kind kind;
	int scope;
	bool constant;  /* never written */
	int busy;       /* not to be touched: how many say so */
	int target;     /* POINTER: of which variable */
	bool qualified; /* its address is no `int *` */
	bool atomic;    /* and it is no slot */
	bool nowhere;   /* it has no address */
};

enum { VARIABLES = 64, FUNCTIONS = 3, ELEMENTS = 4 };

struct function {
	int number;
	bool threaded;
	bool has_out;  /* an int * in which it leaves something too */
	bool has_pair; /* a struct pair */
	unsigned cost; /* how many statements a call may run, about */
};

/* The function that is being written. */
struct writing {
	struct function *f;
	struct function *others; /* which it may call, as many as its number */
	struct variable variables[VARIABLES];
	int count, scope;
	unsigned times; /* that what is written now may run, for a call */
	int depth;      /* of statements in each other */
	int left;       /* so many statements may still come, about */
	int blocks;     /* of twait, around here */
	int loops;      /* that break and continue mean, not across a twait block */
	int bound;      /* > 0: neither return nor goto here */
	int labels, local_types;
	const char *target; /* a label that goto may go to; NULL: none */
	bool calls_itself;
	int in_macro; /* > 0: in the arguments of a macro, so no directives */
	int flat;     /* > 0: in the body of a macro, so all on one line */
	int in_twice; /* > 0: what is written comes twice, so no labels */
};
extern struct writing w;
extern unsigned long long program; /* its number is its seed */

/* variables.c */
void open_scope(void);
void close_scope(void);
int declare(const char *name, enum kind kind);
const char *new_name(void);
bool visible(int variable);
/* A variable of one of the kinds (bits), that may be written or read; -1: none. */
int pick(unsigned kinds, bool write);
bool is_free(int variable);
void occupy(int variable, int by);
/* A place of type int, or of the scalar's own type, in a variable. */
const char *place_in(int variable);
void write_assignment(void);

/* declarations.c */
void write_declaration(void);

/* expressions.c: of type int, without side effects */
const char *expression(int depth);
const char *cast_to(enum kind kind, const char *e);

/* macros.c */
bool may_direct(void); /* whether a directive may stand here */
const char *gap(void); /* white space behind a comma */
const char *macro_expression(int depth);
/* A macro that is defined here, once for both or in two ways; its name. */
const char *define(const char *parameters, const char *body);
const char *define_each(const char *parameters, const char *plain, const char *tame);
void write_wrapped(void);
void write_conditional(void);
void write_included(void);

/* statements.c */
void statements(int most);
void statement(void);

/* waits.c */
void write_block(void);
/* An event in a twait block that fills `variable`. */
void write_event(int variable);

/* rendezvous.c */
void write_window(void);
void write_cancel(void);
void write_late(void);

#endif
