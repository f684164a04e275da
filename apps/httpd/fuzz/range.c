/* range.c - ranges, of files of any size.
 * With: apps/httpd/range.c
 */
#include "range.h"
#include "harness/fuzz.h"

FUZZ(in, size)
{
	static const uint64_t sizes[] = { 0, 1, 1000, INT64_MAX, UINT64_MAX };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint64_t first, part;

		if (range_read((struct text){ in, size }, sizes[i], &first, &part) == RANGE_PART)
			MUST(part > 0 && first < sizes[i] && part <= sizes[i] - first);
	}
}
