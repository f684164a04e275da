/* fine.h - what the files of the correct program share. */
#ifndef FINE_H
#define FINE_H

#include <weft/weft.h>

struct source {
	int (*next)(struct source *s);  /* does not wait */
	int (*fetch)(struct source *s); /* does */
	int fd;
};

void source_init(struct source *s, int fd);
int each(struct source *s, WEFT_NO_WAIT int (*visit)(int value));
WEFT_NO_WAIT int elsewhere(int value); /* its definition is not read */

#endif
