/* walk.h - what the parts of the walk through a function share. */
#ifndef TAME_WALK_H
#define TAME_WALK_H

#include "tool.h"

/* Where we are. Each node has its own, made from its parent's. */
struct walk {
	struct function *f;
	struct scope *scope;
	struct wait *wait;        /* the innermost twait block */
	struct wait *switch_wait; /* in which the innermost switch stands */
	struct group *group;
	bool in_loop;                     /* of the block, or of the function */
	bool breaks_here, continues_here; /* a loop or switch inside of the block */
	bool in_expression;               /* ({ }) */
	bool in_type;
	struct range call;       /* the innermost */
	struct range outer_call; /* the outermost to which an address can get */
	bool of_address;         /* what is visited is pointed to */
	bool subscripted;        /* it has an index behind it */
};

/* walk.c */
void tame_descend(CXCursor c, struct walk *w);
void tame_know(struct walk *w, size_t offset); /* what is named there */

/* declare.c */
void tame_visit_declaration(CXCursor c, struct walk w);
void tame_visit_variable(CXCursor c, struct walk w);
void tame_visit_type(CXCursor c, struct walk w);
void tame_visit_constant(CXCursor c, struct walk *w);

/* name.c */
void tame_find_mkevents(struct function *f);
void tame_note_expression(struct walk *w, CXCursor c);
void tame_visit_name(CXCursor c, struct walk *w);
void tame_visit_type_name(CXCursor c, struct walk *w);
void tame_visit_address(CXCursor c, struct walk *w);

/* temporary.c */
void tame_visit_literal(CXCursor c, struct walk *w);
void tame_visit_member(CXCursor c, struct walk *w);

#endif
