/* site.c - starts a server and connects to it. */
#include "site.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "key.h"

struct program server;
char site[64], address[64];
uint8_t ann_key[SEAL_KEY];
struct reply reply;

const char *at(const char *name)
{
	static char path[MESSAGE_PATH + 64];

	snprintf(path, sizeof path, "%s/%s", site, name);
	return path;
}

void write_file(const char *name, const void *data, size_t size)
{
	FILE *out = fopen(at(name), "w");

	CHECK(out != NULL);
	CHECK_EQ(fwrite(data, 1, size, out), size);
	CHECK_EQ(fclose(out), 0);
}

bool exists(const char *name)
{
	return access(at(name), F_OK) == 0;
}

static const char *program_path(const char *name)
{
	static char path[512];

	CHECK(getenv("WEFT_SEALED") != NULL);
	snprintf(path, sizeof path, "%s/%s", getenv("WEFT_SEALED"), name);
	return path;
}

static void make_site(void)
{
	strcpy(site, "/tmp/weft-sealed-XXXXXX");
	CHECK(mkdtemp(site) != NULL);
	CHECK_EQ(mkdir(at("root"), 0755), 0);
	CHECK_EQ(mkdir(at("root/dir"), 0755), 0);
	CHECK_EQ(mkdir(at("keys"), 0700), 0);
	CHECK_EQ(key_make(at("keys/ann")), 0);
	CHECK_EQ(key_make(at("keys/bob")), 0);
	CHECK_EQ(key_load(at("keys/ann"), ann_key), 0);
}

static void remove_site(void)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'", site);
	CHECK_EQ(system(command), 0);
}

void server_again(const char *const flags[])
{
	const char *words[32] = { "--listen", "127.0.0.1:0", "--root", NULL, "--keys" };
	char root[96], keys[96];
	int n = 6;

	snprintf(root, sizeof root, "%s/root", site);
	snprintf(keys, sizeof keys, "%s/keys", site);
	words[3] = root;
	words[5] = keys;
	if (getenv("WEFT_SEALED_SERIAL") != NULL)
		words[n++] = "--serial";
	while (*flags != NULL && n < 31)
		words[n++] = *flags++;
	program_start(&server, program_path("weft-sealed-files"), words);
	CHECK_EQ(sscanf(program_line(&server), "weft-sealed-files: %63s", address), 1);
}

void server_begin(const char *const flags[])
{
	make_site();
	server_again(flags);
}

int left_behind(const char *name)
{
	const struct dirent *entry;
	DIR *dir = opendir(at(name));
	int n = 0;

	CHECK(dir != NULL);
	while ((entry = readdir(dir)) != NULL)
		n += strncmp(entry->d_name, MESSAGE_HIDDEN, strlen(MESSAGE_HIDDEN)) == 0;
	closedir(dir);
	return n;
}

void server_end(void)
{
	CHECK_EQ(kill(server.pid, SIGTERM), 0);
	CHECK(strncmp(program_line(&server), "stopped after ", 14) == 0);
	CHECK_EQ(program_end(&server, 0), 0);
	CHECK_EQ(left_behind("root") + left_behind("root/dir"), 0);
	remove_site();
}

/* Clients */

void enter(struct remote *r)
{
	CHECK_EQ(remote_open(r, address, "ann", ann_key), 0);
}

int ask_path(struct remote *r, enum request_type type, const char *path, uint32_t wait)
{
	struct request ask = { .type = type, .wait = wait };

	snprintf(ask.path, sizeof ask.path, "%s", path);
	return remote_ask(r, &ask, &reply);
}

int ask_handle(struct remote *r, enum request_type type, uint32_t handle)
{
	struct request ask = { .type = type, .handle = handle };

	return remote_ask(r, &ask, &reply);
}

void check_closed(struct remote *r)
{
	uint8_t byte;
	ssize_t n = channel_plain.read(r->channel.fd, &byte, 1, 0);

	CHECK(n == 0 || n == -ECONNRESET);
	remote_close(r);
}

void client_start(struct program *p, const char *const words[])
{
	const char *all[32] = { "--server", address, "--key" };
	char key[96];
	int n = 4;

	snprintf(key, sizeof key, "%s/keys/ann", site);
	all[3] = key;
	while (*words != NULL && n < 31)
		all[n++] = *words++;
	*p = (struct program){ 0 };
	program_start(p, program_path("weft-sealed"), all);
}
