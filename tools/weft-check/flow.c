/* flow.c - where pointers to functions go: from the functions through assignments, initializers,
 * arguments and results into variables, members and parameters, which are called slots here.
 *
 * The analysis knows neither the order of assignments nor single objects: a member of a struct
 * holds whatever goes into this member anywhere in the program. A value from elsewhere (memory, a
 * void pointer, code that is not read) may be each function of the type whose address is taken.
 */
#include <string.h>

#include "check.h"

struct slot **slots;
size_t slot_count;

enum { BUCKETS = 1024 };
static struct {
	struct type **types;
	size_t type_count;
	struct slot **slots;
	size_t slot_count;
} buckets[BUCKETS];

static size_t bucket_of(const char *text)
{
	size_t hash = 5381;

	for (const char *t = text; *t != '\0'; t++)
		hash = hash * 33 + (unsigned char)*t;
	return hash % BUCKETS;
}

static struct type *type_called(const char *text)
{
	size_t b = bucket_of(text);
	struct type *t;

	for (size_t i = 0; i < buckets[b].type_count; i++)
		if (strcmp(buckets[b].types[i]->text, text) == 0)
			return buckets[b].types[i];
	t = tame_alloc(sizeof *t);
	t->text = text;
	return *ADD(buckets[b].types, buckets[b].type_count) = t;
}

struct type *check_type(CXType type)
{
	for (;;) {
		type = clang.getCanonicalType(type);
		if (type.kind == CXType_Pointer)
			type = clang.getPointeeType(type);
		else if (type.kind == CXType_Atomic)
			type = clang.Type_getValueType(type);
		else if (type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray ||
			 type.kind == CXType_VariableArray)
			type = clang.getArrayElementType(type);
		else
			break;
	}
	if (type.kind != CXType_FunctionProto && type.kind != CXType_FunctionNoProto)
		return NULL;
	return type_called(tame_string(clang.getTypeSpelling(type)));
}

static struct slot *new_slot(const char *key, struct type *type)
{
	struct slot *s = tame_alloc(sizeof *s);

	s->key = key;
	s->type = type;
	return *ADD(slots, slot_count) = s;
}

static struct slot *slot_called(const char *key, struct type *type)
{
	size_t b = bucket_of(key);

	for (size_t i = 0; i < buckets[b].slot_count; i++)
		if (strcmp(buckets[b].slots[i]->key, key) == 0)
			return buckets[b].slots[i];
	return *ADD(buckets[b].slots, buckets[b].slot_count) = new_slot(key, type);
}

static bool is_slot(CXCursor c)
{
	return c.kind == CXCursor_VarDecl || c.kind == CXCursor_ParmDecl ||
	       c.kind == CXCursor_FieldDecl;
}

/* Variables that several files share have one key; all other slots are known by their places. */
static const char *key_of(CXCursor c, struct place where)
{
	if (c.kind == CXCursor_VarDecl && clang.getCursorLinkage(c) == CXLinkage_External)
		return tame_string(clang.getCursorUSR(c));
	return tame_format("%s:%u:%u %s", where.file, where.line, where.column, check_name(c));
}

struct slot *check_slot(CXCursor c)
{
	struct type *type = is_slot(c) ? check_type(clang.getCursorType(c)) : NULL;
	struct place where = check_place(clang.getCursorLocation(c));
	struct marks marks;
	struct slot *s;

	if (type == NULL)
		return NULL;
	s = slot_called(key_of(c, where), type);
	if (s->name == NULL) {
		s->name = check_name(c);
		s->place = where;
	}
	marks = check_marks(c);
	s->waits |= marks.waits;
	s->no_wait |= marks.no_wait;
	s->handler |= check_is_handler_member(c, where.file);
	return s;
}

struct slot *check_result(struct function *f, CXType type)
{
	if (f->result == NULL)
		f->result = new_slot(f->key, check_type(type));
	return f->result;
}

struct slot *check_parameter(struct function *f, size_t index, CXType type)
{
	while (f->parameter_count <= index)
		*ADD(f->parameters, f->parameter_count) = NULL;
	if (f->parameters[index] == NULL)
		f->parameters[index] = new_slot(f->key, check_type(type));
	return f->parameters[index];
}

