/* walk.c - walks through the body of a function, or the initializer of a variable, and notes the
 * calls, the WEFT_ATOMIC blocks, and where pointers to functions go.
 */
#include <string.h>

#include "check.h"

struct walk {
	struct body *body; /* NULL: outside of functions */
	struct region *region;
};

static int visit(CXCursor c, CXCursor parent, void *arg);

static void descend(CXCursor c, struct walk *w)
{
	clang.visitChildren(c, visit, w);
}

static struct call *add_call(struct walk *w, enum call_kind kind, CXCursor c)
{
	struct call *call = ADD(w->body->calls, w->body->call_count);

	call->kind = kind;
	call->place = check_place(clang.getCursorLocation(c));
	call->region = w->region;
	return call;
}

/* The function as the source names it: weft_x is a macro that calls weft_x_at. */
static const char *written(const struct function *f, CXCursor c)
{
	const char *word = check_word(clang.getCursorLocation(c));

	if (strncmp(f->name, "weft_", 5) == 0 && word[0] >= 'a' && word[0] <= 'z')
		return word;
	return f->name;
}

/* The function that a call names; kind 0: it is called through a pointer. */
static CXCursor callee_of(CXCursor c)
{
	CXCursor named = check_named(check_child(c, 0));
	CXCursor whole = clang.getCursorReferenced(c);

	if (check_is_function(named))
		return named;
	if (check_is_function(whole) && whole.kind != CXCursor_FunctionDecl)
		return whole; /* C++: a constructor, an operator */
	return (CXCursor){ .kind = 0 };
}

/* Attributes of a parameter stand in the declaration; the definition may not be read at all. */
static void mark_parameter(struct slot *s, CXCursor callee, unsigned index)
{
	CXCursor declaration = clang.Cursor_getArgument(callee, index);
	struct marks marks = check_marks(declaration);

	s->name = check_name(declaration);
	s->place = check_place(clang.getCursorLocation(declaration));
	s->waits |= marks.waits;
	s->no_wait |= marks.no_wait;
	s->handler |= check_is_handler_parameter(callee, index);
}

static void pass_arguments(struct function *f, CXCursor callee, CXCursor c)
{
	int count = clang.Cursor_getNumArguments(c);

	for (int i = 0; i < count; i++) {
		CXCursor argument = clang.Cursor_getArgument(c, (unsigned)i);
		CXType type = clang.getCursorType(argument);
		struct slot *parameter;

		if (check_type(type) == NULL)
			continue;
		parameter = check_parameter(f, (size_t)i, type);
		mark_parameter(parameter, callee, (unsigned)i);
		check_flow(parameter, argument);
	}
}

static void visit_direct_call(CXCursor c, CXCursor callee, struct walk *w)
{
	struct function *f = check_function(callee);
	size_t count = check_children(c);
	bool is_twait = strcmp(f->name, "weft_tame_untranslated_twait") == 0;
	struct call *call;

	if (w->body != NULL) {
		call = add_call(w, is_twait ? TWAIT : CALL, c);
		call->function = f;
		call->written = written(f, c);
	}
	pass_arguments(f, callee, c);
	for (size_t i = 0; i < count; i++) {
		CXCursor child = check_child(c, i);

		if (i > 0 || !clang.equalCursors(check_named(child), callee))
			visit(child, c, w);
	}
}

static void add_pointer_call(CXCursor c, CXCursor pointer, struct walk *w)
{
	struct call *call = add_call(w, CALL, c);

	call->slot = check_slot_of(pointer);
	call->written = check_text(clang.getCursorExtent(pointer));
	if (call->written[0] == '\0')
		call->written = "a pointer";
}

static void visit_call(CXCursor c, struct walk *w)
{
	CXCursor callee = callee_of(c), pointer = check_child(c, 0);

	if (callee.kind != 0) {
		visit_direct_call(c, callee, w);
		return;
	}
	if (w->body != NULL && pointer.kind != 0 &&
	    !check_is_event(check_type(clang.getCursorType(pointer))))
		add_pointer_call(c, pointer, w);
	descend(c, w);
}

static void visit_binary(CXCursor c, struct walk *w)
{
	CXCursor left = check_child(c, 0);
	struct slot *to;

	if (check_is_fork(c)) {
		visit(left, c, w);
		return;
	}
	if (check_type(clang.getCursorType(c)) != NULL) {
		to = check_slot_of(left);
		check_flow(to, check_child(c, 1));
	}
	descend(c, w);
}

