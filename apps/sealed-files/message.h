/* message.h - what the client asks, and what the server answers.
 *
 * A request is a head of fixed size, a path, and data; a reply a head and data. Numbers have
 * the highest byte first. A status is 0 or an errno of Linux. A `time` is when the file
 * changed last, in nanoseconds; it serves to tell versions of a file apart.
 */
#ifndef SEALED_MESSAGE_H
#define SEALED_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MESSAGE_PIECE = 64 * 1024, /* most bytes of a file in one message */
	MESSAGE_PATH = 1024,       /* a path is shorter than that */
	REQUEST_HEAD = 32,
	REPLY_HEAD = 24,
	REPLY_STATUS = 4095, /* the greatest */
};

/* Files of these names are the server's own. */
#define MESSAGE_HIDDEN ".sealed-"

enum request_type {
	REQUEST_OPEN,   /* path, wait: a lease for reading; gives handle, size, time */
	REQUEST_CREATE, /* path, wait: a lease for writing; gives a handle to a new file */
	REQUEST_READ,   /* handle, offset, size: gives data, less at the end of the file */
	REQUEST_WRITE,  /* handle, offset, data */
	REQUEST_COMMIT, /* handle: the new file takes the place of the old; gives size, time */
	REQUEST_CLOSE,  /* handle: gives back the lease, forgets a new file */
	REQUEST_REMOVE, /* path, wait */
	REQUEST_LIST,   /* path, offset: names, each ended by a newline, directories by a slash
			   before that; gives as size the offset to go on with, 0 at the end */
	REQUEST_STAT,   /* path: gives size, time */
	REQUEST_WATCH,  /* path, time, wait: when the file is another; gives size, time,
			   both 0 if it is not there */
	REQUEST_TYPES
};

struct request {
	enum request_type type;
	uint32_t handle, size;
	uint32_t wait; /* milliseconds, for others to give up a lease, or to change the file */
	uint64_t offset, time;
	const uint8_t *data;
	size_t data_size;
	char path[MESSAGE_PATH];
};

struct reply {
	uint32_t status, handle;
	uint64_t size, time;
	const uint8_t *data;
	size_t data_size;
};

/* Whether a path is one below the root: no dots as names, no empty names, no control
 * characters, nothing that is the server's own. "" is the root. */
bool message_path_is_good(const char *path, size_t size);

/* Reads what came. 0 or -EBADMSG. Data stays where it is. */
int request_read(struct request *r, const uint8_t *text, size_t size);
int reply_read(struct reply *r, const uint8_t *text, size_t size);

/* Writes what goes, and gives its size. Data that stands where it goes to is left there. */
size_t request_write(const struct request *r, uint8_t *text);
size_t reply_write(const struct reply *r, uint8_t *text);

#endif
