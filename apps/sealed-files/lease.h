/* lease.h - who may read or write which file, for how long.
 *
 * Many clients may have a lease of a file for reading, or one for writing. It lasts for a
 * while from its last use on; then others may take it, and its holder finds it lost. So a
 * client that holds a lease can keep what it read: nobody changes the file. A lease is on a
 * name, whether there is a file of that name or not.
 *
 * All of this is state that clients share, and all of it belongs to WEFT_MAIN: call it in
 * that color only. There is no lock.
 */
#ifndef SEALED_LEASE_H
#define SEALED_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/def.h>

struct lease;

/* Takes a lease, for reading or for writing. Waits for others until the deadline; a client
 * that waits for writing comes before readers that come later. 0; -EBUSY: others kept
 * theirs; -ENOMEM; -ECANCELED: the server is stopping. */
int lease_take(const char *path, bool writing, uint64_t deadline, struct lease **lease);

/* Makes it last from now on. False: it was lost. */
WEFT_NO_WAIT bool lease_renew(struct lease *lease);

/* Makes one that is not lost last until it is given back: for what takes the disk's time. */
WEFT_NO_WAIT void lease_keep(struct lease *lease);

/* Gives it back, lost or not. */
WEFT_NO_WAIT void lease_give(struct lease *lease);

/* A watch is told of changes to a file: lease_watch_wait ends once after each
 * lease_tell_change, also if that came before. 0, -ETIMEDOUT or -ECANCELED. */
struct watch {
	struct leased *file;
	uint64_t seen;
};
WEFT_NO_WAIT int lease_watch(const char *path, struct watch *watch);
int lease_watch_wait(struct watch *watch, uint64_t deadline);
WEFT_NO_WAIT void lease_unwatch(struct watch *watch);
WEFT_NO_WAIT void lease_tell_change(const char *path);

/* Lets all that wait go on, now and from now on. */
WEFT_NO_WAIT void lease_stop(void);

#endif
