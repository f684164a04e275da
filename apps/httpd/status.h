/* status.h - the status page, /_status. */
#ifndef HTTPD_STATUS_H
#define HTTPD_STATUS_H

#include "handler.h"

extern const struct handler status_handler;

#endif
