/* date.h - dates as HTTP writes them. */
#ifndef HTTPD_DATE_H
#define HTTPD_DATE_H

#include <time.h>

#include "text.h"

enum { DATE_SIZE = 30 };

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
void date_write(time_t when, char out[DATE_SIZE]);

/* Reads that form, and the two old ones that servers must know. */
bool date_read(struct text text, time_t *when);

#endif
