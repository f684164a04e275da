/* tool.h - what the parts of weft-tame share: text, the source, the model of a tamed function.
 *
 * The way through it: source.c reads the file, with its templates in place; parse.c has libclang
 * read that; collect.c makes the model of each tamed or threaded function; check.c and place.c
 * judge it and decide where its variables live; rewrite.c turns what must change in
 * the text into edits; emit.c writes what is added; output.c puts it all together. Nothing is
 * freed: the tool lives for one file.
 */
#ifndef TAME_TOOL_H
#define TAME_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clang.h"

#define PRINTF(at, first) __attribute__((format(printf, at, first)))

/* memory.c */
void *tame_alloc(size_t size);
char *tame_copy(const char *text, size_t size);
char *tame_format(const char *format, ...) PRINTF(1, 2);
void *tame_grow(void *array, size_t count, size_t size);
/* A new last element, all zero; pointers to the others are void then. */
#define ADD(array, count) \
	((array) = tame_grow((array), (count), sizeof *(array)), &(array)[(count)++])

/* text.c: a text that grows. */
struct text {
	char *at;
	size_t size, room, lines;
};
void tame_add(struct text *t, const char *bytes, size_t size);
void tame_put(struct text *t, const char *string);
void tame_print(struct text *t, const char *format, ...) PRINTF(2, 3);
void tame_put_string(struct text *t, const char *bytes, size_t size); /* as a C string literal */
size_t tame_count_lines(const char *bytes, size_t size);

/* Options, from the command line. */
struct options {
	const char *in, *out;
	const char *depfile, *deptarget;
	bool depend, werror;
	const char **flags; /* for clang */
	size_t flag_count;
	const char **folders; /* where templates are looked for */
	size_t folder_count;
};
extern struct options options;

/* source.c: the text that is parsed: the file and, in place, the templates that it includes. */
struct segment {
	size_t offset;
	const char *file;
	unsigned line;
};
struct source {
	char *text;
	size_t size;
	struct segment *segments;
	size_t segment_count;
	const char **templates;
	size_t template_count;
};
struct place {
	const char *file;
	unsigned line, column;
};
extern struct source source;
bool tame_read_source(const char *path);
struct place tame_place(size_t offset);

/* lex.c: its tokens, without comments and directives. */
struct token {
	size_t offset, size;
	char kind;      /* 'i' identifier, 'n' number, 's' string, or what it begins with */
	bool directive; /* a directive stands between it and the one before */
};
extern struct token *tokens;
extern size_t token_count;
extern size_t *conditionals; /* offsets of #if and its like */
extern size_t conditional_count;
void tame_lex(void);
size_t tame_token_at(size_t offset); /* the first that does not begin before offset */
bool tame_is(size_t token, const char *what);
size_t tame_close(size_t token); /* what closes the bracket; token_count if none */
size_t tame_token_end(size_t token);
bool tame_is_balanced(size_t first, size_t last);
/* The end of what begins at a token: the first of `ends` outside of brackets. */
size_t tame_until(size_t token, const char *ends);
struct range {
	size_t begin, end;
};
/* The arguments of what has its opening bracket at a token. */
size_t tame_arguments(size_t open, bool of_macro, struct range **arguments);
const char *tame_cut(struct range r);
struct range tame_token_range(size_t first, size_t last);

/* report.c */
extern unsigned tame_errors;
void tame_error(size_t offset, const char *format, ...) PRINTF(2, 3);
void tame_warning(size_t offset, const char *format, ...) PRINTF(2, 3);
void tame_say(struct place where, const char *what, const char *text);
_Noreturn void tame_fail(const char *format, ...) PRINTF(1, 2);

/* load.c */
void tame_load(void);
char *tame_string(CXString s);

/* parse.c */
extern CXTranslationUnit unit;
void tame_parse(void);
bool tame_is_skipped(size_t offset); /* by #if */
bool tame_in_source(CXSourceLocation location, size_t *offset);
size_t tame_offset(CXCursor c); /* SIZE_MAX: in another file */
struct range tame_extent(CXCursor c);
const char *tame_name(CXCursor c);
/* The macro from which what is at the offset came, if `name` is not what is written there. */
const char *tame_macro_at(size_t offset, const char *name);

/* The model. */
struct scope {
	struct scope *parent;
	struct range range;
	struct wait *wait; /* the innermost twait block in which it is, or that it is */
	struct scope **children;
	size_t child_count;
};

struct group { /* a declaration, of one or more variables */
	struct range range;
	bool first_of_for;
	bool kept;     /* in the closure */
	bool is_whole; /* as it is written: no macro makes a part of it */
	struct variable **variables;
	size_t variable_count;
};

struct variable {
	const char *name;
	CXCursor cursor;
	CXType type;
	size_t offset; /* of its name */
	struct scope *scope;
	struct group *group; /* NULL: a parameter */
	bool has_initializer, list_initializer;
	bool is_static;
	bool in_expression;         /* ({ }) */
	bool slot, rendezvous_slot; /* of an event; of one of a rendezvous */
	bool rendezvous;            /* is or holds one */
	bool kept;                  /* lives in the closure */
	bool alone;                 /* shares no memory there */
	const char *member;         /* its name there */
	const char *unkeepable;
	struct range initializer; /* without `=` */
	unsigned number;          /* rendezvous: of its site */
};

struct reference {
	size_t offset;
	struct variable *variable;
	bool in_type; /* that is declared in the function */
};

struct argument {
	struct range range;
	CXCursor cursor;
	bool seen;
};

