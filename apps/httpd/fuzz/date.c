/* date.c - dates: what is written can be read, and is the same.
 * With: apps/httpd/date.c
 */
#include "date.h"
#include "harness/fuzz.h"

static void check(time_t when)
{
	char out[DATE_SIZE + 1];
	time_t again;

	memset(out, '#', sizeof out);
	date_write(when, out);
	MUST(out[DATE_SIZE] == '#' && strlen(out) == DATE_SIZE - 1);
	MUST(strspn(out, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ,:") ==
	     DATE_SIZE - 1);
	MUST(date_read((struct text){ out, DATE_SIZE - 1 }, &again));
	MUST(again == when || again == 0);
}

FUZZ(in, size)
{
	time_t when;

	if (size >= sizeof when) {
		memcpy(&when, in, sizeof when);
		check(when);
	}
	if (date_read((struct text){ in, size }, &when))
		check(when);
}
