/* initialise.c - what initializers in braces put where. */
#include <string.h>

#include "check.h"

struct list {
	CXCursor *at;
	size_t count;
};

static int add_field(CXCursor field, void *arg)
{
	struct list *fields = arg;

	*ADD(fields->at, fields->count) = field;
	return CXVisit_Continue;
}

static int add_child(CXCursor child, CXCursor parent, void *arg)
{
	(void)parent;
	return add_field(child, arg);
}

/* All at once: tables may be long. */
static struct list children(CXCursor c)
{
	struct list l = { 0 };

	clang.visitChildren(c, add_child, &l);
	return l;
}

static bool is_designated(CXCursor c)
{
	return c.kind == CXCursor_UnexposedExpr && check_children(c) > 1;
}

/* The member that `.a.b = x` names last; *index becomes that of the first. */
static CXCursor designated_field(CXCursor c, const struct list *fields, size_t *index)
{
	CXCursor field = { .kind = 0 }, child;

	for (size_t i = 0; (child = check_child(c, i)).kind == CXCursor_MemberRef; i++) {
		field = clang.getCursorReferenced(child);
		for (size_t k = 0; k < fields->count && i == 0; k++)
			if (clang.equalCursors(fields->at[k], field))
				*index = k;
	}
	return field;
}

static void initialise_record(CXType type, CXCursor braces)
{
	struct list fields = { 0 }, values = children(braces);
	size_t index = 0;

	clang.Type_visitFields(type, add_field, &fields);
	for (size_t i = 0; i < values.count; i++, index++) {
		CXCursor value = values.at[i], field = { .kind = 0 };

		if (is_designated(value)) {
			field = designated_field(value, &fields, &index);
			value = check_child(value, check_children(value) - 1);
		} else if (index < fields.count) {
			field = fields.at[index];
		}
		if (field.kind == CXCursor_FieldDecl)
			check_initialise(check_slot(field), clang.getCursorType(field), value);
	}
}

static void initialise_array(struct slot *to, CXType type, CXCursor braces)
{
	CXType element = clang.getCanonicalType(type);
	struct list values;

	if (to == NULL && element.kind != CXType_Record && element.kind != CXType_ConstantArray)
		return;
	values = children(braces);
	for (size_t i = 0; i < values.count; i++) {
		CXCursor value = values.at[i];

		if (is_designated(value))
			value = check_child(value, check_children(value) - 1);
		check_initialise(to, type, value);
	}
}

void check_initialise(struct slot *to, CXType type, CXCursor value)
{
	type = clang.getCanonicalType(type);
	if (value.kind != CXCursor_InitListExpr) {
		if (to != NULL)
			check_flow(to, value);
	} else if (type.kind == CXType_Record) {
		initialise_record(type, value);
	} else if (type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray) {
		initialise_array(to, clang.getArrayElementType(type), value);
	} else if (to != NULL && check_children(value) == 1) {
		check_flow(to, check_child(value, 0));
	}
}
