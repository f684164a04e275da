/* flags.c - the sources, and those flags of their compiler that matter to libclang. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

struct source **sources;
size_t source_count;

const char *check_absolute(const char *directory, const char *path)
{
	const char *whole = path[0] == '/' ? path : tame_format("%s/%s", directory, path);
	char *real = realpath(whole, NULL);

	if (real != NULL) {
		whole = tame_copy(real, strlen(real));
		free(real);
	}
	return whole;
}

struct source *check_add_source(const char *path, const char *directory)
{
	struct source *s;

	for (size_t i = 0; i < source_count; i++)
		if (strcmp(sources[i]->path, path) == 0)
			return sources[i];
	s = tame_alloc(sizeof *s);
	s->path = path;
	s->directory = directory;
	return *ADD(sources, source_count) = s;
}

static void add_flag(struct source *s, const char *flag)
{
	*ADD(s->flags, s->flag_count) = flag;
}

/* Folders and files are relative to the folder in which the compiler runs. A file that is not there
 * is looked for in the include folders. */
static const char *absolute_value(struct source *s, const char *flag, const char *value)
{
	const char *path;

	if (!tame_begins(flag, "-i") && strcmp(flag, "-I") != 0)
		return value;
	path = check_absolute(s->directory, value);
	return access(path, F_OK) == 0 ? path : value;
}

/* A flag with a value, behind it or as the next argument. Returns how many arguments it is, or
 * 0. */
static size_t valued_flag(struct source *s, const char *const *argument, size_t left)
{
	static const char *const known[] = { "-iquote",  "-isystem",  "-idirafter", "-include",
					     "-imacros", "-isysroot", "--sysroot",  "-target",
					     "-I",       "-D",        "-U",         "-x" };
	const char *value;
	size_t i = 0;

	while (i < sizeof known / sizeof *known && !tame_begins(argument[0], known[i]))
		i++;
	if (i == sizeof known / sizeof *known)
		return 0;
	value = argument[0] + strlen(known[i]);
	if (*value != '\0') {
		add_flag(s, tame_format("%s%s", known[i], absolute_value(s, known[i], value)));
		return 1;
	}
	if (left < 2)
		return 0;
	add_flag(s, known[i]);
	add_flag(s, absolute_value(s, known[i], argument[1]));
	return 2;
}

/* Flags that change what the source means. Of the others, clang does not know all. */
static void simple_flag(struct source *s, const char *flag)
{
	static const char *const known[] = { "-m32",          "-m64",          "-mx32",
					     "-march=",       "-mcpu=",        "-mavx",
					     "-msse",         "--target=",     "-funsigned-char",
					     "-fsigned-char", "-fshort-enums", "-pthread",
					     "-ansi" };

	/* With -fopenmp libclang does not show the blocks of tasks. */
	if (strcmp(flag, "-fopenmp") == 0)
		add_flag(s, "-D_OPENMP=201511");
	if (tame_begins(flag, "-std="))
		add_flag(s, tame_begins(flag, "-std=gnu23") || tame_begins(flag, "-std=c23")
				    ? "-std=gnu2x"
				    : flag);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (tame_begins(flag, known[i]))
			add_flag(s, flag);
}

/* "dir/CMakeFiles/x.dir/src/a.c.o": what is linked together lies below "dir/CMakeFiles/x.dir". */
static void take_output(struct source *s, const char *output)
{
	const char *end = strstr(output, ".dir/");
	const char *target =
		check_absolute(s->directory,
			       end == NULL ? output : tame_copy(output, (size_t)(end - output)));

	if (end != NULL)
		*ADD(s->targets, s->target_count) = target;
}

void check_take_flags(struct source *s, const char *const *arguments, size_t count)
{
	bool first = s->flags == NULL;

	for (size_t i = 0; i < count; i++) {
		size_t took = 0;

		if (strcmp(arguments[i], "-o") == 0 && i + 1 < count)
			take_output(s, arguments[++i]);
		else if (first)
			took = valued_flag(s, arguments + i, count - i);
		if (first && took == 0)
			simple_flag(s, arguments[i]);
		i += took > 1;
	}
	if (first)
		add_flag(s, "-DWEFT_CHECKING_");
}
