/* journal.c - writes to a file, and so waits. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "journal.h"

static int write_now(struct journal *j, const char *line)
{
	return (int)weft_write_all(j->fd, line, strlen(line));
}

static int write_nothing(struct journal *j, const char *line)
{
	(void)j;
	return (int)strlen(line);
}

int journal_open(struct journal *j, const char *path, bool fast)
{
	j->fd = weft_open(path, O_WRONLY | O_APPEND, 0);
	j->write = fast ? write_nothing : write_now;
	return j->fd;
}

int journal_write(struct journal *j, const char *line)
{
	return j->write(j, line);
}

static int sync_now(struct journal *j)
{
	return weft_fsync(j->fd);
}

int journal_note(struct journal *j, int from, int to)
{
	return from == to ? 0 : sync_now(j);
}
