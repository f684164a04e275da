/* address.h - how many connections each address has. */
#ifndef COMMON_ADDRESS_H
#define COMMON_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Before the first connection. An address may have `most`; 0: any number. */
void address_init(uint64_t most);

/* Counts one more, unless it has as many as it may. One IPv6 network of 64 bits counts as
 * one address. */
bool address_add(const struct sockaddr_storage *peer);
void address_remove(const struct sockaddr_storage *peer);

#endif
