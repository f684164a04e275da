/* client.c - weft-sealed: gets and puts files of a weft-sealed-files server. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/flags.h"
#include "key.h"
#include "remote.h"

/* Before we ask again whether a file has changed. */
#define WATCH_MS 60000

static const char *server_at = "127.0.0.1:7733", *key_file, *name;
static uint64_t wait_ms = 10000;
static bool writing;
static struct remote remote;
static const char *subject; /* what an error is about */

static const struct flag list[] = {
	{ "server", "ADDRESS", "where", .text = &server_at },
	{ "key", "FILE", "this client's key", .text = &key_file },
	{ "name", "NAME", "this client's name; usually that of the key file", .text = &name },
	{ "wait", "MS", "for others that use the file", .number = &wait_ms, .most = UINT32_MAX },
	{ "write", NULL, "lease: keep others from reading, too", .given = &writing },
};

static const struct flags flags = {
	.program = "weft-sealed",
	.usage = "[FLAG...] COMMAND...",
	.about = "  get FILE [LOCAL]   copy a file from the server (-: standard output)\n"
		 "  put LOCAL [FILE]   copy a file to the server (-: standard input)\n"
		 "  ls [DIRECTORY]     list names\n"
		 "  rm FILE            remove a file\n"
		 "  watch FILE         print a line whenever it changes\n"
		 "  lease FILE         keep others from changing it; a line typed renews that\n"
		 "  key LOCAL          make a file with a new key",
	.list = list,
	.count = sizeof list / sizeof *list,
};

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Commands: each gives 0 or -Exxx, which is about `subject`. */

static int get_to(const char *path, int fd)
{
	int rc = remote_get(&remote, path, (uint32_t)wait_ms, fd);

	return close(fd) < 0 && rc == 0 ? -errno : rc;
}

static int replace(const char *path, const char *local, mode_t mode)
{
	char draft[PATH_MAX];
	int fd, rc;

	if (snprintf(draft, sizeof draft, "%s.XXXXXX", local) >= (int)sizeof draft)
		return -ENAMETOOLONG;
	fd = mkostemp(draft, O_CLOEXEC);
	if (fd < 0) {
		subject = local;
		return -errno;
	}
	rc = get_to(path, fd);
	if (rc == 0 && (chmod(draft, mode) < 0 || rename(draft, local) < 0))
		rc = -errno;
	if (rc < 0)
		unlink(draft);
	return rc;
}

/* A file that is here is replaced when all of the new one has come, and keeps its mode. What
 * is no file, as /dev/null, is written to. */
static int get(const char *path, const char *local)
{
	mode_t mask = umask(0);
	struct stat st;
	int fd;

	umask(mask);
	if (local == NULL)
		local = last_name(path);
	if (strcmp(local, "-") == 0)
		return remote_get(&remote, path, (uint32_t)wait_ms, STDOUT_FILENO);
	if (stat(local, &st) < 0)
		return replace(path, local, 0666 & ~mask);
	if (S_ISREG(st.st_mode))
		return replace(path, local, st.st_mode & 0777);
	fd = open(local, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		subject = local;
		return -errno;
	}
	return get_to(path, fd);
}

