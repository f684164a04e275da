/* conditions.h - what a request makes its answer depend on (RFC 9110, 13). */
#ifndef HTTPD_CONDITIONS_H
#define HTTPD_CONDITIONS_H

#include "file.h"
#include "request.h"

/* 0: go on; else the status of the reply, 304 or 412. */
int conditions_check(const struct request *r, const struct file *f);

/* Shall the Range header be heeded? */
bool conditions_allow_range(const struct request *r, const struct file *f);

#endif
