/* tool.h - what the parts of weft-tame share: text, the source, the model of a tamed function.
 *
 * The way through it: source.c reads the file; feed.c puts marks into it, and run.c has the compiler's
 * preprocessor expand it; expand.c reads the result and align.c finds where its tokens stand in the
 * source; words.c looks for mistakes that tokens alone show; parse.c has libclang read it; collect.c makes
 * the model of each tamed or threaded function; check.c, fate.c (paths.h) and place.c judge it and
 * decide where its variables live; rewrite.c turns what must change into edits; emit.c writes what is added; back.c puts the functions back into the source, and
 * output.c writes the file. Nothing is freed: the tool lives for one file.
 */
#ifndef TAME_TOOL_H
#define TAME_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../clang/clang.h"
#include "../clang/memory.h"

/* Options, from the command line. */
struct options {
	const char *in, *out;
	const char *depfile, *deptarget;
	bool depend, werror;
	const char *compiler; /* whose preprocessor reads the source */
	const char **flags;   /* of the compiler */
	size_t flag_count;
};
extern struct options options;

/* lex.c: the tokens of C, without comments. */
#define TAME_NOWHERE UINT32_MAX
struct token {
	uint32_t offset, size, line;
	char kind; /* 'i' identifier, 'n' number, 's' string, '#' directive, or what it begins with */
	/* of tokens that the preprocessor gives */
	bool system;              /* of a header of the system */
	uint32_t from, from_size; /* where it stands in the source; NOWHERE: a macro made it */
	uint32_t near;            /* then: the macro's name; 0: not known */
	const char *file;
	const struct inclusion *inclusion; /* NULL: it is the source's */
	/* It stands for a function's body, which libclang need not read: from here on, as expand.c
	 * counts; so many, or none. */
	uint32_t body, body_size;
};
struct tokens {
	struct token *at;
	size_t count, room;
};
struct range {
	size_t begin, end;
};
static inline bool tame_holds(struct range r, size_t offset)
{
	return offset >= r.begin && offset < r.end;
}
struct tokens tame_lex(const char *text, size_t size);
void tame_lex_again(struct tokens *into, const char *text, size_t size); /* uses their memory */
int tame_nesting(const struct token *t); /* 1: it opens a bracket; -1: it closes one */

/* source.c: the file, with the headers in place whose functions are translated. */
struct segment {
	size_t offset;
	const char *file;
	unsigned line;
};
struct source {
	char *text;
	size_t size;
	struct tokens tokens;
	struct segment *segments;
	size_t segment_count;
};
struct place {
	const char *file;
	unsigned line, column;
};
extern struct source source;
size_t tame_source_token(size_t offset); /* the first of its tokens that is not before an offset */
bool tame_read_source(const char *path);
bool tame_put_in(const char *file, unsigned line, const char *header); /* for the next reading */
struct place tame_source_place(size_t offset);
bool tame_is_once(const char *file); /* it has #pragma once */
const char *tame_beside(const char *directive, size_t size, const char *file, struct range *name);
char *tame_read_stream(FILE *file, size_t *size);

/* feed.c: the source with marks in it, for the preprocessor. */
#define TAME_MARK "WEFT_TAME_AT_"
extern size_t *tame_marks;
extern size_t tame_mark_count;
struct text tame_feed(bool counting); /* behind each mark there is __COUNTER__ */
#define TAME_COUNT "WEFT_TAME_COUNT_"
enum tame_directive { TAME_IF, TAME_ELSE, TAME_ENDIF, TAME_OTHER };
enum tame_directive tame_directive(const char *text, size_t size);

/* run.c */
char *tame_preprocess(const struct text *feed, size_t *size);
const char *tame_machine(void); /* that is compiled for */

/* expand.c: what the preprocessor made of it. All offsets below are in this text. */
struct inclusion {
	struct inclusion *outer;
	const char *header;
	const char *file; /* where the #include stands, and its line */
	unsigned line;
};
struct macro_change {
	size_t token;            /* before which it is */
	const char *name, *text; /* in what the preprocessor gave: they end elsewhere */
	uint32_t name_size, text_size;
	bool defined;
};
struct source_mark {
	size_t token; /* before which it stands */
	size_t source;
	size_t number;
	const char *file; /* as the preprocessor has it, which a #line of the program's may say */
	uint32_t line;
};
struct expanded {
	char *text;
	size_t size;
	struct source_mark *marks;
	size_t mark_count;
	struct macro_change *changes;
	size_t change_count;
	const char **files; /* all that were read */
	size_t file_count;
	bool is_tame; /* there is something to translate */
	bool counts;  /* __COUNTER__ is used */
};
extern struct expanded expanded;
extern struct token *tokens;
extern size_t token_count;
bool tame_expand(void); /* false: the source must be read again */
struct place tame_place(size_t offset);
/* The name that people wrote, `name` or that of the macro which made it. */
const char *tame_written(size_t offset, const char *name);
size_t *tame_count_uses(void); /* of __COUNTER__, up to each mark */
void tame_put_body(struct text *out, const struct token *t);
bool tame_body_has(const struct token *t, const char *word, const char *next);
void tame_align(void);          /* align.c */
const char *tame_dialect(void); /* dialect.c: to be put in front of it for libclang */

/* The words of the language, as weft/tame_words.h gives them. */
#define TAME_TWAIT "WEFT_TAME_TWAIT_"
#define TAME_MKEVENT "WEFT_TAME_MKEVENT_"
#define TAME_TFORK "WEFT_TAME_TFORK_"
#define TAME_TREFUSED "WEFT_TAME_TREFUSED_"
#define TAME_TAMED "WEFT_TAME_TAMED_"
#define TAME_THREADED "WEFT_TAME_THREADED_"
#define TAME_TRIGGER "WEFT_TAME_TRIGGER_"
#define TAME_ASYNC "WEFT_TAME_ASYNC_"
#define TAME_ASYNC_OWN "WEFT_TAME_ASYNC_OWN_"
#define TAME_WAITS "WEFT_TAME_WAITS_"

