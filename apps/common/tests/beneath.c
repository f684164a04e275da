/* beneath.c - no path leaves a directory, with openat2(2) or without it. */
#include <sys/syscall.h>

static long openat2_number = SYS_openat2;
#undef SYS_openat2
#define SYS_openat2 openat2_number

#include "../beneath.c"

#include <stdio.h>
#include <stdlib.h>

#include "harness/test.h"

enum { NO_SUCH_CALL = 100000 };

static char top[64];

static void make(const char *command)
{
	char line[256];

	snprintf(line, sizeof line, "cd '%s' && %s", top, command);
	CHECK_EQ(system(line), 0);
}

static void make_tree(void)
{
	strcpy(top, "/tmp/weft-beneath-XXXXXX");
	CHECK(mkdtemp(top) != NULL);
	make("mkdir -p root/a/b && echo x >root/a/b/file && echo secret >secret");
	make("ln -s ../secret root/up && ln -s /etc root/etc && ln -s a/b/file root/in");
	make("ln -s .. root/out");
}

static int try_open(int root, const char *path)
{
	int fd = beneath_open(root, path, O_RDONLY, false);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* A name that is too long leaves nothing open. */
static void check_long(int root)
{
	int next = dup(root);
	char path[400];

	close(next);
	memset(path, 'x', sizeof path);
	memcpy(path, "a/b/", 4);
	strcpy(path + sizeof path - 3, "/x");
	CHECK_EQ(try_open(root, path), -ENAMETOOLONG);
	CHECK_EQ(dup(root), next);
	close(next);
}

static void check_all(bool links)
{
	char path[80];
	int root;

	make_tree();
	snprintf(path, sizeof path, "%s/root", top);
	root = open(path, O_PATH | O_DIRECTORY);
	CHECK(root >= 0);
	CHECK_EQ(try_open(root, "a/b/file"), 0);
	CHECK_EQ(try_open(root, ""), 0);
	CHECK_EQ(try_open(root, "a/b/"), 0);
	CHECK_EQ(try_open(root, "a/b/file/"), -ENOTDIR);
	CHECK_EQ(try_open(root, "in"), links ? 0 : -ELOOP);
	CHECK_EQ(try_open(root, "a/none"), -ENOENT);
	CHECK_EQ(try_open(root, "../secret"), -EXDEV);
	CHECK_EQ(try_open(root, "a/../../secret"), -EXDEV);
	CHECK_EQ(try_open(root, "a/.."), links ? 0 : -EXDEV);
	CHECK_EQ(try_open(root, ".."), -EXDEV);
	CHECK_EQ(try_open(root, "/etc/passwd"), -EXDEV);
	CHECK(try_open(root, "up") < 0);
	CHECK(try_open(root, "etc/passwd") < 0);
	CHECK(try_open(root, "etc") < 0);
	CHECK(try_open(root, "etc/") < 0);
	CHECK(try_open(root, "out/") < 0);
	CHECK(try_open(root, "out/secret") < 0);
	check_long(root);
	CHECK(try_open(root, "/proc/self/root/etc/passwd") < 0);
	close(root);
	make("rm -rf root secret");
	CHECK_EQ(rmdir(top), 0);
}

TEST(no_path_leaves_a_directory)
{
	check_all(true);
}

TEST(no_path_leaves_it_on_old_kernels)
{
	openat2_number = NO_SUCH_CALL;
	check_all(false);
	CHECK(atomic_load(&no_openat2));
}

TEST_MAIN
