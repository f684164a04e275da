/* clients.h - the clients that have proved who they are, counted in all and by name. From any
 * color. */
#ifndef SEALED_CLIENTS_H
#define SEALED_CLIENTS_H

#include <stdbool.h>

#include <weft/def.h>

/* Is there room for another client? */
WEFT_NO_WAIT bool clients_have_room(void);

/* Counts a client. 0; -EUSERS: the limit is reached, in all or of that name; or -ENOMEM. */
WEFT_NO_WAIT int clients_add(const char *name);
WEFT_NO_WAIT void clients_remove(const char *name);

#endif
