/* chunked.c - bodies in chunks: whole, they give the same as letter by letter.
 * With: apps/httpd/chunked.c apps/httpd/letters.c
 */
#include "chunked.h"
#include "harness/fuzz.h"

struct outcome {
	enum chunked_step last;
	size_t bytes, used;
};

static struct outcome decode(const char *in, size_t size, size_t step)
{
	struct outcome o = { CHUNKED_MORE, 0, 0 };
	struct chunked c = { 0 };
	struct text data;
	size_t used;

	while (o.used < size && (o.last == CHUNKED_MORE || o.last == CHUNKED_DATA)) {
		size_t have = size - o.used < step ? size - o.used : step;

		o.last = chunked_next(&c, in + o.used, have, &used, &data);
		MUST(used > 0 && used <= have);
		if (o.last == CHUNKED_DATA) {
			MUST(data.at >= in + o.used && data.at + data.size <= in + o.used + used);
			o.bytes += data.size;
		}
		o.used += used;
	}
	if (o.last == CHUNKED_DATA)
		o.last = CHUNKED_MORE;
	return o;
}

FUZZ(in, size)
{
	struct outcome all = decode(in, size, size), each = decode(in, size, 1);

	MUST(all.last == each.last && all.bytes == each.bytes && all.used == each.used);
	MUST(all.last != CHUNKED_END ||
	     (all.used >= 5 && memcmp(in + all.used - 2, "\r\n", 2) == 0));
}