/* Opens a file that can be read: one of a directory would be found out only by reading. */
static int open_local(const char *local)
{
	int fd = open(local, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	return fd;
}

static int put(const char *local, const char *path)
{
	bool from_stdin = strcmp(local, "-") == 0;
	int fd = from_stdin ? STDIN_FILENO : open_local(local), rc;

	if (fd < 0)
		return fd;
	if (from_stdin && path == NULL)
		return -EDESTADDRREQ;
	subject = path != NULL ? path : last_name(local);
	rc = remote_put(&remote, subject, (uint32_t)wait_ms, fd);
	if (!from_stdin)
		close(fd);
	return rc;
}

static int ls(const char *path, const char *unused)
{
	struct reply reply = { 0 };
	struct request ask;
	int rc = remote_name(&ask, REQUEST_LIST, path != NULL ? path : "", 0);

	(void)unused;
	if (rc < 0)
		return rc;
	do {
		rc = remote_ask(&remote, &ask, &reply);
		if (rc == 0)
			fwrite(reply.data, 1, reply.data_size, stdout);
		ask.offset = reply.size;
	} while (rc == 0 && reply.size > 0);
	return rc;
}

static int rm(const char *path, const char *unused)
{
	struct reply reply;

	(void)unused;
	return remote_ask_about(&remote, REQUEST_REMOVE, path, (uint32_t)wait_ms, &reply);
}

static int watch(const char *path, const char *unused)
{
	struct reply reply = { 0 };
	struct request ask;
	int rc = remote_name(&ask, REQUEST_WATCH, path, WATCH_MS);

	(void)unused;
	while (rc == 0 || rc == -ETIMEDOUT) {
		rc = remote_ask(&remote, &ask, &reply);
		if (rc < 0)
			continue;
		if (reply.time == 0)
			printf("%s is gone\n", path);
		else
			printf("%s has %llu bytes\n", path, (unsigned long long)reply.size);
		fflush(stdout);
		ask.time = reply.time;
	}
	return rc;
}

/* A lease is renewed by each use: here, by reading or writing nothing. */
static int lease(const char *path, const char *unused)
{
	struct request ask;
	struct reply reply;
	char scrap[256];
	int rc = remote_ask_about(&remote, writing ? REQUEST_CREATE : REQUEST_OPEN, path,
				  (uint32_t)wait_ms, &reply);

	(void)unused;
	if (rc < 0)
		return rc;
	printf("%s is leased\n", path);
	fflush(stdout);
	ask = (struct request){ .type = writing ? REQUEST_WRITE : REQUEST_READ,
				.handle = reply.handle };
	while (rc == 0 && read(STDIN_FILENO, scrap, sizeof scrap) > 0)
		rc = remote_ask(&remote, &ask, &reply);
	return rc;
}

static const struct command {
	const char *name;
	int least, most; /* words behind it */
	int (*run)(const char *first, const char *second);
} commands[] = {
	{ "get", 1, 2, get }, { "put", 1, 2, put },     { "ls", 0, 1, ls },
	{ "rm", 1, 1, rm },   { "watch", 1, 1, watch }, { "lease", 1, 1, lease },
};

static const char *why_no_key(int rc)
{
	if (rc == -EPERM)
		return "others may read it: chmod 600";
	return rc == -EINVAL ? "not a key, as `weft-sealed key` makes them" : strerror(-rc);
}

static const char *why_not(int rc)
{
	switch (rc) {
	case -EAGAIN:
		return "the server does not answer";
	case -EBUSY:
		return "others use it";
	case -ECANCELED:
		return "the server stops";
	case -EDESTADDRREQ:
		return "say how it is to be named there";
	case -EINVAL:
		return "no path there: names with slashes between them, without . and ..";
	case -ENODATA:
		return "the server closed the connection";
	case -ESTALE:
		return "the lease was lost";
	default:
		return strerror(-rc);
	}
}

static const char *why_no_server(int rc)
{
	if (rc == -EBADMSG)
		return "wrong key, or not the server that has it";
	return rc == -EINVAL ? "no such address; host:port is meant" : why_not(rc);
}

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "weft-sealed: %s: %s\n", what, why);
	return EXIT_FAILURE;
}

/* 0, or 2 after it has said what is wrong. */
static int find_command(char **words, int count, const struct command **command)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		*command = &commands[i];
		if (strcmp((*command)->name, words[0]) != 0)
			continue;
		if (count > (*command)->least && count - 1 <= (*command)->most)
			return 0;
		complain(words[0], "too few or too many words behind it (see --help)");
		return 2;
	}
	complain(words[0], "no such command (see --help)");
	return 2;
}

static int run(const struct command *command, char **words, int count)
{
	const char *first = count > 1 ? words[1] : NULL, *second = count > 2 ? words[2] : NULL;
	uint8_t key[SEAL_KEY];
	int rc = key_load(key_file, key);

	if (rc < 0)
		return complain(key_file, why_no_key(rc));
	rc = remote_open(&remote, server_at, name != NULL ? name : last_name(key_file), key);
	OPENSSL_cleanse(key, sizeof key);
	if (rc < 0)
		return complain(server_at, why_no_server(rc));
	subject = first != NULL ? first : command->name;
	rc = command->run(first, second);
	remote_close(&remote);
	return rc < 0 ? complain(subject, why_not(rc)) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const struct command *command;
	int first, rc = flags_read(&flags, argc, argv, &first);
	char **words;

	if (rc >= 0)
		return rc;
	words = argv + first;
	if (argc - first == 2 && strcmp(words[0], "key") == 0) {
		rc = key_make(words[1]);
		return rc < 0 ? complain(words[1], strerror(-rc)) : EXIT_SUCCESS;
	}
	if (argc == first || key_file == NULL) {
		fputs("weft-sealed: needs --key and a command, in this order (see --help)\n",
		      stderr);
		return 2;
	}
	rc = find_command(words, argc - first, &command);
	return rc != 0 ? rc : run(command, words, argc - first);
}
