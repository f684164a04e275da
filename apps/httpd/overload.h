/* overload.h - tells whether requests wait too long for their turn. */
#ifndef HTTPD_OVERLOAD_H
#define HTTPD_OVERLOAD_H

#include <stdbool.h>

/* Before the first request. */
void overload_init(void);

/* Has what is ready waited longer than queue_time for a worker, just now? */
bool overload_now(void);

#endif
