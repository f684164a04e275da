/* files.h - answers requests by files below the root. */
#ifndef HTTPD_FILES_H
#define HTTPD_FILES_H

#include "exchange.h"

int files_serve(struct exchange *x);

#endif
