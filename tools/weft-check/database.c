/* database.c - reads a compilation database: compile_commands.json. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static const char *name, *at;

static _Noreturn void wrong(const char *what)
{
	tame_fail("%s: %s: is it a compile_commands.json?", name, what);
}

char *check_read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	struct text text = { 0 };
	char bytes[16384];
	size_t n;

	if (file == NULL)
		return NULL;
	while ((n = fread(bytes, 1, sizeof bytes, file)) > 0)
		tame_add(&text, bytes, n);
	fclose(file);
	*size = text.size;
	return text.at == NULL ? tame_copy("", 0) : text.at;
}

static void space(void)
{
	at += strspn(at, " \t\r\n");
}

static bool take(char c)
{
	space();
	if (*at != c)
		return false;
	at++;
	return true;
}

static void want(char c)
{
	if (!take(c))
		wrong(tame_format("expected '%c'", c));
}

/* \u as UTF-8; pairs of surrogates are not put together. */
static void escaped(struct text *t)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *known = *at == '\0' ? NULL : strchr(from, *at);
	char hex[5] = "", utf8[3];
	unsigned code;

	if (*at != 'u') {
		tame_add(t, known != NULL ? &to[known - from] : at, 1);
		at++;
		return;
	}
	strncpy(hex, at + 1, 4);
	code = (unsigned)strtoul(hex, NULL, 16);
	at += 1 + strlen(hex);
	utf8[0] = (char)(code < 0x80 ? code : code < 0x800 ? 0xc0 | code >> 6 : 0xe0 | code >> 12);
	if (code >= 0x800)
		utf8[1] = (char)(0x80 | (code >> 6 & 0x3f));
	utf8[code < 0x800 ? 1 : 2] = (char)(0x80 | (code & 0x3f));
	tame_add(t, utf8, code < 0x80 ? 1 : code < 0x800 ? 2 : 3);
}

static const char *string(void)
{
	struct text t = { 0 };

	want('"');
	while (*at != '"') {
		if (*at == '\0')
			wrong("a string has no end");
		if (*at == '\\' && at[1] != '\0') {
			at++;
			escaped(&t);
		} else {
			tame_add(&t, at++, 1);
		}
	}
	at++;
	return t.at == NULL ? "" : t.at;
}

static void skip_value(void)
{
	unsigned depth = 0;

	do {
		space();
		if (*at == '"') {
			string();
			continue;
		}
		if (*at == '\0')
			wrong("it ends too early");
		if (*at == '[' || *at == '{')
			depth++;
		else if (*at == ']' || *at == '}')
			depth--;
		at++;
	} while (depth > 0 || strchr(",}]", *at) == NULL);
}

struct entry {
	const char *directory, *file;
	const char **arguments;
	size_t argument_count;
};

/* Splits a command as a shell does. */
static void split(struct entry *e, const char *command)
{
	struct text word = { 0 };
	bool in_word = false;
	char quote = '\0';

	for (const char *c = command;; c++) {
		if (*c == '\0' || (quote == '\0' && strchr(" \t\n", *c) != NULL)) {
			if (in_word)
				*ADD(e->arguments, e->argument_count) =
					word.at == NULL ? "" : word.at;
			word = (struct text){ 0 };
			in_word = false;
			if (*c == '\0')
				return;
			continue;
		}
		in_word = true;
		if (*c == quote)
			quote = '\0';
		else if (quote == '\0' && (*c == '"' || *c == '\''))
			quote = *c;
		else if (*c == '\\' && quote != '\'' && c[1] != '\0')
			tame_add(&word, ++c, 1);
		else
			tame_add(&word, c, 1);
	}
}

static void take_arguments(struct entry *e)
{
	want('[');
	while (!take(']')) {
		*ADD(e->arguments, e->argument_count) = string();
		take(',');
	}
}

static struct entry read_entry(void)
{
	struct entry e = { 0 };

	want('{');
	while (!take('}')) {
		const char *key = string();

		want(':');
		if (strcmp(key, "directory") == 0)
			e.directory = string();
		else if (strcmp(key, "file") == 0)
			e.file = string();
		else if (strcmp(key, "command") == 0)
			split(&e, string());
		else if (strcmp(key, "arguments") == 0)
			take_arguments(&e);
		else
			skip_value();
		take(',');
	}
	if (e.directory == NULL || e.file == NULL)
		wrong("an entry has no directory or no file");
	return e;
}

/* The second line of a file that weft-tame wrote names the original. The original is read instead:
 * it has twait and its blocks. */
static const char *original(const char *path, const char *directory)
{
	static const char mark[] = "#define WEFT_TAME_TRANSLATED 1\n#line 1 ";
	const char *file, *text, *begin;
	size_t size;

	text = check_read_file(path, &size);
	begin = text == NULL ? NULL : strstr(text, mark);
	if (begin == NULL || begin > text + 200)
		return path;
	at = begin + strlen(mark);
	file = check_absolute(directory, string());
	return access(file, R_OK) == 0 ? file : path;
}

/* Whether the file is to be read: all are, if the user names none. Users may name folders. */
static bool is_wanted(const char *path, const char *const *files, bool *met, size_t count)
{
	bool wanted = count == 0;

	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(files[i]);

		if (strncmp(path, files[i], length) != 0)
			continue;
		if (path[length] == '\0' || path[length] == '/')
			wanted = met[i] = true;
	}
	return wanted;
}

static void take_entry(const char *const *files, bool *met, size_t count)
{
	struct entry e = read_entry();
	const char *path = check_absolute(e.directory, e.file), *rest = at;
	const char *source = original(path, e.directory), *dot = strrchr(source, '.');
	bool by_path = is_wanted(path, files, met, count);

	at = rest;
	if (!is_wanted(source, files, met, count) && !by_path)
		return;
	if (dot == NULL || strcmp(dot, ".S") == 0 || strcmp(dot, ".s") == 0)
		return;
	check_take_flags(check_add_source(source, e.directory), e.arguments, e.argument_count);
}

static const char *file_in(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return tame_format("%s/compile_commands.json", path);
	return path;
}

void check_read_database(const char *path, const char *const *files, size_t count)
{
	bool *met = tame_alloc(count + 1);
	size_t size;

	name = file_in(path);
	at = check_read_file(name, &size);
	if (at == NULL)
		tame_fail("%s: %s", name, strerror(errno));
	want('[');
	while (!take(']')) {
		take_entry(files, met, count);
		take(',');
	}
	for (size_t i = 0; i < count; i++)
		if (!met[i])
			tame_fail("%s: %s does not name it", files[i], name);
}
