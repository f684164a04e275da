/* main.c - weft-tame: translates C with tamed functions to plain C. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/def.h>

#include "tool.h"

struct options options;

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define VERSION TEXT(WEFT_VERSION_MAJOR) "." TEXT(WEFT_VERSION_MINOR) "." TEXT(WEFT_VERSION_PATCH)

static const char usage[] =
	"usage: weft-tame [-o OUT.c] [-MD] [-MF FILE] [-MT TARGET] [--cc=NAME] IN.tame.c "
	"[-- COMPILER FLAGS]\n";

static const char help[] =
	"Translates C with tamed functions (weft/tame.h) to plain C.\n"
	"\n"
	"  -o OUT.c    where to; IN.tame.c becomes IN.c without it. On an error there is none,\n"
	"              not even an old one\n"
	"  -MD         write what the result depends on, for make, to OUT.c.d\n"
	"  -MF FILE    ... to FILE\n"
	"  -MT TARGET  ... as what TARGET depends on, not OUT.c\n"
	"  --Werror    warnings are errors\n"
	"  --version, --help\n"
	"\n"
	"  --cc=NAME   the compiler whose preprocessor reads the file: the one that will compile\n"
	"              the result. Without it: $CC, or cc\n"
	"\n"
	"The compiler gets the flags; give those that the result is compiled with. @FILE stands "
	"for\n"
	"the flags in it, each on a line of its own.\n"
	"WEFT_LIBCLANG in the environment names the libclang to use.\n";

static void add_flag(const char *flag)
{
	*ADD(options.flags, options.flag_count) = flag;
}

static void compiler_flag(const char *flag);

/* One flag on each line. */
static void flags_of_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL, *flag;
	size_t room = 0;
	ssize_t size;

	if (file == NULL)
		tame_fail("%s: %s", path, strerror(errno));
	while ((size = getline(&line, &room, file)) > 0) {
		flag = tame_copy(line, strcspn(line, "\n"));
		if (flag[0] != '\0')
			compiler_flag(flag);
	}
	free(line);
	fclose(file);
}

/* Not those that say what is made, and where to. */
static void compiler_flag(const char *flag)
{
	static const char *const none[] = { "-c",   "-S",  "-E",          "-MD",
					    "-MMD", "-MP", "-M",          "-MM",
					    "-MG",  "-P",  "-save-temps", "-fsyntax-only",
					    "-C",   "-CC" };
	static const char *const begin[] = { "-Wp,-M", "-save-temps=", "-o", "-MF", "-MT", "-MQ" };
	static bool skip;

	if (skip || strcmp(flag, "-o") == 0 || strcmp(flag, "-MF") == 0 ||
	    strcmp(flag, "-MT") == 0 || strcmp(flag, "-MQ") == 0) {
		skip = !skip;
		return;
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (strcmp(flag, none[i]) == 0)
			return;
	for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
		if (tame_begins(flag, begin[i]))
			return;
	if (flag[0] == '@')
		flags_of_file(flag + 1);
	else
		add_flag(flag);
}

static const char *value_of(char **argv, int left)
{
	if (left < 2) {
		fprintf(stderr, "weft-tame: %s needs a value\n%s", argv[0], usage);
		exit(2);
	}
	return argv[1];
}

/* How many arguments it took. */
static int option(char **argv, int left)
{
	static const struct {
		const char *name;
		const char **value;
	} valued[] = { { "-o", &options.out },
		       { "-MF", &options.depfile },
		       { "-MT", &options.deptarget } };
	static const char *const apart[] = { "-I",        "-D",      "-U",       "-include",
					     "-imacros",  "-iquote", "-isystem", "-idirafter",
					     "-isysroot", "-target" };

	for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
		if (strcmp(argv[0], valued[i].name) != 0)
			continue;
		*valued[i].value = value_of(argv, left);
		return 2;
	}
	if (strcmp(argv[0], "-MD") == 0) {
		options.depend = true;
	} else if (strcmp(argv[0], "--Werror") == 0) {
		options.werror = true;
	} else if (strcmp(argv[0], "--help") == 0) {
		printf("%s%s", usage, help);
		exit(0);
	} else if (strcmp(argv[0], "--version") == 0) {
		puts("weft-tame " VERSION);
		exit(0);
	} else if (tame_begins(argv[0], "--cc=")) {
		options.compiler = argv[0] + 5;
	} else if (argv[0][0] == '-' && argv[0][1] != '\0') {
		compiler_flag(argv[0]);
		for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
			if (strcmp(argv[0], apart[i]) == 0) {
				compiler_flag(value_of(argv, left));
				return 2;
			}
	} else if (options.in != NULL) {
		fprintf(stderr, "weft-tame: one file at a time\n%s", usage);
		exit(2);
	} else {
		options.in = argv[0];
	}
	return 1;
}

/* dns.tame.c: dns.c; dns.tc: dns.c; anything.c: anything.tamed.c */
static const char *default_output(const char *in)
{
	const char *slash = strrchr(in, '/');
	const char *base = slash == NULL ? in : slash + 1;
	const char *dot = strstr(base, ".tame.c");

	if (dot == NULL)
		dot = strrchr(base, '.');
	if (dot == NULL)
		return tame_format("%s.c", in);
	if (strcmp(dot, ".c") == 0)
		return tame_format("%.*s.tamed.c", (int)(dot - in), in);
	return tame_format("%.*s.c", (int)(dot - in), in);
}

static void read_options(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i += option(argv + i, argc - i);
	for (i++; i < argc; i++)
		compiler_flag(argv[i]);
	if (options.in == NULL) {
		fputs(usage, stderr);
		exit(2);
	}
	if (options.out == NULL)
		options.out = default_output(options.in);
	if (strcmp(options.in, options.out) == 0) {
		fprintf(stderr, "weft-tame: %s would replace itself\n", options.in);
		exit(2);
	}
	if (options.depfile != NULL)
		options.depend = true;
	else
		options.depfile = tame_format("%s.d", options.out);
	if (options.deptarget == NULL)
		options.deptarget = options.out;
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	do {
		if (!tame_read_source(options.in)) {
			tame_remove_output();
			return 1;
		}
	} while (!tame_expand());
	tame_check_words();
	if (expanded.is_tame && tame_errors == 0) {
		tame_load();
		tame_parse();
	}
	if (expanded.is_tame && tame_errors == 0)
		tame_collect();
	for (size_t i = 0; i < function_count; i++) {
		unsigned before = tame_errors;

		tame_check(functions[i]);
		if (tame_errors == before)
			tame_place_variables(functions[i]);
	}
	for (size_t i = 0; i < function_count && tame_errors == 0; i++)
		tame_rewrite(functions[i]);
	if (tame_errors == 0 && tame_write())
		return 0;
	tame_remove_output();
	return 1;
}
