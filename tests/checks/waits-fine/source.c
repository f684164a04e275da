/* source.c - the second file of the correct program. */
#include "fine.h"

static int next(struct source *s)
{
	return s->fd;
}

/* Called like another one, in fine.c, that does not wait. */
static int step(struct source *s)
{
	char c = 0;

	return weft_read(s->fd, &c, 1) == 1 ? c : -1;
}

void source_init(struct source *s, int fd)
{
	*s = (struct source){ next, .fetch = step, fd };
}

int each(struct source *s, WEFT_NO_WAIT int (*visit)(int value))
{
	int sum = 0;

	for (int i = 0; i < 10; i++) {
		int value = s->fetch(s);

		WEFT_ATOMIC
		{
			sum += visit(value);
		}
	}
	return sum;
}
