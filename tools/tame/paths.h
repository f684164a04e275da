/* paths.h - the ways through a function: paths.c and loops.c follow them, facts.c tells them apart, fate.c
 * says what becomes of an event on them.
 */
#ifndef TAME_PATHS_H
#define TAME_PATHS_H

#include "tool.h"

/* What has become of an event on a way. */
enum fate {
	KEPT,      /* nothing so far */
	TRIGGERED, /* once */
	PASSED,    /* on, or it cannot be said: from here on nothing is said of it */
};

struct path {
	enum fate fate;
	bool decided;          /* which way to go, since it was triggered: that may depend on it */
	size_t where;          /* the trigger's token */
	uint64_t known, value; /* facts, by number */
};

struct paths {
	struct path *at;
	size_t count;
};

/* They are told when all has been followed: then it is known where the event is used, and that nothing
 * makes us silent. */
struct finding {
	size_t offset;
	size_t before; /* a second trigger: the first one's token; 0: the function ends */
};

struct flow {
	struct function *f;
	struct variable *event;
	bool lost; /* it cannot be followed */
	bool checks_end;
	unsigned again; /* loops whose body is read a second time */
	struct finding *findings;
	size_t finding_count;
	struct paths *breaks, *continues;
	struct paths *entry; /* of the innermost switch */
	struct range on;     /* its condition, in tokens */
	bool has_default;
	size_t first_use; /* the token where it is triggered or passed on */
};

/* fate.c. An expression is a range of tokens, and so on. */
void tame_follow_expression(struct flow *w, size_t first, size_t last, struct paths *p);
bool tame_names_event(const struct flow *w, size_t first, size_t last);
void tame_end_paths(struct flow *w, const struct paths *p, size_t offset);

/* paths.c: statements. Each takes the ways that lead to it, leaves those that go on behind it, and
 * gives the token behind itself. */
size_t tame_follow(struct flow *w, size_t i, struct paths *p);
size_t tame_end_of_statement(size_t i); /* without following it */
void tame_add_path(struct flow *w, struct paths *to, struct path p);
void tame_add_paths(struct flow *w, struct paths *to, const struct paths *from);
struct paths tame_copy_paths(struct flow *w, const struct paths *from);
void tame_decide_all(struct paths *p);
/* Those on which a condition may have a value. */
struct paths tame_where(struct flow *w, const struct paths *p, struct range condition, bool value);

/* loops.c */
size_t tame_follow_while(struct flow *w, size_t i, struct paths *p);
size_t tame_follow_for(struct flow *w, size_t i, struct paths *p);
size_t tame_follow_do(struct flow *w, size_t i, struct paths *p);

/* condition.c */
struct condition {
	size_t first, last; /* inclusive */
};
struct condition tame_bare(size_t first, size_t last);
bool tame_is_negated(struct condition c);
size_t tame_find_operator(struct condition c, const char *operator);
const char *tame_join(size_t first, size_t last); /* the tokens' text */
bool tame_is_zero(size_t first, size_t last);
const char *tame_atom(struct condition c, bool *negated);

/* facts.c. A condition is a range of tokens. */
void tame_find_facts(size_t first, size_t last);
int tame_decide(const struct path *p, size_t first, size_t last); /* 1, 0; -1: it may be both */
void tame_assume(struct path *p, size_t first, size_t last, bool value);
bool tame_enter_case(struct path *p, struct range on, size_t value); /* false: it leads elsewhere */
void tame_forget(struct path *p, size_t first, size_t last);         /* what a statement changes */

#endif
