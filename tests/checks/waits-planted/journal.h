/* journal.h - the second file of the program with five mistakes. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <weft/weft.h>

struct journal {
	int fd;
	int (*write)(struct journal *j, const char *line);
};

int journal_open(struct journal *j, const char *path, bool fast);
int journal_note(struct journal *j, int from, int to);
int journal_write(struct journal *j, const char *line);

#endif
