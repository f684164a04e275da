/* client.h - starts weft-httpd and talks to it by plain sockets. WEFT_HTTPD names the
 * program. */
#ifndef HTTPD_TESTS_CLIENT_H
#define HTTPD_TESTS_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/tests/program.h"
#include "harness/test.h"

enum { FILES_LARGE = 3000000 };

/* What came last, and how much it was. */
extern char answer[8 << 20];
extern size_t answer_size;

/* The server that was started, and the directory of its files. */
extern struct program server;
extern int server_port, server_tls_port;
extern char site[64];

/* Makes a directory with files: index.html, a.txt (of 26 letters), large.bin, dir/index.html,
 * .hidden, and links that lead within and out. */
void site_make(void);
void site_write(const char *name, const void *data, size_t size);

/* The byte of large.bin at an offset. */
char site_byte(size_t offset);

/* Starts the server on any free port, below `site` if site_make was called, with these
 * flags, which NULL ends. `descriptors` is how many it may have; 0: as many as we. */
void server_begin(int descriptors, const char *const flags[]);
#define SERVER(...) server_begin(0, (const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

/* Ends it, and gives the last line that it printed. */
const char *server_end(void);

/* Connects, also from an address of this machine's own (127.0.0.2), or to another port. */
int dial(void);
int dial_from(const char *host);
int dial_port(const char *host, int port);
void say_bytes(int fd, const void *data, size_t size);
void say(int fd, const char *text);

/* Reads until `size` bytes have come; 0: until the server closes. What was sent and not read
 * by the server may have broken the connection then. */
void hear(int fd, size_t size);

/* Reads one reply: its head and as many bytes as that says. Gives the status. */
int hear_reply(int fd);

/* One request on a connection of its own, until the server closes; gives the status of
 * the first reply, 0 if there is none. */
int ask(const char *text);

/* GET of a path on a connection of its own, with these headers. */
int get(const char *path, const char *headers);

/* How often a word is in the answer; the body of the answer; a header's value, or NULL. */
int times(const char *word);
const char *body(void);
const char *header(const char *name);

/* A number of the status page. */
long status_number(const char *name);

#endif
