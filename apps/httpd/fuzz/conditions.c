/* conditions.c - what requests make their answers depend on; a line for each header.
 * With: apps/httpd/conditions.c apps/httpd/date.c
 */
#include "conditions.h"
#include "harness/fuzz.h"

static struct text text_of(const char *line)
{
	return (struct text){ line, line != NULL ? strlen(line) : 0 };
}

FUZZ(in, size)
{
	static const struct file file = { .etag = { "\"1-2\"", 5 }, .modified = 784111777 };
	const char *end = in + size;
	struct request r = { .method = METHOD_GET, .range = TEXT("bytes=0-0") };
	struct text *values[] = { &r.if_match, &r.if_unmodified_since, &r.if_none_match,
				  &r.if_modified_since, &r.if_range };
	char *lines[5];
	int status;

	for (int i = 0; i < 5; i++) {
		lines[i] = fuzz_line(&in, end);
		*values[i] = text_of(lines[i]);
	}
	status = conditions_check(&r, &file);
	MUST(status == 0 || status == 304 || status == 412);
	MUST(status != 304 || r.if_none_match.at != NULL || r.if_modified_since.at != NULL);
	MUST(status != 412 || r.if_match.at != NULL || r.if_unmodified_since.at != NULL);
	MUST(conditions_allow_range(&r, &file) || r.if_range.at != NULL);
	for (int i = 0; i < 5; i++)
		free(lines[i]);
}
