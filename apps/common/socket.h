/* socket.h - listening sockets, and their names. */
#ifndef COMMON_SOCKET_H
#define COMMON_SOCKET_H

#include <stddef.h>
#include <stdint.h>

/* Listens on an address as weft_listen_on, for connections whose small writes go at once. */
int socket_listen(const char *address);

/* Makes such a one of a socket that listens already. Gives fd. */
int socket_without_delay(int fd);

/* Asks for as many descriptors as we may have. *numbers is how many that are; *most, how many
 * connections there may be, as `kept` are for other things. 0 or -Exxx. */
int socket_room(uint64_t kept, uint64_t *numbers, uint64_t *most);

/* The port that a socket has; its address and port, as text. -Exxx if that fails. */
int socket_port(int fd);
int socket_name(int fd, char *out, size_t size);

#endif
