/* range.c - which part of a file a Range header asks for.
 *
 * Several ranges in one request are answered by the whole file, as RFC 9110 allows: their
 * many small parts have served attackers more than readers.
 */
#include "range.h"

/* Digits, as many as there are. What is too much stays so, and is past the end of any file. */
static bool read_number(struct text *t, uint64_t *n)
{
	size_t i = 0;

	*n = 0;
	for (; i < t->size && t->at[i] >= '0' && t->at[i] <= '9'; i++)
		*n = *n > (UINT64_MAX - 9) / 10 ? UINT64_MAX / 10 + 1
						: *n * 10 + (uint64_t)(t->at[i] - '0');
	t->at += i;
	t->size -= i;
	return i > 0;
}

enum range range_read(struct text value, uint64_t of, uint64_t *first, uint64_t *size)
{
	uint64_t last;
	bool has_first;

	if (value.size < 6 || strncasecmp(value.at, "bytes=", 6) != 0)
		return RANGE_ALL;
	value = text_trim((struct text){ value.at + 6, value.size - 6 });
	has_first = read_number(&value, first);
	if (value.size == 0 || value.at[0] != '-')
		return RANGE_ALL;
	value.at++;
	value.size--;
	if (!read_number(&value, &last)) {
		if (!has_first)
			return RANGE_ALL;
		last = UINT64_MAX;
	}
	if (value.size > 0)
		return RANGE_ALL;
	if (!has_first) { /* the last so many bytes */
		if (last == 0 || of == 0)
			return RANGE_NONE;
		*size = last < of ? last : of;
		*first = of - *size;
		return RANGE_PART;
	}
	if (last < *first)
		return RANGE_ALL;
	if (*first >= of)
		return RANGE_NONE;
	*size = (last < of ? last + 1 : of) - *first;
	return RANGE_PART;
}
