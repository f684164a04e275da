/* listen.h - listening sockets, and how many connections there may be. */
#ifndef HTTPD_LISTEN_H
#define HTTPD_LISTEN_H

#include <stdint.h>

/* As the settings say. If no address was given and its port is taken, one of the next will
 * do. The descriptor, or -Exxx, which was told on standard error. */
int listen_plain(void);
int listen_tls(void);

/* Asks for as many descriptors as we may have. *numbers is how many that are; *most, how
 * many connections there may be: some are for files. 0 or -Exxx. */
int listen_room(uint64_t *numbers, uint64_t *most);

#endif
