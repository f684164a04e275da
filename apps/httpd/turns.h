/* turns.h - which connection computes next, where few may at a time. Addresses are sorted by the
 * power of two in their number of connections: 1, 2 to 3, 4 to 7 and so on. The lowest class goes
 * first, and in it the connection that has waited longest. So a client with many connections delays
 * others little, unless it has many addresses.
 */
#ifndef HTTPD_TURNS_H
#define HTTPD_TURNS_H

#include <stdint.h>

#include <weft/def.h>

/* Sets how many may compute at a time. To be called first. */
void turns_init(uint64_t most);

/* Takes a turn for the connection `fd`, or waits for one; `crowd` is how many connections the
 * client's address has. 0; -ETIMEDOUT, -ECONNRESET (the connection was shut down, or has failed) or
 * another error: the caller has no turn. Waits. */
int turn_take(int fd, uint64_t crowd, uint64_t deadline);
WEFT_NO_WAIT void turn_give(void);

#endif
