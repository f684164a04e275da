/* dispatch.h - who answers a request, and what is counted then. */
#ifndef HTTPD_DISPATCH_H
#define HTTPD_DISPATCH_H

#include "exchange.h"

/* Has a request answered, whatever it is. */
void dispatch(struct exchange *x);

/* Has the request a handler that can read its body? Any other answer needs only the head. */
bool dispatch_wants_body(const struct request *r);

/* Counts a reply of so many bytes, and puts it into the log. */
void count_reply(const struct exchange *x, uint64_t bytes, uint64_t ns);

#endif
