/* head.c - heads of requests.
 * With: apps/httpd/request.c apps/httpd/letters.c
 */
#include "harness/fuzz.h"
#include "request.h"

static void check_text(struct text t, const char *in, size_t size)
{
	MUST(t.size == 0 || (t.at >= in && t.at + t.size <= in + size) || text_is(t, TEXT("/")));
	for (size_t i = 0; i < t.size; i++)
		MUST(t.at[i] != '\0' && t.at[i] != '\n' && t.at[i] != '\r');
}

/* What nobody could read in another way than we do. */
static void check_framing(const struct request *r, const char *in, size_t head)
{
	int lengths = 0, codings = 0, hosts = 0;

	for (size_t i = 0; i < head; i++)
		MUST(in[i] != '\n' || (i > 0 && in[i - 1] == '\r'));
	for (unsigned i = 0; i < r->count; i++) {
		struct text name = r->headers[i].name;

		MUST(name.size > 0 && in + head > name.at + name.size && name.at[name.size] == ':');
		check_text(name, in, head);
		check_text(r->headers[i].value, in, head);
		MUST(memchr(name.at, ' ', name.size) == NULL);
		lengths += text_is_any_case(name, TEXT("content-length"));
		codings += text_is_any_case(name, TEXT("transfer-encoding"));
		hosts += text_is_any_case(name, TEXT("host"));
	}
	MUST(lengths + codings <= 1 && hosts <= 1 && (hosts == 1 || r->minor == 0));
	MUST(r->has_length == (lengths == 1) && r->chunked == (codings == 1));
	MUST(!r->chunked || r->minor == 1);
}

/* Wherever the pieces end in which it comes, the head ends at the same place. */
static void check_pieces(const char *in, size_t size, size_t head)
{
	size_t looked_at = 0, found = 0;

	for (size_t have = 0; have <= size && found == 0; have++)
		found = request_head_size(in, have, &looked_at);
	MUST(found == head);
}

FUZZ(in, size)
{
	size_t looked_at = 0, head = request_head_size(in, size, &looked_at);
	struct request r;

	check_pieces(in, size, head);
	if (head == 0)
		return;
	MUST(head <= size && in[head - 1] == '\n');
	if (request_parse(&r, in, head, REQUEST_HEADERS_MAX) != 0) {
		check_text(r.verb, in, head);
		check_text(r.target, in, head);
		return;
	}
	check_text(r.verb, in, head);
	check_text(r.target, in, head);
	check_text(r.path, in, head);
	check_text(r.query, in, head);
	check_text(r.host, in, head);
	check_framing(&r, in, head);
}
