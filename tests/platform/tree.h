/* tree.h - made-up sysfs and proc trees in a directory of their own, in memory if it
 * can be: they are thousands of files. */
#ifndef TESTS_TREE_H
#define TESTS_TREE_H

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/test.h"

static char tree[64];

static void tree_begin(void)
{
	snprintf(tree, sizeof tree, "/dev/shm/weft-tree-XXXXXX");
	if (mkdtemp(tree) != NULL)
		return;
	snprintf(tree, sizeof tree, "/tmp/weft-tree-XXXXXX");
	CHECK(mkdtemp(tree) != NULL);
}

static int tree_remove(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static void tree_end(void)
{
	CHECK_EQ(nftw(tree, tree_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* The directories that lead to a file whose path begins with that of the tree. */
static void tree_lead_to(char *path)
{
	char *slash = path + strlen(tree);

	while ((slash = strchr(slash + 1, '/')) != NULL) {
		*slash = '\0';
		CHECK(mkdir(path, 0777) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

/* Writes a file, and the directories that lead there. */
static void tree_put(const char *content, const char *path, ...)
{
	char full[PATH_MAX];
	size_t used = (size_t)snprintf(full, sizeof full, "%s/", tree);
	va_list args;
	FILE *file;

	va_start(args, path);
	vsnprintf(full + used, sizeof full - used, path, args);
	va_end(args);
	file = fopen(full, "w");
	if (file == NULL) {
		tree_lead_to(full);
		file = fopen(full, "w");
	}
	CHECK(file != NULL);
	CHECK(fputs(content, file) >= 0);
	CHECK_EQ(fclose(file), 0);
}

/* "5" or "4-7", as the kernel writes. */
static inline const char *tree_range(int low, int high)
{
	static char text[32];

	if (low == high)
		snprintf(text, sizeof text, "%d\n", low);
	else
		snprintf(text, sizeof text, "%d-%d\n", low, high);
	return text;
}

#endif
