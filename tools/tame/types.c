/* types.c - types of the source: what they are, and how to write them at file scope. */
#include <string.h>

#include "tool.h"

/* The function whose local types are written by their new names. */
static struct function *of;

struct function *tame_types_of(struct function *f)
{
	struct function *before = of;

	of = f;
	return before;
}

CXType tame_canonical(CXType type)
{
	return clang.getCanonicalType(type);
}

bool tame_is_array(CXType type)
{
	int kind = tame_canonical(type).kind;

	return kind == CXType_ConstantArray || kind == CXType_IncompleteArray ||
	       kind == CXType_VariableArray;
}

static int note_field(CXCursor field, void *arg)
{
	*(CXType *)arg = clang.getCursorType(field);
	return CXVisit_Continue;
}

/* Whether it is a struct that ends with an array of no size. */
bool tame_is_flexible(CXType type)
{
	CXType last = { .kind = CXType_Invalid };

	if (!tame_is_record(type))
		return false;
	clang.Type_visitFields(tame_canonical(type), note_field, &last);
	return last.kind == CXType_IncompleteArray;
}

/* Whether a size in it is known only when the program runs. */
bool tame_is_variable(CXType type)
{
	type = tame_canonical(type);
	if (type.kind == CXType_VariableArray)
		return true;
	if (tame_is_array(type))
		return tame_is_variable(clang.getArrayElementType(type));
	return type.kind == CXType_Pointer && tame_is_variable(clang.getPointeeType(type));
}

bool tame_is_record(CXType type)
{
	return tame_canonical(type).kind == CXType_Record;
}

static bool is_pointer_to(CXType type, const char *tag)
{
	type = tame_canonical(type);
	if (type.kind != CXType_Pointer)
		return false;
	type = tame_canonical(clang.getPointeeType(type));
	return type.kind == CXType_Record &&
	       strcmp(tame_name(clang.getTypeDeclaration(type)), tag) == 0;
}

/* An array of pointers to functions that take one first; `id` is what its events are named by. */
bool tame_is_rendezvous(CXType type, CXType *id, bool *named)
{
	type = tame_canonical(type);
	if (type.kind != CXType_ConstantArray)
		return false;
	type = tame_canonical(clang.getArrayElementType(type));
	if (type.kind != CXType_Pointer)
		return false;
	type = tame_canonical(clang.getPointeeType(type));
	if (type.kind != CXType_FunctionProto || clang.getNumArgTypes(type) < 1 ||
	    !is_pointer_to(clang.getArgType(type, 0), "weft_tame_rendezvous"))
		return false;
	*named = clang.getNumArgTypes(type) == 2;
	if (*named)
		*id = clang.getPointeeType(clang.getArgType(type, 1));
	return true;
}

struct looking {
	bool (*test)(CXType type);
	bool found;
};

static int look_at_field(CXCursor field, void *arg)
{
	struct looking *looking = arg;

	looking->found = looking->test(clang.getCursorType(field));
	return looking->found ? CXVisit_Break : CXVisit_Continue;
}

static bool any_field(CXType type, bool (*test)(CXType type))
{
	struct looking looking = { .test = test };

	clang.Type_visitFields(type, look_at_field, &looking);
	return looking.found;
}

bool tame_holds_rendezvous(CXType type)
{
	CXType id;
	bool named;

	if (tame_is_rendezvous(type, &id, &named))
		return true;
	type = tame_canonical(type);
	if (tame_is_array(type))
		return tame_holds_rendezvous(clang.getArrayElementType(type));
	return type.kind == CXType_Record && any_field(type, tame_holds_rendezvous);
}

/* Whether it cannot be assigned to because of a const in it. */
bool tame_has_const(CXType type)
{
	type = tame_canonical(type);
	if (clang.isConstQualifiedType(type))
		return true;
	if (tame_is_array(type))
		return tame_has_const(clang.getArrayElementType(type));
	return type.kind == CXType_Record && any_field(type, tame_has_const);
}

CXType tame_event_function(CXType type)
{
	CXType none = { .kind = CXType_Invalid };

	type = tame_canonical(type);
	if (type.kind != CXType_Pointer)
		return none;
	type = tame_canonical(clang.getPointeeType(type));
	if (type.kind != CXType_Pointer || !clang.isConstQualifiedType(type))
		return none;
	type = tame_canonical(clang.getPointeeType(type));
	if (type.kind != CXType_FunctionProto || clang.getNumArgTypes(type) < 1 ||
	    !is_pointer_to(clang.getArgType(type, 0), "weft_tame_event"))
		return none;
	return type;
}

bool tame_is_event(CXType type)
{
	return tame_event_function(type).kind != CXType_Invalid;
}

static const char *with_space(const char *base, const char *name)
{
	return *name == '\0' ? base : tame_format("%s %s", base, name);
}

static const char *qualified(CXType type, const char *base, bool plain)
{
	if (clang.isVolatileQualifiedType(type))
		base = tame_format("volatile %s", base);
	if (clang.isConstQualifiedType(type) && !plain)
		base = tame_format("const %s", base);
	return base;
}

/* Two declarations of one type. */
bool tame_same_type(CXCursor a, CXCursor b)
{
	CXCursor definition = clang.getCursorDefinition(a);

	return clang.equalCursors(a, b) ||
	       (definition.kind == a.kind && a.kind == b.kind &&
		clang.equalCursors(definition, clang.getCursorDefinition(b)));
}

