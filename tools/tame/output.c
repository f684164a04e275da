/* output.c - writes the result, whole or not at all, and what it depends on. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

/* /dev/null and its like are written to, and neither replaced nor removed. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Nothing stale is left to be compiled. */
void tame_remove_output(void)
{
	if (options.out != NULL && !is_special(options.out))
		unlink(options.out);
}

static bool replace(const char *path, const struct text *t)
{
	bool special = is_special(path), fine;
	const char *temporary = special ? path : tame_format("%s.tmp%ld", path, (long)getpid());
	FILE *file = fopen(temporary, "wb");

	if (file == NULL) {
		fprintf(stderr, "weft-tame: %s: %s\n", temporary, strerror(errno));
		return false;
	}
	fine = fwrite(t->at, 1, t->size, file) == t->size;
	fine = fclose(file) == 0 && fine;
	fine = fine && (special || rename(temporary, path) == 0);
	if (!fine) {
		fprintf(stderr, "weft-tame: %s: %s\n", path, strerror(errno));
		if (!special)
			unlink(temporary);
	}
	return fine;
}

/* As make reads it. */
static void put_path(struct text *t, const char *path)
{
	for (; *path != '\0'; path++) {
		if (*path == ' ' || *path == '#')
			tame_put(t, "\\");
		if (*path == '$')
			tame_put(t, "$");
		tame_add(t, path, 1);
	}
}

/* Files that the preprocessor read: not <built-in> and its like. */
static bool is_file(const char *name)
{
	return name[0] != '<' && name[0] != '\0' && strcmp(name, options.in) != 0;
}

static bool write_dependencies(void)
{
	struct text t = { 0 };

	put_path(&t, options.deptarget);
	tame_put(&t, ": ");
	put_path(&t, options.in);
	for (size_t i = 0; i < expanded.file_count; i++) {
		if (!is_file(expanded.files[i]))
			continue;
		tame_put(&t, " \\\n  ");
		put_path(&t, expanded.files[i]);
	}
	tame_put(&t, "\n");
	return replace(options.depfile, &t);
}

bool tame_write(void)
{
	struct text out = { 0 };

	tame_put(&out, "#define WEFT_TAME_TRANSLATED 1\n#line 1 ");
	tame_put_string(&out, options.in, strlen(options.in));
	tame_put(&out, "\n");
	tame_put_back(&out);
	if (tame_errors > 0)
		return false;
	if (options.depend && !write_dependencies())
		return false;
	return replace(options.out, &out);
}
