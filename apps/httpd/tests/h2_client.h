/* h2_client.h - talks to weft-httpd by frames of HTTP/2, good and bad ones. */
#ifndef HTTPD_TESTS_H2_CLIENT_H
#define HTTPD_TESTS_H2_CLIENT_H

#include "client.h"

enum {
	DATA,
	HEADERS,
	PRIORITY,
	RST_STREAM,
	SETTINGS,
	PUSH_PROMISE,
	PING,
	GOAWAY,
	WINDOW_UPDATE,
	CONTINUATION
};
enum { END_STREAM = 1, END_HEADERS = 4 };

/* The frame that came last. */
struct frame {
	int type, flags, stream;
	size_t size;
	uint8_t data[1 << 16];
	int status;          /* of HEADERS */
	char location[2048]; /* the same */
};
extern struct frame last;

/* A connection that has said its preface, and these settings: "" or 6 bytes each. */
int h2_dial(const char *settings, size_t size);

/* A connection that has sent nothing yet. */
int h2_dial_silent(void);

void h2_say(int fd, int type, int flags, int stream, const void *data, size_t size);

/* A request without a body, of which this was all, or not. */
void h2_ask(int fd, int stream, const char *method, const char *path, bool whole);

/* The next frame. False: the server has closed. */
bool h2_hear(int fd);

/* Frames until one ends a stream, or all up to the end. Gives the stream or 0. */
int h2_hear_end(int fd);

#endif
