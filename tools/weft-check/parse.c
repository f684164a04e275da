/* parse.c - has libclang read one file, and says where in the sources things are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

unsigned check_unread;
static CXTranslationUnit unit;

/* What a command says, if that is a folder. */
static const char *folder_from(const char *command)
{
	FILE *pipe = popen(command, "r");
	char line[4096];
	bool fine;

	if (pipe == NULL)
		return NULL;
	fine = fgets(line, sizeof line, pipe) != NULL;
	pclose(pipe);
	if (!fine || line[0] != '/')
		return NULL;
	return tame_copy(line, strcspn(line, "\n"));
}

/* The folder of the compiler's own headers, for a libclang without its own. */
static const char *compiler_headers(void)
{
	const char *folder = folder_from("clang -print-resource-dir 2>/dev/null");

	if (folder != NULL)
		return tame_format("%s/include", folder);
	return folder_from("cc -print-file-name=include 2>/dev/null");
}

static bool is_cxx(const char *path)
{
	static const char *const ends[] = { ".cc", ".cpp", ".cxx", ".C", ".c++" };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; i < sizeof ends / sizeof *ends && dot != NULL; i++)
		if (strcmp(dot, ends[i]) == 0)
			return true;
	return false;
}

static bool parse(CXIndex index, const struct source *s, const char *headers)
{
	const char **arguments = NULL;
	size_t count = 0;

	*ADD(arguments, count) = is_cxx(s->path) ? "-xc++" : "-xc";
	*ADD(arguments, count) = is_cxx(s->path) ? "-std=gnu++17" : "-std=gnu11";
	for (size_t i = 0; i < s->flag_count; i++)
		*ADD(arguments, count) = s->flags[i];
	if (headers != NULL) {
		*ADD(arguments, count) = "-isystem";
		*ADD(arguments, count) = headers;
	}
	return clang.parseTranslationUnit2(index, s->path, arguments, (int)count, NULL, 0, 0,
					   &unit) == 0;
}

/* The files of a unit, by what libclang knows them by. */
struct file {
	CXFile file;
	const char *path, *text;
	size_t size;
};
static struct file *files;
static size_t file_count;

/* As it is seen from the current folder. */
static const char *shown(const char *path)
{
	static char *here;

	if (here == NULL)
		here = realpath(".", NULL);
	if (here != NULL && strncmp(path, here, strlen(here)) == 0 && path[strlen(here)] == '/')
		return path + strlen(here) + 1;
	return path;
}

static struct file *file_of(CXFile file)
{
	struct file *f;
	const char *path;

	for (size_t i = file_count; i > 0; i--)
		if (files[i - 1].file == file)
			return &files[i - 1];
	path = tame_string(clang.File_tryGetRealPathName(file));
	if (path[0] == '\0')
		path = tame_string(clang.getFileName(file));
	f = ADD(files, file_count);
	f->file = file;
	f->path = shown(path);
	f->text = clang.getFileContents(unit, file, &f->size);
	return f;
}

struct place check_place(CXSourceLocation location)
{
	struct place where = { "", 0, 0 };
	CXFile file;

	clang.getFileLocation(location, &file, &where.line, &where.column, NULL);
	if (file != NULL)
		where.file = file_of(file)->path;
	return where;
}

const char *check_word(CXSourceLocation location)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	CXFile file;
	unsigned offset;
	struct file *f;

	clang.getFileLocation(location, &file, NULL, NULL, &offset);
	if (file == NULL || (f = file_of(file))->text == NULL || offset >= f->size)
		return "";
	return tame_copy(f->text + offset, strspn(f->text + offset, letters));
}

/* The text of an expression, for a report: "" if it is long or has several lines. */
const char *check_text(CXSourceRange range)
{
	enum { LONGEST = 60 };
	CXFile file, end_file;
	unsigned begin, end;
	struct file *f;

	clang.getFileLocation(clang.getRangeStart(range), &file, NULL, NULL, &begin);
	clang.getFileLocation(clang.getRangeEnd(range), &end_file, NULL, NULL, &end);
	if (file == NULL || file != end_file || end <= begin || end - begin > LONGEST)
		return "";
	f = file_of(file);
	if (f->text == NULL || end > f->size || memchr(f->text + begin, '\n', end - begin) != NULL)
		return "";
	return tame_copy(f->text + begin, end - begin);
}

const char *check_name(CXCursor c)
{
	return tame_string(clang.getCursorSpelling(c));
}

struct nth {
	size_t wanted, seen;
	CXCursor child;
};

static int look_for_child(CXCursor child, CXCursor parent, void *arg)
{
	struct nth *n = arg;

	(void)parent;
	if (n->seen++ != n->wanted)
		return CXVisit_Continue;
	n->child = child;
	return CXVisit_Break;
}

CXCursor check_child(CXCursor c, size_t index)
{
	struct nth n = { index, 0, { .kind = 0 } };

	clang.visitChildren(c, look_for_child, &n);
	return n.child;
}

size_t check_children(CXCursor c)
{
	struct nth n = { SIZE_MAX, 0, { .kind = 0 } };

	clang.visitChildren(c, look_for_child, &n);
	return n.seen;
}

/* The first error in it, or NULL. */
static const char *first_error(void)
{
	const char *text = NULL;

	for (unsigned i = 0; i < clang.getNumDiagnostics(unit) && text == NULL; i++) {
		CXDiagnostic d = clang.getDiagnostic(unit, i);
		struct place where = check_place(clang.getDiagnosticLocation(d));

		if (clang.getDiagnosticSeverity(d) >= CXDiagnostic_Error)
			text = tame_format("%s:%u:%u: error: %s", where.file, where.line,
					   where.column,
					   tame_string(clang.getDiagnosticSpelling(d)));
		clang.disposeDiagnostic(d);
	}
	return text;
}

static bool lacks_headers(const char *error)
{
	static const char *const own[] = { "'stddef.h' file not found",
					   "'stdbool.h' file not found",
					   "'stdarg.h' file not found",
					   "'stdint.h' file not found" };

	for (size_t i = 0; i < sizeof own / sizeof *own && error != NULL; i++)
		if (strstr(error, own[i]) != NULL)
			return true;
	return false;
}

static void dispose(void)
{
	if (unit != NULL)
		clang.disposeTranslationUnit(unit);
	unit = NULL;
	files = NULL;
	file_count = 0;
}

static const char *unreadable(const struct source *s)
{
	if (access(s->path, R_OK) == 0)
		return tame_format("%s: libclang cannot read it", shown(s->path));
	return tame_format("%s: %s: build the program first, if the build makes the file",
			   shown(s->path), strerror(errno));
}

void check_parse(struct source *s)
{
	static const char *headers;
	CXIndex index = clang.createIndex(0, 0);
	const char *error = NULL;
	bool read = parse(index, s, headers);

	if (read && headers == NULL && lacks_headers(first_error())) {
		headers = compiler_headers();
		dispose();
		read = parse(index, s, headers);
	}
	error = read ? first_error() : unreadable(s);
	if (error != NULL) {
		fprintf(stderr, "%s\n", error);
		check_unread++;
	}
	if (read)
		check_collect(clang.getTranslationUnitCursor(unit), s);
	dispose();
	clang.disposeIndex(index);
}
