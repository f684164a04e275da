/* demo.h - what the server shows if it has no files: also examples of handlers. */
#ifndef HTTPD_DEMO_H
#define HTTPD_DEMO_H

#include "handler.h"

extern const struct handler home_handler, slow_handler, echo_handler;

#endif
