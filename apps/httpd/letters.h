/* letters.h - which letters may stand where in a request (RFC 9110, RFC 3986). */
#ifndef HTTPD_LETTERS_H
#define HTTPD_LETTERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LETTER_TOKEN = 1,  /* of methods and names of headers */
	LETTER_TARGET = 2, /* of targets: what can be seen, but no '#' */
	LETTER_VALUE = 4,  /* of values: no control characters but the tab */
	LETTER_HOST = 8,   /* of Host */
};

extern const uint8_t letter_kinds[256];

static inline bool letter_is(char c, int kind)
{
	return (letter_kinds[(unsigned char)c] & kind) != 0;
}

#endif
