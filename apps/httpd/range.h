/* range.h - which part of a file a Range header asks for. */
#ifndef HTTPD_RANGE_H
#define HTTPD_RANGE_H

#include <stdint.h>

#include "text.h"

enum range {
	RANGE_ALL,  /* the whole: no range, one that we need not know, or several at once */
	RANGE_PART, /* *first and *size say which */
	RANGE_NONE, /* the file has no such part */
};

enum range range_read(struct text value, uint64_t of, uint64_t *first, uint64_t *size);

#endif
