/* site.h - a server with files and keys of its own, and clients of it. WEFT_SEALED names the
 * directory of the programs. */
#ifndef SEALED_TESTS_SITE_H
#define SEALED_TESTS_SITE_H

#include "common/tests/program.h"
#include "harness/test.h"
#include "remote.h"

extern struct program server;
extern char site[64], address[64];
extern uint8_t ann_key[SEAL_KEY];

/* Starts a server with these flags, which NULL ends; "ann" and "bob" have keys. */
void server_begin(const char *const flags[]);
#define SERVER(...) server_begin((const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

/* Starts another one for the same files, which `server` is then. */
void server_again(const char *const flags[]);

/* Files in a directory with names of the server's own. */
int left_behind(const char *name);

/* Ends it in good order: all that it opened it has closed, and it left no file behind. */
void server_end(void);

/* A path below the site: "root/x", "keys/ann". Good until the next call. */
const char *at(const char *name);
void write_file(const char *name, const void *data, size_t size);
bool exists(const char *name);

/* A connection of ann's. */
void enter(struct remote *r);

/* One request, and what the server says. `reply` holds the rest. */
extern struct reply reply;
int ask_path(struct remote *r, enum request_type type, const char *path, uint32_t wait);
int ask_handle(struct remote *r, enum request_type type, uint32_t handle);

/* Waits until the server has closed the connection. */
void check_closed(struct remote *r);

/* Starts the client program with these words behind its flags. */
void client_start(struct program *p, const char *const words[]);
#define CLIENT(p, ...) client_start(p, (const char *const[]){ __VA_ARGS__, NULL })

#endif
