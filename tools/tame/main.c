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
	"usage: weft-tame [-o OUT.c] [-MD] [-MF FILE] [-MT TARGET] IN.tame.c [-- COMPILER FLAGS]\n";

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
	"Of the compiler's flags those count that say what is included and defined (-I -iquote\n"
	"-isystem -include -D -U -std -m... --target); the others are ignored. @FILE stands for "
	"the\n"
	"flags in it, each on a line of its own.\n"
	"WEFT_LIBCLANG in the environment names the libclang to use.\n";

static void add_flag(const char *flag)
{
	*ADD(options.flags, options.flag_count) = flag;
}

static void add_folder(const char *folder)
{
	*ADD(options.folders, options.folder_count) = folder;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* One that has its value behind it or as the next argument: how many it took, or 0. */
static int valued_flag(char **argv, int left)
{
	static const char *const known[] = { "-I",        "-iquote",   "-isystem", "-idirafter",
					     "-include",  "-imacros",  "-D",       "-U",
					     "-isysroot", "--sysroot", "-target" };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const char *value = argv[0] + strlen(known[i]);
		bool apart;

		if (!begins(argv[0], known[i]))
			continue;
		apart = *value == '\0';
		if (apart && left < 2)
			return 0;
		if (apart)
			value = argv[1];
		add_flag(argv[0]);
		if (apart)
			add_flag(value);
		if (strcmp(known[i], "-I") == 0 || strcmp(known[i], "-iquote") == 0 ||
		    strcmp(known[i], "-isystem") == 0 || strcmp(known[i], "-idirafter") == 0)
			add_folder(value);
		return apart ? 2 : 1;
	}
	return 0;
}

static int compiler_flag(char **argv, int left);

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
			compiler_flag(&flag, 1);
	}
	free(line);
	fclose(file);
}

/* Those that change what the source means; clang does not know all others. */
static int compiler_flag(char **argv, int left)
{
	static const char *const known[] = { "-m32",          "-m64",          "-mx32",
					     "-march=",       "-mcpu=",        "-mavx",
					     "-msse",         "--target=",     "-funsigned-char",
					     "-fsigned-char", "-fshort-enums", "-pthread",
					     "-ansi" };
	int took = valued_flag(argv, left);

	if (argv[0][0] == '@')
		flags_of_file(argv[0] + 1);
	if (took > 0)
		return took;
	/* libclang would not look into the blocks of tasks */
	if (strcmp(argv[0], "-fopenmp") == 0)
		add_flag("-D_OPENMP=201511");
	if (begins(argv[0], "-std="))
		add_flag(strstr(argv[0], "23") == NULL ? argv[0] : "-std=gnu2x");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (begins(argv[0], known[i]))
			add_flag(argv[0]);
	return 1;
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
	} else if (argv[0][0] == '-' && argv[0][1] != '\0') {
		return compiler_flag(argv, left);
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
	for (i++; i < argc;)
		i += compiler_flag(argv + i, argc - i);
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
	if (!tame_read_source(options.in)) {
		tame_remove_output();
		return 1;
	}
	tame_load();
	tame_lex();
	tame_parse();
	if (tame_errors == 0)
		tame_collect();
	for (size_t i = 0; i < function_count; i++)
		tame_check(functions[i]);
	for (size_t i = 0; i < function_count && tame_errors == 0; i++)
		tame_place_variables(functions[i]);
	for (size_t i = 0; i < function_count && tame_errors == 0; i++)
		tame_rewrite(functions[i]);
	if (tame_errors == 0 && tame_write())
		return 0;
	tame_remove_output();
	return 1;
}
