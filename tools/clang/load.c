/* load.c - finds libclang when a tool runs. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "clang.h"
#include "memory.h"

struct clang clang;

static void *open_library(void)
{
	static const char *const names[] = {
		"libclang-14.so.1",  "libclang.so.1",     "libclang.so.13",    "libclang-14.so.13",
		"libclang-15.so.1",  "libclang-16.so.1",  "libclang-17.so.1",  "libclang-18.so.1",
		"libclang-19.so.1",  "libclang-20.so.1",  "libclang-13.so.1",  "libclang-15.so.15",
		"libclang-16.so.16", "libclang-17.so.17", "libclang-18.so.18", "libclang-19.so.19",
		"libclang-20.so.20", "libclang-21.so.21", "libclang.so",
	};
	const char *named = getenv("WEFT_LIBCLANG");
	void *library;

	if (named != NULL && named[0] != '\0') {
		library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
		if (library == NULL)
			tame_fail("WEFT_LIBCLANG: %s", dlerror());
		return library;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (library != NULL)
			return library;
	}
	tame_fail("there is no libclang here: please install the package libclang1-14, or name "
		  "another by WEFT_LIBCLANG");
}

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (function == NULL)
		tame_fail("this libclang is too old, it has no %s: please install libclang1-14",
			  name);
	return function;
}

void tame_load(void)
{
	void *library = open_library();

	/* POSIX says that such a pointer can be copied to one of a function. */
#define X(type, name, arguments) \
	{ \
		void *found = find(library, "clang_" #name); \
		memcpy(&clang.name, &found, sizeof found); \
	}
	CLANG_FUNCTIONS(X)
#undef X
}

char *tame_string(CXString s)
{
	const char *text = clang.getCString(s);
	char *copy = tame_copy(text == NULL ? "" : text, text == NULL ? 0 : strlen(text));

	clang.disposeString(s);
	return copy;
}
