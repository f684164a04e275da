/* flags.c - the command line, a line for each word.
 * With: apps/httpd/settings.c apps/common/flags.c
 */
#include <stdio.h>

#include "harness/fuzz.h"
#include "request.h"
#include "settings.h"

enum { WORDS = 20 };

/* libFuzzer keeps its own way to the terminal. */
static void be_quiet(void)
{
	if (stdout == stderr)
		return;
	stdout = stderr = fopen("/dev/null", "w");
	MUST(stdout != NULL);
}

FUZZ(in, size)
{
	const char *end = in + size;
	struct settings usual = settings;
	char *words[WORDS + 2] = { "weft-httpd" };
	int count = 1, rc;

	be_quiet();
	while (count <= WORDS && (words[count] = fuzz_line(&in, end)) != NULL)
		count++;
	words[count] = NULL;
	rc = settings_read(count, words);
	MUST(rc == -1 || rc == 0 || rc == 2);
	if (rc == -1) {
		MUST(settings.max_head >= 512 && settings.max_head <= 1048576);
		MUST(settings.max_headers >= 1 && settings.max_headers <= REQUEST_HEADERS_MAX);
		MUST(settings.head_time >= 1 && settings.idle_time >= 1 && settings.send_time >= 1);
		MUST(settings.cache_file <= 16 << 20);
		MUST(settings.listen_tls == NULL || settings.key != NULL);
	}
	settings = usual;
	for (int i = 1; i < count; i++)
		free(words[i]);
}
