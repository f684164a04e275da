/* main.c - weft-check: finds calls that may wait where none may. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/def.h>

#include "check.h"

struct options options;

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define VERSION TEXT(WEFT_VERSION_MAJOR) "." TEXT(WEFT_VERSION_MINOR) "." TEXT(WEFT_VERSION_PATCH)

static const char usage[] = "usage: weft-check [OPTION...] -p DATABASE [FILE...]\n"
			    "       weft-check [OPTION...] FILE... [-- COMPILER FLAGS]\n";

static const char help[] =
	"Finds calls that may wait in functions that are WEFT_NO_WAIT and in WEFT_ATOMIC blocks\n"
	"(weft/def.h), directly or through other functions.\n"
	"\n"
	"  -p DATABASE  a compile_commands.json, or the folder of one. Of the files that it names\n"
	"               those are read that are named here, or lie in a folder that is; without "
	"any\n"
	"               all are\n"
	"  --strict     say also of which functions it is not known whether they wait\n"
	"  --blocking   calls of libc that block the kernel thread, such as sleep, count as "
	"waiting\n"
	"  --handlers   functions that Weft calls as handlers of events must not wait either\n"
	"  --version, --help\n"
	"\n"
	"Exit status: 0 nothing found, 1 something found, 2 wrong options, or a file could not be\n"
	"read. WEFT_LIBCLANG in the environment names the libclang to use.\n";

static const char *database;
static const char **files;
static size_t file_count;

_Noreturn void tame_fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("weft-check: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	exit(2);
}

static _Noreturn void refuse(const char *why)
{
	fprintf(stderr, "weft-check: %s\n%s", why, usage);
	exit(2);
}

/* How many arguments it took. */
static int option(char **argv, int left)
{
	if (strcmp(argv[0], "-p") == 0) {
		if (left < 2 || database != NULL)
			refuse("-p needs one database");
		database = argv[1];
		return 2;
	}
	if (strcmp(argv[0], "--strict") == 0) {
		options.strict = true;
	} else if (strcmp(argv[0], "--blocking") == 0) {
		options.blocking = true;
	} else if (strcmp(argv[0], "--handlers") == 0) {
		options.handlers = true;
	} else if (strcmp(argv[0], "--help") == 0) {
		printf("%s%s", usage, help);
		exit(0);
	} else if (strcmp(argv[0], "--version") == 0) {
		puts("weft-check " VERSION);
		exit(0);
	} else if (argv[0][0] == '-') {
		refuse(tame_format("unknown option %s", argv[0]));
	} else {
		*ADD(files, file_count) = check_absolute(".", argv[0]);
	}
	return 1;
}

static void read_arguments(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i += option(argv + i, argc - i);
	if (database != NULL && i < argc)
		refuse("the database has the compiler's flags: none can follow --");
	if (database == NULL && file_count == 0)
		refuse("no file is named");
	if (database != NULL) {
		check_read_database(database, files, file_count);
		return;
	}
	for (size_t k = 0; k < file_count; k++)
		check_take_flags(check_add_source(files[k], "."),
				 (const char *const *)argv + i + (i < argc),
				 (size_t)(argc - i - (i < argc)));
}

/* What is said does not depend on the order in which files are named. */
static int by_path(const void *a, const void *b)
{
	return strcmp((*(struct source *const *)a)->path, (*(struct source *const *)b)->path);
}

int main(int argc, char **argv)
{
	read_arguments(argc, argv);
	tame_load();
	if (source_count > 0)
		qsort(sources, source_count, sizeof(struct source *), by_path);
	for (size_t i = 0; i < source_count; i++)
		check_parse(sources[i]);
	check_search();
	if (check_report() > 0)
		return 1;
	if (check_promised == 0)
		fputs("weft-check: nothing was checked: no function is WEFT_NO_WAIT, and no block "
		      "WEFT_ATOMIC\n",
		      stderr);
	return check_unread > 0 ? 2 : 0;
}
