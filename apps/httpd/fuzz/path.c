/* path.c - paths: none leaves the root, none names a hidden file.
 * With: apps/httpd/path.c
 */
#include "path.h"
#include "harness/fuzz.h"

static void check_name(const char *name, size_t size)
{
	MUST(size > 0);
	MUST(name[0] != '.' || (size == 11 && memcmp(name, ".well-known", 11) == 0));
}

FUZZ(in, size)
{
	char out[PATH_SIZE], *at = out;

	if (path_clean((struct text){ in, size }, out) != 0)
		return;
	MUST(memchr(out, '\0', sizeof out) != NULL && strlen(out) <= size);
	while (*at != '\0') {
		size_t name = strcspn(at, "/");

		check_name(at, name);
		at += name + (at[name] == '/');
	}
}
