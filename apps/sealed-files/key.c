/* key.c - reads and makes key files. */
#include "key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 2 * SEAL_KEY };

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int decode(const char *text, uint8_t key[SEAL_KEY])
{
	for (int i = 0; i < SEAL_KEY; i++) {
		int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);

		if (low < 0)
			return -EINVAL;
		key[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

int key_read(int fd, uint8_t key[SEAL_KEY])
{
	char text[DIGITS + 2];
	struct stat st;
	ssize_t n;
	int rc;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return -EPERM;
	n = pread(fd, text, sizeof text, 0);
	if (n < 0)
		return -errno;
	if (n < DIGITS || n > DIGITS + 1 || (n == DIGITS + 1 && text[DIGITS] != '\n'))
		rc = -EINVAL;
	else
		rc = decode(text, key);
	OPENSSL_cleanse(text, sizeof text);
	return rc;
}

int key_load(const char *path, uint8_t key[SEAL_KEY])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	if (fd < 0)
		return -errno;
	rc = key_read(fd, key);
	close(fd);
	return rc;
}

static int write_key(int fd)
{
	char text[DIGITS + 2];
	uint8_t key[SEAL_KEY];
	int rc = 0;

	if (RAND_bytes(key, sizeof key) != 1)
		return -EAGAIN;
	for (int i = 0; i < SEAL_KEY; i++)
		snprintf(text + 2 * i, 3, "%02x", key[i]);
	text[DIGITS] = '\n';
	if (write(fd, text, DIGITS + 1) != DIGITS + 1 || fsync(fd) < 0)
		rc = -EIO;
	OPENSSL_cleanse(key, sizeof key);
	OPENSSL_cleanse(text, sizeof text);
	return rc;
}

int key_make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), rc;

	if (fd < 0)
		return -errno;
	rc = write_key(fd);
	close(fd);
	if (rc < 0)
		unlink(path);
	return rc;
}
