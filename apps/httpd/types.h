/* types.h - the media type of a file, by its name. */
#ifndef HTTPD_TYPES_H
#define HTTPD_TYPES_H

#include "text.h"

struct text type_of(const char *path);

#endif
