/* parsers.c - all that reads what comes from the net, under libFuzzer: heads, chunks, paths,
 * ranges, dates and conditions. What must hold of any input is checked, too.
 */
#include <stdint.h>
#include <stdlib.h>

#include "chunked.h"
#include "conditions.h"
#include "date.h"
#include "path.h"
#include "range.h"
#include "request.h"

#define MUST(x) \
	do { \
		if (!(x)) \
			abort(); \
	} while (0)

static void check_text(struct text t, const char *in, size_t size)
{
	MUST(t.size == 0 || (t.at >= in && t.at + t.size <= in + size) || text_is(t, TEXT("/")));
	for (size_t i = 0; i < t.size; i++)
		MUST(t.at[i] != '\0' && t.at[i] != '\n' && t.at[i] != '\r');
}

static void check_path(struct text path)
{
	char out[PATH_SIZE];

	if (path_clean(path, out) != 0)
		return;
	MUST(out[0] != '/' && strlen(out) < PATH_SIZE);
	MUST(strcmp(out, "..") != 0 && strncmp(out, "../", 3) != 0);
	MUST(strstr(out, "/../") == NULL && strstr(out, "//") == NULL);
	MUST(strlen(out) < 3 || strcmp(out + strlen(out) - 3, "/..") != 0);
}

static void check_range(struct text value)
{
	uint64_t first, size;

	if (range_read(value, 1000, &first, &size) == RANGE_PART)
		MUST(size > 0 && first < 1000 && size <= 1000 - first);
}

static void check_head(const char *in, size_t size)
{
	static const struct file file = { .etag = { "\"1-2\"", 5 }, .modified = 784111777 };
	size_t looked_at = 0, head = request_head_size(in, size, &looked_at);
	struct request r;

	if (head == 0)
		return;
	MUST(head <= size && in[head - 1] == '\n');
	if (request_parse(&r, in, head, REQUEST_HEADERS_MAX) != 0)
		return;
	check_text(r.verb, in, head);
	check_text(r.target, in, head);
	check_text(r.path, in, head);
	check_text(r.query, in, head);
	check_text(r.host, in, head);
	MUST(!(r.chunked && r.has_length));
	for (unsigned i = 0; i < r.count; i++) {
		MUST(r.headers[i].name.size > 0);
		check_text(r.headers[i].name, in, head);
		check_text(r.headers[i].value, in, head);
	}
	check_path(r.path);
	if (r.range.at != NULL)
		check_range(r.range);
	conditions_check(&r, &file);
	conditions_allow_range(&r, &file);
}

/* The whole at once must be the same as letter by letter. */
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

static void check_chunks(const char *in, size_t size)
{
	struct outcome all = decode(in, size, size), each = decode(in, size, 1);

	MUST(all.last == each.last && all.bytes == each.bytes && all.used == each.used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of the right size, so that reading past its end is noticed. */
	char *in = malloc(size + (size == 0));
	struct text text = { in, size };
	time_t when;

	memcpy(in, data, size);
	check_head(in, size);
	if (size > 0) {
		check_chunks(in, size);
		check_path(text);
		check_range(text);
		if (memchr(in, '\0', size) == NULL)
			date_read(text, &when);
	}
	free(in);
	return 0;
}
