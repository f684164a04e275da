/* acceptor.c - says once why no connection can be accepted, and finds out whether that is for ever. */
#include "acceptor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

/* An error that comes back after this time is printed again. */
#define AWAY (10 * WEFT_SEC)

/* So many refusals in a row are permanent. A single one may concern a single connection. */
enum { HOPELESS = 20 };

static bool is_refusal(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
	case -ENOSYS:
	case -EINVAL:
	case -ENOTSOCK:
	case -EOPNOTSUPP:
		return true;
	default:
		return false;
	}
}

static void tell(struct acceptor *a, const char *program, int error)
{
	uint64_t now = weft_now();

	if (error != a->error || now - a->last > AWAY)
		fprintf(stderr, "%s: accept4: %s: new connections wait\n", program,
			strerror(-error));
	a->error = error;
	a->last = now;
}

bool acceptor_goes_on(struct acceptor *a, const char *program, int result)
{
	if (result >= 0 || result == -ECONNABORTED) {
		a->row = 0;
		return true;
	}
	tell(a, program, result);
	a->row = is_refusal(result) ? a->row + 1 : 0;
	if (a->row < HOPELESS)
		return true;
	fprintf(stderr, "%s: accept4: %s each time: the server ends\n", program, strerror(-result));
	return false;
}
