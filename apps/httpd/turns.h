/* turns.h - who computes next, where few may at a time: clients of the address that has the
 * fewest connections, and of these the one that has waited longest. So a stranger who wants
 * much keeps others waiting little, unless it has many addresses.
 */
#ifndef HTTPD_TURNS_H
#define HTTPD_TURNS_H

#include <stdint.h>

/* So many at a time. Before the others. */
void turns_init(uint64_t most);

/* Takes a turn, or waits for one; `crowd` is how many connections the client's address has.
 * 0, or -ETIMEDOUT or another error: the caller has none. Waits. */
int turn_take(uint64_t crowd, uint64_t deadline);
void turn_give(void);

#endif
