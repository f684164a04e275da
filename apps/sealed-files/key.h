/* key.h - key files: 64 hexadecimal digits on a line, for nobody else to read. */
#ifndef SEALED_KEY_H
#define SEALED_KEY_H

#include "seal.h"

/* Reads a key from a descriptor. 0; -EPERM: others may read the file; -EINVAL: there is no
 * key in it; or -Exxx. */
int key_read(int fd, uint8_t key[SEAL_KEY]);

/* The same from a file of this name. */
int key_load(const char *path, uint8_t key[SEAL_KEY]);

/* Makes a file with a new key. 0, -EEXIST or another -Exxx. */
int key_make(const char *path);

#endif