size_t tame_token_at(size_t offset); /* the first that does not begin before offset */
bool tame_is(size_t token, const char *what);
bool tame_is_word(const char *text, size_t size, const char *word);
size_t tame_close(size_t token); /* what closes the bracket; token_count if none */
size_t tame_token_end(size_t token);
/* The end of what begins at a token: the first of `ends` outside of brackets. */
size_t tame_until(size_t token, const char *ends);
/* The arguments of what has its opening bracket at a token. */
size_t tame_arguments(size_t open, bool of_macro, struct range **arguments);
const char *tame_spelling(size_t token);
const char *tame_cut(struct range r);
struct range tame_token_range(size_t first, size_t last);

/* report.c */
extern unsigned tame_errors;
void tame_error(size_t offset, const char *format, ...) PRINTF(2, 3);
void tame_source_error(size_t offset, const char *format, ...) PRINTF(2, 3);
void tame_warning(size_t offset, const char *format, ...) PRINTF(2, 3);
void tame_say(struct place where, const char *what, const char *text);

/* words.c: what the tokens alone show to be wrong */
void tame_check_words(void);

/* parse.c */
extern CXTranslationUnit unit;
void tame_parse(void);
bool tame_in_source(CXSourceLocation location, size_t *offset);
size_t tame_offset(CXCursor c); /* SIZE_MAX: in another file */
struct range tame_extent(CXCursor c);
const char *tame_name(CXCursor c);
CXCursor tame_first_child(CXCursor c); /* kind 0: it has none */

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
	const char *prototype; /* a function that it declares, too */
	bool kept;             /* in the closure */
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
	struct range initializer;   /* without `=` */
	unsigned number;            /* rendezvous: of its site */
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
	bool keeps; /* the rendezvous, in the closure: its expression may mean another later */
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

struct literal { /* a compound literal of which there is an address */
	size_t offset;
	struct range range;
	CXType type;
	struct scope *scope;
	struct wait *wait;
	bool in_loop; /* of the block */
	bool in_expression;
	struct range call; /* in which it is; empty: none */
	bool kept;
};

struct temporary { /* memory of an expression, of which there is an address */
	struct range range;
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
	const char *stem; /* what names that are made for it begin with */
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
	struct literal *literals;
	size_t literal_count;
	struct temporary *temporaries;
	size_t temporary_count;
	size_t *events; /* offsets of expressions that are events */
	size_t event_count;
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

/* collect.c, walk.c (walk.h) */
void tame_collect(void);
void tame_walk(struct function *f, CXCursor body);
struct variable *tame_variable(struct function *f, CXCursor declaration);
int tame_mark_of(CXCursor function);      /* 't' tamed, 'h' threaded, 'w' waits, 0 */
void tame_check_place(CXCursor variable); /* one that no function that waits has, or static */

/* paths.c: events that are lost or triggered twice on a way through a function */
void tame_check_paths(struct function *f);

/* types.c */
struct function *tame_types_of(struct function *f); /* whose local types get their new names */
const char *tame_declare(CXType type, const char *name, bool plain);
bool tame_is_rendezvous(CXType type, CXType *id, bool *named);
bool tame_holds_rendezvous(CXType type);
bool tame_is_event(CXType type);
CXType tame_event_function(CXType type);
bool tame_is_array(CXType type);
bool tame_is_variable(CXType type);
bool tame_is_flexible(CXType type);
bool tame_is_record(CXType type);
bool tame_has_const(CXType type);
CXType tame_canonical(CXType type);
bool tame_same_type(CXCursor a, CXCursor b);

/* check.c, outlive.c, fork.c, place.c, locals.c */
void tame_check_addresses(struct function *f);
void tame_check_fork(struct fork *k);
void tame_move_types(struct text *out, struct function *f);
void tame_check(struct function *f);
void tame_check_alignment(size_t offset, CXType type);
void tame_place_variables(struct function *f);
bool tame_lives_across(const struct function *f, const struct scope *scope, size_t offset);

void tame_edit_once(size_t begin, size_t size, const char *text); /* if there is none there */
/* edit.c: changes of the text. In `text`, "\1begin,end\2" stands for what a range becomes; with
 * "\4offset\2" the line of an offset begins, if need be with "\6offset\2"; with "\3" a line of the result
 * that nobody wrote. "\5c" is the name c of all that are made for every function. */
void tame_edit(size_t begin, size_t end, const char *text);
const char *tame_range(struct range r);
void tame_put_token(struct text *out, size_t token);
void tame_render(struct text *out, size_t begin, size_t end);
void tame_sort_edits(void);

/* rewrite.c, emit*.c */
void tame_rewrite(struct function *f);
void tame_emit_before(struct text *out, struct function *f);
void tame_emit_event_types(struct text *out, struct function *f);
void tame_emit_event_functions(struct text *out, struct function *f);
void tame_emit_rendezvous(struct text *out, struct function *f);
void tame_emit_forks(struct text *out, struct function *f);
const char *tame_given_to(const struct mkevent *m); /* the function it is an argument of, or NULL */
void tame_emit_awaited(struct text *out, const struct function *f, const struct wait *w);
const char *tame_here(size_t offset); /* "file:line" for a table */

/* back.c */
void tame_put_back(struct text *out);

/* output.c */
bool tame_write(void);
void tame_remove_output(void);

#endif
