/* check.h - what the parts of weft-check share: the sources, and the model of the program.
 *
 * flags.c and database.c find the files and their compiler flags. parse.c has libclang read one
 * file, collect.c notes its functions, walk.c their calls and blocks, and flow.c where pointers to
 * functions go. When all files are read, search.c finds paths to calls that wait, and report.c
 * prints them. No cursor of libclang outlives its file. Nothing is freed.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>

#include "../clang/clang.h"
#include "../clang/memory.h"

struct options {
	bool strict, blocking, handlers;
};
extern struct options options;

/* A source file. It is read once, however often the database names it. */
struct source {
	const char *path, *directory;
	const char **flags; /* for clang */
	size_t flag_count;
	const char **targets; /* folders of its objects, one for each program that links them */
	size_t target_count;
};
extern struct source **sources;
extern size_t source_count;

struct place {
	const char *file;
	unsigned line, column;
};

/* A type of functions, spelled out. */
struct type {
	const char *text;
	struct function **taken; /* functions of the type whose address is taken */
	size_t taken_count;
};

/* A variable, member, parameter, result or expression that may hold a pointer to a function. */
struct slot {
	const char *key;
	const char *name;
	struct place place;
	struct type *type;
	struct function *owner;      /* the function whose parameter it is, or NULL */
	struct function **functions; /* that go into it by name */
	size_t function_count;
	struct slot **from; /* slots that are copied into it */
	size_t from_count;
	bool unknown; /* something else goes into it: it may hold each function of its type */
	bool waits, no_wait;
	bool handler; /* Weft calls the function as a handler */
	unsigned visit;
	bool resolved;
	struct function **holds; /* all functions that it may hold, if resolved */
	size_t hold_count;
};

enum call_kind { CALL, TWAIT, CLEANUP };
struct call {
	enum call_kind kind;
	struct place place;
	struct function *function; /* the callee, or NULL: `slot` holds it */
	struct slot *slot;
	const char *written;   /* the callee as the source names it */
	struct region *region; /* the innermost WEFT_ATOMIC block around it */
};
struct region {
	struct place place;
};

/* A definition of a function. Programs that are read together may each define one name. */
struct body {
	struct function *function;
	const struct source *source;
	struct place place;
	struct call *calls;
	size_t call_count;
	unsigned depth;          /* calls on the shortest path to a wait; 0: no path is known */
	const struct call *via;  /* the first of them */
	const struct body *next; /* the body that it calls; NULL: the call waits */
};

struct function {
	const char *key, *name;
	struct type *type;
	struct place place;
	bool waits, no_wait;
	const struct source **promised_by; /* files in which the function is WEFT_NO_WAIT */
	size_t promised_count;
	const char *goes_into; /* a WEFT_NO_WAIT pointer that gets the function, or NULL */
	bool handler;
	bool tamed;   /* it returns to its caller where it first waits */
	bool of_weft; /* Weft's headers declare it, and say whether it waits */
	bool foreign; /* a system header declares it */
	bool taken;   /* its address is taken */
	struct slot *result;
	unsigned visit;
	struct slot **parameters;
	size_t parameter_count;
	struct body **bodies;
	size_t body_count;
};
extern struct function **functions;
extern size_t function_count;
extern struct slot **slots;
extern size_t slot_count;

/* flags.c, database.c */
struct source *check_add_source(const char *path, const char *directory);
void check_take_flags(struct source *s, const char *const *arguments, size_t count);
void check_read_database(const char *path, const char *const *files, size_t count);
const char *check_absolute(const char *directory, const char *path);
char *check_read_file(const char *path, size_t *size); /* NULL: errno says why */

/* parse.c */
extern unsigned check_unread; /* files that libclang could not read, or not all of them */
void check_parse(struct source *s);
struct place check_place(CXSourceLocation location);
const char *check_word(CXSourceLocation location); /* the identifier that is written there, or "" */
const char *check_text(CXSourceRange range);       /* or "" */
const char *check_name(CXCursor c);
CXCursor check_child(CXCursor c, size_t index); /* kind 0: there is none */
size_t check_children(CXCursor c);

/* collect.c */
struct marks {
	bool waits, no_wait, tamed, threaded;
};
struct marks check_marks(CXCursor declaration);
void check_collect(CXCursor unit, struct source *s);
struct function *check_function(CXCursor declaration);
bool check_is_function(CXCursor declaration);

/* words.c */
bool check_is_fork(CXCursor binary_operator);
bool check_is_event(const struct type *t);
bool check_is_atomic(CXCursor statement);

/* walk.c, cleanup.c */
void check_walk(CXCursor c, struct body *body);
const char *check_cleanup(CXCursor variable); /* its function, or NULL */
CXCursor check_destructor(CXCursor variable); /* of C++; kind 0: there is none */
struct function *check_function_called(const char *name, const char *file); /* from there */

/* flow.c, initialise.c, resolve.c */
CXCursor check_strip(CXCursor expression);     /* without parentheses, casts, & and * */
CXCursor check_named(CXCursor expression);     /* what it names; kind 0: it is no name */
struct type *check_type(CXType type);          /* of the function that it leads to, or NULL */
struct slot *check_slot(CXCursor declaration); /* NULL: it holds no pointer to a function */
struct slot *check_slot_of(
	CXCursor expression); /* its own, or that of the variable that it names */
struct slot *check_result(struct function *f, CXType type);
struct slot *check_parameter(struct function *f, size_t index, CXType type);
void check_flow(struct slot *to, CXCursor expression);
void check_initialise(struct slot *to, CXType type, CXCursor value);
void check_take(struct function *f); /* its address is taken */
void check_resolve(struct slot *s);  /* finds all that it may hold */
void check_see(struct slot *s);      /* only what is seen to go into it */

/* handlers.c */
bool check_is_handler_member(CXCursor declaration, const char *file);
bool check_is_handler_parameter(CXCursor function, unsigned index);

/* search.c, blocking.c, strict.c, report.c */
bool check_is_blocking(const struct function *f);
extern size_t check_promised; /* functions and blocks that must not wait */
void check_search(void);
bool check_promises(const struct function *f); /* not to wait */
void check_strict(void);
void check_find(struct place where, const char *text);
void check_note(struct place where, const char *text); /* of what was found last */
unsigned check_report(void);                           /* prints all; how many there were */

#endif
