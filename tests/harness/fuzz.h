/* fuzz.h - a fuzzer is a function that is given any input, and says what must hold.
 *
 *	FUZZ(in, size)
 *	{
 *		MUST(parse(in, size) <= 0);
 *	}
 *
 * `in` is a copy of just that size, so that AddressSanitizer sees who reads past its end. A
 * line "With: FILE..." in the first comment of the file names what is compiled with it, by paths from
 * the root; WEFT is the library. tools/fuzz runs them all.
 */
#ifndef HARNESS_FUZZ_H
#define HARNESS_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MUST(x) \
	do { \
		if (!(x)) \
			abort(); \
	} while (0)

#define FUZZ(in, size) \
	static void fuzz_one(const char *in, size_t size); \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes); \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) \
	{ \
		char *copy = malloc(bytes + (bytes == 0)); \
\
		if (copy == NULL) \
			return 0; \
		if (bytes > 0) \
			memcpy(copy, data, bytes); \
		fuzz_one(copy, bytes); \
		free(copy); \
		return 0; \
	} \
	static void fuzz_one(const char *in, size_t size)

/* The next part of the input, up to a line feed, as a string of its own; NULL at the end. */
static inline char *fuzz_line(const char **at, const char *end)
{
	const char *begin = *at, *feed;

	if (begin >= end)
		return NULL;
	feed = memchr(begin, '\n', (size_t)(end - begin));
	*at = feed != NULL ? feed + 1 : end;
	return strndup(begin, (size_t)((feed != NULL ? feed : end) - begin));
}

#endif