/* Code that has the address of a pointer can change the pointer. */
static void visit_unary(CXCursor c, struct walk *w)
{
	CXType type = clang.getCanonicalType(clang.getCursorType(c));
	CXCursor operand = check_child(c, 0);
	struct slot *s;

	if (type.kind == CXType_Pointer && check_type(type) != NULL &&
	    clang.equalTypes(clang.getCanonicalType(clang.getPointeeType(type)),
			     clang.getCanonicalType(clang.getCursorType(operand))) &&
	    clang.getCanonicalType(clang.getPointeeType(type)).kind == CXType_Pointer) {
		s = check_slot_of(operand);
		s->unknown = true;
	}
	descend(c, w);
}

static void visit_destructor(CXCursor variable, struct walk *w)
{
	CXCursor destructor = check_destructor(variable);
	struct call *call;

	if (destructor.kind == 0)
		return;
	call = add_call(w, CLEANUP, variable);
	call->function = check_function(destructor);
	call->written = call->function->name;
}

static void visit_cleanup(CXCursor variable, struct walk *w)
{
	const char *name = check_cleanup(variable);
	struct call *call;

	if (name == NULL) {
		visit_destructor(variable, w);
		return;
	}
	call = add_call(w, CLEANUP, variable);
	call->function = check_function_called(name, call->place.file);
	call->written = name;
	if (strcmp(name, "weft_finish_end_") == 0) {
		call->written = check_word(clang.getRangeStart(clang.getCursorExtent(variable)));
		call->place = check_place(clang.getRangeStart(clang.getCursorExtent(variable)));
	}
	if (call->function == NULL)
		w->body->call_count--;
}

static void visit_variable(CXCursor c, struct walk *w)
{
	CXCursor value = clang.Cursor_getVarDeclInitializer(c);

	if (w->body != NULL)
		visit_cleanup(c, w);
	if (value.kind >= CXCursor_FirstExpr && value.kind <= CXCursor_LastExpr)
		check_initialise(check_slot(c), clang.getCursorType(c), value);
	descend(c, w);
}

static void visit_return(CXCursor c, struct walk *w)
{
	CXCursor value = check_child(c, 0);
	CXType type = clang.getCursorType(value);

	if (w->body != NULL && value.kind != 0 && check_type(type) != NULL)
		check_flow(check_result(w->body->function, type), value);
	descend(c, w);
}

static void visit_atomic(CXCursor c, struct walk w)
{
	CXCursor block = check_child(c, 1), other = check_child(c, 2);
	struct place where = check_place(clang.getCursorLocation(c));
	struct walk inside = w;

	if (block.kind != CXCursor_CompoundStmt)
		check_find(where, "expected a block in braces after WEFT_ATOMIC");
	check_promised++;
	inside.region = tame_alloc(sizeof *inside.region);
	inside.region->place = where;
	visit(block, c, &inside);
	if (other.kind != 0)
		visit(other, c, &w);
}

static void visit_reference(CXCursor c)
{
	CXCursor declaration = clang.getCursorReferenced(c);

	if (check_is_function(declaration))
		check_take(check_function(declaration));
}

static int visit(CXCursor c, CXCursor parent, void *arg)
{
	struct walk *w = arg;

	(void)parent;
	if (c.kind == CXCursor_CallExpr)
		visit_call(c, w);
	else if (c.kind == CXCursor_DeclRefExpr)
		visit_reference(c);
	else if (c.kind == CXCursor_BinaryOperator)
		visit_binary(c, w);
	else if (c.kind == CXCursor_UnaryOperator)
		visit_unary(c, w);
	else if (c.kind == CXCursor_VarDecl)
		visit_variable(c, w);
	else if (c.kind == CXCursor_ReturnStmt)
		visit_return(c, w);
	else if (check_is_atomic(c))
		visit_atomic(c, *w);
	else if (c.kind != CXCursor_UnaryExpr) /* sizeof */
		descend(c, w);
	if (c.kind == CXCursor_InitListExpr)
		check_initialise(NULL, clang.getCursorType(c), c);
	return CXVisit_Continue;
}

void check_walk(CXCursor c, struct body *body)
{
	struct walk w = { body, NULL };

	if (c.kind == CXCursor_VarDecl)
		visit_variable(c, &w);
	else
		descend(c, &w);
}