enum wait_kind { WAIT_BLOCK, WAIT_RENDEZVOUS };
struct wait {
	enum wait_kind kind;
	size_t offset;
	size_t position; /* where it waits, as the text goes */
	struct range range;
	struct range body; /* of the block, with its braces */
	struct argument rendezvous, id;
	CXType id_type;
	struct wait *parent;
	unsigned depth, state;
	bool has_label;
	bool in_expression; /* ({ }) */
	const char *text;
};

struct mkevent {
	size_t offset;
	struct range range;
	struct argument *arguments;
	size_t argument_count;
	unsigned seen;
	struct wait *wait;
	bool in_loop;
	unsigned number;
	/* what check.c found */
	bool of_rendezvous, named;
	CXType id_type;
	struct argument *slots;
	size_t slot_count;
	bool apart;
};

struct fork {
	size_t offset;
	struct range range;
	struct argument event, call;
	bool threaded; /* it runs on a thread of its own */
	unsigned number;
	const char *function; /* that is called; NULL: through a pointer */
	struct range callee;  /* then: how it is written */
	CXType callee_type;
	struct range *arguments;
	CXType *types;
	size_t argument_count;
	CXType result;
};

struct local_type {
	CXCursor cursor;
	const char *name;     /* NULL: it has none */
	const char *new_name; /* at file scope */
	size_t offset;
	struct range range;
	struct group *group;
	bool is_definition;
};
struct type_reference {
	size_t offset;
	struct local_type *type;
};
struct constant { /* of a local enum */
	CXCursor cursor;
	const char *name, *new_name;
	size_t offset;
};
struct constant_reference {
	size_t offset;
	size_t constant;
};

struct address { /* & of a variable of a scope inside of a twait block, in a call */
	size_t offset;
	struct variable *variable;
	struct range call;
};

struct waiting { /* a call of a function that waits on the stack of a thread */
	size_t offset;
	const char *function;
};

struct label {
	size_t offset;
	struct wait *wait;
};
struct jump {
	size_t offset;
	size_t target; /* the label's */
	struct wait *wait;
};
struct mark { /* a return */
	size_t offset;
	struct wait *wait;
};

struct function {
	const char *name;
	CXCursor cursor;
	int kind; /* 't' tamed, 'h' threaded, 0: neither, but it forks */
	bool threaded;
	size_t offset;      /* of its name */
	struct range range; /* of the whole definition */
	struct range body;
	struct range refusal;       /* the trefused statement; empty: none */
	struct range refusal_block; /* of it */
	const char *refusal_name;
	CXType result;
	struct scope *scope;
	struct variable **variables; /* parameters first */
	size_t variable_count, parameter_count;
	struct group **groups;
	size_t group_count;
	struct reference *references;
	size_t reference_count;
	struct wait **waits;
	size_t wait_count;
	struct mkevent **mkevents;
	size_t mkevent_count;
	struct fork **forks;
	size_t fork_count;
	struct local_type **types;
	size_t type_count;
	struct type_reference *type_references;
	size_t type_reference_count;
	struct constant *constants;
	size_t constant_count;
	struct constant_reference *constant_references;
	size_t constant_reference_count;
	size_t *allocas;
	size_t alloca_count;
	struct waiting *waitings;
	size_t waiting_count;
	struct address *addresses;
	size_t address_count;
	struct mark *returns;
	size_t return_count;
	struct label *labels;
	size_t label_count;
	struct jump *jumps;
	size_t jump_count;
	size_t *known; /* offsets of names that are something else than variables kept */
	size_t known_count;
	unsigned depth;       /* of twait blocks in each other */
	unsigned state_count; /* waits that have a state */
	unsigned rendezvous_count;
};
extern struct function **functions;
extern size_t function_count;
extern struct range *tame_macros; /* where macros are used */
extern size_t tame_macro_count;

/* collect.c, walk.c (walk.h) */
void tame_collect(void);
void tame_walk(struct function *f, CXCursor body);
struct variable *tame_variable(struct function *f, CXCursor declaration);
int tame_mark_of(CXCursor function);      /* 't' tamed, 'h' threaded, 'w' waits, 0 */
void tame_check_place(CXCursor variable); /* one that no function that waits has, or static */

/* types.c */
struct function *tame_types_of(struct function *f); /* whose local types get their new names */
const char *tame_declare(CXType type, const char *name, bool plain);
bool tame_is_rendezvous(CXType type, CXType *id, bool *named);
bool tame_holds_rendezvous(CXType type);
bool tame_is_event(CXType type);
CXType tame_event_function(CXType type);
bool tame_is_array(CXType type);
bool tame_is_record(CXType type);
bool tame_has_const(CXType type);
CXType tame_canonical(CXType type);
bool tame_same_type(CXCursor a, CXCursor b);

/* check.c, fork.c, place.c, locals.c */
void tame_check_fork(struct fork *k);
void tame_move_types(struct text *out, struct function *f);
void tame_check(struct function *f);
void tame_place_variables(struct function *f);

/* edit.c: changes of the text. In `text`, "\1begin,end\2" stands for what a range becomes. */
void tame_edit(size_t begin, size_t end, const char *text);
void tame_edit_once(size_t begin, size_t size, const char *text); /* if there is none there */
const char *tame_range(struct range r);
void tame_render(struct text *out, size_t begin, size_t end);
void tame_sort_edits(void);

/* rewrite.c, emit*.c */
void tame_rewrite(struct function *f);
void tame_emit_before(struct text *out, struct function *f);
void tame_emit_event_types(struct text *out, struct function *f);
void tame_emit_event_functions(struct text *out, struct function *f);
void tame_emit_rendezvous(struct text *out, struct function *f);
void tame_emit_forks(struct text *out, struct function *f);
const char *tame_here(size_t offset); /* "file:line" for a table */

/* output.c */
bool tame_write(void);
void tame_remove_output(void);

#endif
