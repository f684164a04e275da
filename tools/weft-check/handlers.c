/* handlers.c - parameters and members of Weft's headers that take handlers. A handler has no thread
 * that could wait. The functions of once, cleanups and slots run in threads: they are no handlers.
 */
#include <string.h>

#include "check.h"

static bool is_handler(CXCursor declaration)
{
	return strcmp(tame_string(clang.getTypeSpelling(clang.getCursorType(declaration))),
		      "weft_fn *") == 0;
}

static bool ends(const char *text, const char *with)
{
	size_t size = strlen(text), end = strlen(with);

	return size >= end && strcmp(text + size - end, with) == 0;
}

bool check_is_handler_member(CXCursor declaration, const char *file)
{
	return declaration.kind == CXCursor_FieldDecl && ends(file, "weft/event.h") &&
	       is_handler(declaration);
}

bool check_is_handler_parameter(CXCursor function, unsigned index)
{
	static const char *const others[] = { "weft_once_", "weft_cleanup_", "weft_key_",
					      "weft_handler_" };
	const char *name = check_name(function);
	const char *file = check_place(clang.getCursorLocation(function)).file;

	if (strncmp(name, "weft_", 5) != 0 || strstr(file, "weft/") == NULL || !ends(file, ".h"))
		return false;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return false;
	return is_handler(clang.Cursor_getArgument(function, index));
}
