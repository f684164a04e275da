/* address.h - how many connections each address has. */
#ifndef HTTPD_ADDRESS_H
#define HTTPD_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Before the first connection. */
void address_init(void);

/* Counts one more, unless it has as many as it may. One IPv6 network of 64 bits counts as
 * one address. */
bool address_add(const struct sockaddr_storage *peer);
void address_remove(const struct sockaddr_storage *peer);

#endif