static const char *new_name(CXCursor declaration)
{
	for (size_t i = 0; of != NULL && i < of->type_count; i++)
		if (tame_same_type(of->types[i]->cursor, declaration))
			return of->types[i]->new_name;
	return NULL;
}

static const char *tagged(CXType type)
{
	CXCursor declaration = clang.getTypeDeclaration(type);
	const char *name = new_name(declaration), *spelled;
	const char *word = declaration.kind == CXCursor_UnionDecl  ? "union"
			   : declaration.kind == CXCursor_EnumDecl ? "enum"
								   : "struct";

	if (name != NULL)
		return tame_format("%s %s", word, name);
	/* "struct tag", or the typedef's name if there is no tag */
	spelled = tame_string(clang.getTypeSpelling(type));
	for (;;) {
		if (strncmp(spelled, "const ", 6) == 0)
			spelled += 6;
		else if (strncmp(spelled, "volatile ", 9) == 0)
			spelled += 9;
		else
			return spelled;
	}
}

static const char *parameters(CXType type, int from)
{
	struct text t = { 0 };
	int count = clang.getNumArgTypes(type);

	for (int i = from; i < count; i++) {
		if (i > from)
			tame_put(&t, ", ");
		tame_put(&t, tame_declare(clang.getArgType(type, (unsigned)i), "", false));
	}
	if (clang.isFunctionTypeVariadic(type))
		tame_put(&t, ", ...");
	return t.at == NULL ? "" : t.at;
}

static const char *pointer(CXType type, const char *name, bool plain)
{
	CXType to = clang.getPointeeType(type);
	int kind = tame_canonical(to).kind;
	bool nested =
		kind == CXType_FunctionProto || kind == CXType_FunctionNoProto || tame_is_array(to);
	const char *marks =
		tame_format("*%s%s%s", clang.isConstQualifiedType(type) && !plain ? "const " : "",
			    clang.isVolatileQualifiedType(type) ? "volatile " : "",
			    clang.isRestrictQualifiedType(type) && !plain ? "restrict " : "");
	const char *inner = tame_format("%s%s", marks, name);

	/* a typedef of a function or an array needs no brackets, but does not mind */
	return tame_declare(to, nested ? tame_format("(%s)", inner) : inner, false);
}

static const char *declare_event(CXType type, const char *name)
{
	return with_space(tame_format("WEFT_EVENT(%s)", parameters(tame_event_function(type), 1)),
			  name);
}

static bool is_nameless(CXType type)
{
	const char *name = tame_string(clang.getTypeSpelling(type));

	return strstr(name, "(unnamed") != NULL || strstr(name, "(anonymous") != NULL;
}

static const char *declare_typedef(CXType type, const char *name, bool plain)
{
	CXCursor declaration = clang.getTypeDeclaration(type);
	const char *renamed = new_name(declaration);
	CXType canonical = tame_canonical(type);

	if (plain && tame_has_const(canonical) && canonical.kind != CXType_Record)
		return tame_declare(canonical, name, plain);
	return with_space(qualified(type, renamed != NULL ? renamed : tame_name(declaration),
				    plain),
			  name);
}

/* A declaration of `name` with this type; an empty name gives the type alone. `plain`: it must be
 * possible to assign to it. */
const char *tame_declare(CXType type, const char *name, bool plain)
{
	CXType canonical = tame_canonical(type);

	if (tame_is_event(type) && (plain || !clang.isConstQualifiedType(canonical)))
		return declare_event(type, name);
	switch (type.kind) {
	case CXType_Pointer:
		return pointer(type, name, plain);
	case CXType_ConstantArray:
		return tame_declare(clang.getArrayElementType(type),
				    tame_format("%s[%lld]", name, clang.getArraySize(type)), plain);
	case CXType_IncompleteArray:
	case CXType_VariableArray:
		return tame_declare(clang.getArrayElementType(type), tame_format("%s[]", name),
				    plain);
	case CXType_FunctionProto:
		return tame_declare(clang.getResultType(type),
				    tame_format("%s(%s)", name,
						clang.getNumArgTypes(type) == 0
							? "void"
							: parameters(type, 0)),
				    false);
	case CXType_FunctionNoProto:
		return tame_declare(clang.getResultType(type), tame_format("%s()", name), false);
	case CXType_Elaborated:
		if (clang.isConstQualifiedType(type) || clang.isVolatileQualifiedType(type))
			return tame_declare(canonical, name, plain);
		return tame_declare(clang.Type_getNamedType(type), name, plain);
	case CXType_Record:
	case CXType_Enum:
		return with_space(qualified(type, tagged(type), plain), name);
	case CXType_Typedef:
		return declare_typedef(type, name, plain);
	case CXType_Atomic:
		return with_space(qualified(type,
					    tame_format("_Atomic(%s)",
							tame_declare(clang.Type_getValueType(type),
								     "", false)),
					    plain),
				  name);
	default:
		break;
	}
	if (canonical.kind != type.kind || is_nameless(type))
		return tame_declare(canonical, name, plain);
	/* of a number: clang writes it as C does, qualifiers first */
	{
		const char *spelled = tame_string(clang.getTypeSpelling(type));

		if (plain && strncmp(spelled, "const ", 6) == 0)
			spelled += 6;
		return with_space(spelled, name);
	}
}
