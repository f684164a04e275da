/* log_file.c - writes whole lines, and counts those that are lost.
 *
 * A full disk may take a part of a line. The rest is kept, and written first when there is room
 * again. If a file ends in the middle of a line when it is opened, a newline is written first.
 */
#include "log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/weft.h>

#include "counters.h"
#include "settings.h"

/* A pipe without room for this time is treated as a full disk. From then on writes to it do not
 * wait: the server must be able to end. */
#define WRITE_TIME (5 * WEFT_SEC)

/* The log has recovered when no line was lost for this time. Without it, a nearly full disk would
 * cause a report every few milliseconds. */
#define CALM_TIME WEFT_SEC

static struct {
	int fd;
	char rest[LOG_LINE_MOST]; /* of a line that was cut */
	size_t rest_size;
	bool stuck;          /* the last write ran out of time */
	_Atomic bool losing; /* a loss was reported, and no recovery since */
	_Atomic uint64_t lost, lost_at;
} file = { .fd = -1 };

void log_file_lose(uint64_t lines, const char *why)
{
	count(COUNT_LOG_DROPPED, lines);
	atomic_fetch_add(&file.lost, lines);
	atomic_store(&file.lost_at, weft_now());
	if (!atomic_exchange(&file.losing, true))
		fprintf(stderr, "weft-httpd: %s: %s; lines of the log are lost\n",
			settings.access_log, why);
}

static void report_recovery(void)
{
	if (!atomic_load(&file.losing) || weft_now() < atomic_load(&file.lost_at) + CALM_TIME)
		return;
	atomic_store(&file.losing,
		     false); /* first: a line that is lost now is the next first one */
	fprintf(stderr, "weft-httpd: %s: the log is written again; %" PRIu64 " lines were lost\n",
		settings.access_log, atomic_exchange(&file.lost, 0));
}

/* Opening */

/* Does the file end in the midst of a line? */
static bool is_cut(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char last = '\n';

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    pread(fd, &last, 1, st.st_size - 1) != 1)
		last = '\n';
	close(fd);
	return last != '\n';
}

int log_file_open(void)
{
	const char *path = settings.access_log;
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
			  : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);

	if (fd < 0)
		return -errno;
	if (file.fd >= 0)
		weft_fd_close(file.fd);
	file.fd = fd;
	file.rest_size = !standard && is_cut(path);
	file.rest[0] = '\n';
	return 0;
}

/* Writing */

/* 0, or -Exxx; *done is in any case how much was written. */
static int write_all(const char *text, size_t size, size_t *done)
{
	uint64_t deadline = file.stuck ? 0 : weft_now() + WRITE_TIME;
	ssize_t rc = weft_write_all_until(file.fd, text, size, done, deadline);

	file.stuck = rc == -ETIMEDOUT;
	return rc < 0 ? (int)rc : 0;
}

static int write_rest(void)
{
	size_t done = 0;
	int rc = file.rest_size > 0 ? write_all(file.rest, file.rest_size, &done) : 0;

	file.rest_size -= done;
	memmove(file.rest, file.rest + done, file.rest_size);
	return rc;
}

/* If a line was cut after `done` bytes, keeps its rest. Returns how much of the text is written or
 * kept. */
static size_t keep_rest(const char *text, size_t size, size_t done)
{
	const char *from = text + done, *end;

	if (done == 0 || text[done - 1] == '\n')
		return done;
	end = memchr(from, '\n', size - done);
	file.rest_size = (size_t)(end + 1 - from);
	memcpy(file.rest, from, file.rest_size);
	return done + file.rest_size;
}

static uint64_t count_lines(const char *text, size_t size)
{
	uint64_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += text[i] == '\n';
	return n;
}

void log_file_write(const char *text, size_t size)
{
	size_t done = 0;
	int rc = write_rest();

	if (rc == 0)
		rc = write_all(text, size, &done);
	if (rc == 0) {
		report_recovery();
		return;
	}
	done = keep_rest(text, size, done);
	log_file_lose(count_lines(text + done, size - done), strerror(-rc));
}

/* The file is not written any more: a last try to complete the line that was cut. */
static void finish(void)
{
	int rc = write_rest();

	if (rc < 0 && file.rest_size > 1)
		log_file_lose(1, strerror(-rc));
}

static int open_file(void *unused)
{
	(void)unused;
	return log_file_open();
}

void log_file_open_again(void)
{
	finish();
	weft_offload(open_file, NULL);
}

void log_file_close(void)
{
	finish();
	weft_close(file.fd);
	file.fd = -1;
}
