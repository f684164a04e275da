/* tree.h - the files below the root. Calls wait, for disks, too; none leads out of the root. */
#ifndef SEALED_TREE_H
#define SEALED_TREE_H

#include <stdint.h>
#include <sys/types.h>

#include "message.h"

/* What is told of a file. */
struct facts {
	uint64_t size, time;
};

/* A new file that has no place yet. */
struct draft {
	int directory, fd;
	char temporary[32];
};

/* Removes what a server that was killed has left there, too. 0 or -Exxx, as all below. */
int tree_open_root(const char *path);
void tree_close_root(void);

/* Opens a file for reading. The descriptor or -Exxx. */
int tree_open(const char *path, struct facts *facts);
int tree_stat(const char *path, struct facts *facts);
int tree_remove(const char *path);

/* Makes a new file beside the one of this name; lets it take that one's place, on the disk;
 * or forgets it. The draft is used up in both cases. */
int tree_draft(const char *path, struct draft *draft);
int tree_publish(struct draft *draft, const char *path, struct facts *facts);
void tree_abandon(struct draft *draft);

/* Writes names of a directory as REQUEST_LIST says, from the nth on. Gives how many bytes
 * that are; *next is where to go on, 0 at the end. */
ssize_t tree_list(const char *path, uint64_t from, uint8_t *out, size_t size, uint64_t *next);

#endif
