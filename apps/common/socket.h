/* socket.h - listening sockets, and their names. */
#ifndef COMMON_SOCKET_H
#define COMMON_SOCKET_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that a connection may leave in the kernel when it is closed: no limit counts them. */
enum { SOCKET_LEFT = 4 << 10 };

/* Listens on an address as weft_listen_on, for connections whose small writes go at once. */
int socket_listen(const char *address);

/* Makes such a one of a socket that listens already. Gives fd. */
int socket_without_delay(int fd);

/* Has the kernel give up the connection if its peer takes nothing of what was sent for `ms`; on a
 * listening socket, all that it accepts. That holds also after close(2), when only the kernel knows
 * them. */
void socket_limit_silence(int fd, uint64_t ms);

/* Waits until the peer has taken what was sent, but for SOCKET_LEFT bytes; at most `ms` for each
 * 256 KiB. 0, or -Exxx: it has not. */
int socket_await_taken(int fd, uint64_t ms);

/* Makes close(2) drop what was sent and not taken, so that it frees the kernel's memory. */
void socket_abandon(int fd);

/* Asks for as many descriptors as we may have. *numbers is how many that are; *most, how many
 * connections there may be, as `kept` are for other things. 0 or -Exxx. */
int socket_room(uint64_t kept, uint64_t *numbers, uint64_t *most);

/* The port that a socket has; its address and port, as text. -Exxx if that fails. */
int socket_port(int fd);
int socket_name(int fd, char *out, size_t size);

#endif