static bool is_cast(CXCursor c)
{
	return c.kind == CXCursor_CStyleCastExpr ||
	       (c.kind >= CXCursor_CXXStaticCastExpr && c.kind <= CXCursor_CXXFunctionalCastExpr);
}

CXCursor check_strip(CXCursor c)
{
	for (;;) {
		size_t count = check_children(c);

		if (count == 0)
			return c;
		if (is_cast(c))
			c = check_child(c, count - 1);
		else if (c.kind == CXCursor_ParenExpr || c.kind == CXCursor_ArraySubscriptExpr ||
			 (c.kind == CXCursor_UnexposedExpr && count == 1) ||
			 (c.kind == CXCursor_UnaryOperator &&
			  check_type(clang.getCursorType(c)) != NULL))
			c = check_child(c, 0);
		else
			return c;
	}
}

void check_take(struct function *f)
{
	if (!f->taken && f->type != NULL)
		*ADD(f->type->taken, f->type->taken_count) = f;
	f->taken = true;
}

/* A function that is cast to another type counts among the functions of that type, too. */
static void add_function(struct slot *to, struct function *f)
{
	struct type *t = to->type;

	for (size_t i = 0; i < to->function_count; i++)
		if (to->functions[i] == f)
			return;
	*ADD(to->functions, to->function_count) = f;
	if (t == NULL || t == f->type)
		return;
	for (size_t i = 0; i < t->taken_count; i++)
		if (t->taken[i] == f)
			return;
	*ADD(t->taken, t->taken_count) = f;
}

static void add_from(struct slot *to, struct slot *from)
{
	for (size_t i = 0; i < to->from_count; i++)
		if (to->from[i] == from)
			return;
	if (from != to)
		*ADD(to->from, to->from_count) = from;
}

static void flow_from(struct slot *to, CXCursor declaration)
{
	struct slot *from;

	if (check_is_function(declaration)) {
		add_function(to, check_function(declaration));
		return;
	}
	from = check_slot(declaration);
	if (from != NULL)
		add_from(to, from);
	else
		to->unknown |= declaration.kind != CXCursor_EnumConstantDecl;
}

CXCursor check_named(CXCursor expression)
{
	CXCursor e = check_strip(expression);

	if (e.kind == CXCursor_DeclRefExpr || e.kind == CXCursor_MemberRefExpr)
		return clang.getCursorReferenced(e);
	return (CXCursor){ .kind = 0 };
}

static void flow_from_call(struct slot *to, CXCursor call)
{
	CXCursor callee = check_named(check_child(call, 0));

	if (check_is_function(callee))
		add_from(to, check_result(check_function(callee), clang.getCursorType(call)));
	else
		to->unknown = true;
}

static bool is_null(CXCursor c)
{
	return c.kind == CXCursor_IntegerLiteral || c.kind == CXCursor_GNUNullExpr ||
	       c.kind == CXCursor_CXXNullPtrLiteralExpr;
}

void check_flow(struct slot *to, CXCursor c)
{
	c = check_strip(c);
	if (c.kind == CXCursor_DeclRefExpr || c.kind == CXCursor_MemberRefExpr) {
		flow_from(to, clang.getCursorReferenced(c));
	} else if (c.kind == CXCursor_CallExpr) {
		flow_from_call(to, c);
	} else if (c.kind == CXCursor_ConditionalOperator) {
		check_flow(to, check_child(c, 1));
		check_flow(to, check_child(c, 2));
	} else if (c.kind == CXCursor_BinaryOperator) {
		check_flow(to, check_child(c, 1));
	} else if (c.kind == CXCursor_InitListExpr) {
		check_initialise(to, clang.getCursorType(c), c);
	} else if (c.kind == CXCursor_CompoundLiteralExpr) {
		check_initialise(to, clang.getCursorType(c), check_child(c, check_children(c) - 1));
	} else if (!is_null(c)) {
		to->unknown = true;
	}
}

struct slot *check_slot_of(CXCursor expression)
{
	struct slot *s = check_slot(check_named(expression));

	if (s == NULL) {
		s = new_slot("", check_type(clang.getCursorType(expression)));
		check_flow(s, expression);
	}
	return s;
}
