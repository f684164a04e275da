/* cleanup.c - what is called when a variable goes out of scope. */
#include <string.h>

#include "check.h"

/* In C++ a destructor ends the block. */
static bool is_finish_of_cxx(CXCursor variable)
{
	CXType type = clang.getCursorType(variable);

	return type.kind != CXType_Pointer &&
	       strcmp(check_name(clang.getTypeDeclaration(type)), "weft_finish_scope_") == 0;
}

/* libclang does not say which function a cleanup calls, but writes it out. */
const char *check_cleanup(CXCursor variable)
{
	static const char mark[] = "cleanup(";
	const char *text, *name;
	CXCursor child;

	if (is_finish_of_cxx(variable))
		return "weft_finish_end_";
	for (size_t i = 0; (child = check_child(variable, i)).kind != 0; i++)
		if (child.kind == CXCursor_UnexposedAttr)
			break;
	if (child.kind == 0)
		return NULL;
	text = tame_string(clang.getCursorPrettyPrinted(variable, NULL));
	name = strstr(text, mark);
	if (name == NULL)
		return NULL;
	name += strlen(mark);
	return tame_copy(name, strcspn(name, ")"));
}

/* The function that a name means in a file: its own, that of a header, or any. */
struct function *check_function_called(const char *name, const char *file)
{
	struct function *found = NULL;

	for (size_t i = 0; i < function_count; i++) {
		if (strcmp(functions[i]->name, name) != 0)
			continue;
		if (strcmp(functions[i]->place.file, file) == 0)
			return functions[i];
		if (found == NULL || strstr(functions[i]->place.file, ".h") != NULL)
			found = functions[i];
	}
	return found;
}

static int look_for_destructor(CXCursor child, CXCursor parent, void *arg)
{
	CXCursor *destructor = arg;

	(void)parent;
	if (child.kind != CXCursor_Destructor)
		return CXVisit_Continue;
	*destructor = child;
	return CXVisit_Break;
}

CXCursor check_destructor(CXCursor variable)
{
	CXType type = clang.getCanonicalType(clang.getCursorType(variable));
	CXCursor destructor = { .kind = 0 };

	if (type.kind == CXType_Record)
		clang.visitChildren(clang.getTypeDeclaration(type), look_for_destructor,
				    &destructor);
	return destructor;
}
