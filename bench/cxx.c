/* cxx.c - Weft in C++: its program (peers/cxx.cc) is run as a child. */
#include "cxx.h"

#include <stddef.h>

#include "threads.h"

static int measure(const void *what, double *values)
{
	const char *const words[] = { what, NULL };

	return program_run("cxx", values, words);
}

struct bench_row *cxx_add(const char *label, const char *who, const char *what)
{
	if (program_built("cxx"))
		return bench_add(label, who, measure, what);
	bench_add_missing(label, who, "no C++ compiler was found when weft-bench was built");
	return NULL;
}
