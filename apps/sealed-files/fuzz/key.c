/* key.c - key files.
 * With: apps/sealed-files/key.c -lcrypto
 */
#include "key.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/fuzz.h"

FUZZ(in, size)
{
	int fd = memfd_create("key", MFD_CLOEXEC), rc;
	uint8_t key[SEAL_KEY];

	MUST(fd >= 0 && fchmod(fd, 0600) == 0 && write(fd, in, size) == (ssize_t)size);
	rc = key_read(fd, key);
	MUST(rc == 0 || rc == -EINVAL);
	for (int i = 0; i < SEAL_KEY && rc == 0; i++) {
		char digits[3] = { in[2 * i], in[2 * i + 1], '\0' };

		MUST(key[i] == strtoul(digits, NULL, 16));
	}
	close(fd);
}
