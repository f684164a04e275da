/* chunked.h - takes a body that comes in chunks apart (RFC 9112, 7.1), piece by piece. */
#ifndef HTTPD_CHUNKED_H
#define HTTPD_CHUNKED_H

#include <stdint.h>

#include "text.h"

/* All zeros is the state before the first byte. */
struct chunked {
	uint64_t left;   /* bytes of this chunk still to come */
	unsigned digits; /* of the size that is being read */
	unsigned extra;  /* bytes of extensions and trailers so far, which are thrown away */
	uint8_t state;
};

enum chunked_step {
	CHUNKED_MORE, /* all was used, more must come */
	CHUNKED_DATA, /* *data is a piece of the body, within what was given */
	CHUNKED_END,  /* the body has ended; what is not used belongs to the next request */
	CHUNKED_BAD,  /* it is no such body, or has too much beside its data */
};

/* Goes on with what came. *used tells how much of it was used. */
enum chunked_step chunked_next(struct chunked *c, const char *in, size_t have, size_t *used,
			       struct text *data);

#endif
