/* request.c - reads the head of a request. */
#include "request.h"

#include "letters.h"

/* What is left of the head. It ends with a line feed, which stops every loop: that letter
 * is of no kind. */
struct cursor {
	const char *at, *end;
};

size_t request_head_size(const char *in, size_t have, size_t *looked_at)
{
	size_t at = *looked_at;
	const char *feed;

	while (at < have && (feed = memchr(in + at, '\n', have - at)) != NULL) {
		size_t i = (size_t)(feed - in);

		at = i + 1;
		if ((i >= 1 && in[i - 1] == '\n') ||
		    (i >= 2 && in[i - 1] == '\r' && in[i - 2] == '\n')) {
			*looked_at = at;
			return at;
		}
	}
	*looked_at = have;
	return 0;
}

static struct text take(struct cursor *c, int kind)
{
	const char *from = c->at;

	while (letter_is(*c->at, kind))
		c->at++;
	return (struct text){ from, (size_t)(c->at - from) };
}

static bool skip(struct cursor *c, struct text word)
{
	if ((size_t)(c->end - c->at) < word.size || memcmp(c->at, word.at, word.size) != 0)
		return false;
	c->at += word.size;
	return true;
}

static enum method find_method(struct text verb)
{
	static const struct text known[] = {
		[METHOD_GET] = { "GET", 3 },         [METHOD_HEAD] = { "HEAD", 4 },
		[METHOD_POST] = { "POST", 4 },       [METHOD_PUT] = { "PUT", 3 },
		[METHOD_DELETE] = { "DELETE", 6 },   [METHOD_OPTIONS] = { "OPTIONS", 7 },
		[METHOD_PATCH] = { "PATCH", 5 },     [METHOD_TRACE] = { "TRACE", 5 },
		[METHOD_CONNECT] = { "CONNECT", 7 },
	};

	for (int i = 0; i < METHOD_OTHER; i++)
		if (text_is(verb, known[i]))
			return (enum method)i;
	return METHOD_OTHER;
}

static bool host_is_good(struct text host)
{
	for (size_t i = 0; i < host.size; i++)
		if (!letter_is(host.at[i], LETTER_HOST))
			return false;
	return true;
}

/* "http://host/path": a proxy's form, which every server must know. */
static bool split_absolute(struct request *r)
{
	struct text t = r->target;
	size_t scheme = 0, size = 0;

	if (t.size >= 7 && strncasecmp(t.at, "http://", 7) == 0)
		scheme = 7;
	else if (t.size >= 8 && strncasecmp(t.at, "https://", 8) == 0)
		scheme = 8;
	else
		return false;
	while (scheme + size < t.size && letter_is(t.at[scheme + size], LETTER_HOST))
		size++;
	r->host = (struct text){ t.at + scheme, size };
	r->path = (struct text){ t.at + scheme + size, t.size - scheme - size };
	if (r->path.size == 0)
		r->path = TEXT("/");
	return size > 0;
}

static bool split_target(struct request *r)
{
	const char *mark;

	r->path = r->target;
	if (r->target.at[0] != '/') {
		if (r->method == METHOD_OPTIONS && text_is(r->target, TEXT("*")))
			return true;
		if (!split_absolute(r))
			return false;
	}
	mark = memchr(r->path.at, '?', r->path.size);
	if (mark != NULL) {
		size_t size = (size_t)(mark - r->path.at);

		r->query = (struct text){ mark + 1, r->path.size - size - 1 };
		r->path.size = size;
	}
	return r->path.size > 0 && r->path.at[0] == '/';
}

static int parse_line(struct request *r, struct cursor *c)
{
	int major;

	r->verb = take(c, LETTER_TOKEN);
	if (r->verb.size == 0 || !skip(c, TEXT(" ")))
		return 400;
	r->method = find_method(r->verb);
	r->target = take(c, LETTER_TARGET);
	if (r->target.size == 0 || !skip(c, TEXT(" ")) || !skip(c, TEXT("HTTP/")))
		return 400;
	if (c->end - c->at < 5 || c->at[0] < '0' || c->at[0] > '9' || c->at[1] != '.' ||
	    c->at[2] < '0' || c->at[2] > '9' || c->at[3] != '\r' || c->at[4] != '\n')
		return 400;
	major = c->at[0] - '0';
	r->minor = c->at[2] == '0' ? 0 : 1;
	c->at += 5;
	if (major != 1)
		return 505;
	r->keep_alive = r->minor == 1;
	if (r->method == METHOD_CONNECT)
		return 501;
	return split_target(r) ? 0 : 400;
}

static int note_length(struct request *r, struct text value)
{
	uint64_t length = 0;

	if (r->has_length || value.size == 0)
		return 400;
	for (size_t i = 0; i < value.size; i++) {
		if (value.at[i] < '0' || value.at[i] > '9')
			return 400;
		if (length > (UINT64_MAX - 9) / 10)
			return 413;
		length = length * 10 + (uint64_t)(value.at[i] - '0');
	}
	r->length = length;
	r->has_length = true;
	return 0;
}

static int note_encoding(struct request *r, struct text value)
{
	if (r->chunked)
		return 400;
	if (!text_is_any_case(value, TEXT("chunked")))
		return 501;
	r->chunked = true;
	return 0;
}

static void note_connection(struct request *r, struct text value)
{
	struct text item;

	while (text_next_item(&value, &item)) {
		if (text_is_any_case(item, TEXT("close")))
			r->keep_alive = false;
		else if (r->minor == 0 && text_is_any_case(item, TEXT("keep-alive")))
			r->keep_alive = true;
	}
}

static int note_host(struct request *r, struct text value, bool *seen)
{
	if (*seen || !host_is_good(value))
		return 400;
	*seen = true;
	if (r->host.at == NULL) /* the target's own is the one that counts */
		r->host = value;
	return 0;
}

/* The first of its name counts. */
static void keep(struct text *where, struct text value)
{
	if (where->at == NULL)
		*where = value;
}

/* Looks whether a header is one that the server itself needs. */
static int note(struct request *r, struct text name, struct text value, bool *host)
{
	switch (name.size) {
	case 4:
		if (text_is_any_case(name, TEXT("Host")))
			return note_host(r, value, host);
		break;
	case 5:
		if (text_is_any_case(name, TEXT("Range")))
			keep(&r->range, value);
		break;
	case 6:
		if (text_is_any_case(name, TEXT("Expect"))) {
			r->expects_continue = text_is_any_case(value, TEXT("100-continue"));
			r->unknown_expect |= !r->expects_continue;
		}
		break;
	case 8:
		if (text_is_any_case(name, TEXT("If-Range")))
			keep(&r->if_range, value);
		else if (text_is_any_case(name, TEXT("If-Match")))
			keep(&r->if_match, value);
		break;
	case 10:
		if (text_is_any_case(name, TEXT("Connection")))
			note_connection(r, value);
		break;
	case 13:
		if (text_is_any_case(name, TEXT("If-None-Match")))
			keep(&r->if_none_match, value);
		break;
	case 14:
		if (text_is_any_case(name, TEXT("Content-Length")))
			return note_length(r, value);
		break;
	case 17:
		if (text_is_any_case(name, TEXT("Transfer-Encoding")))
			return note_encoding(r, value);
		if (text_is_any_case(name, TEXT("If-Modified-Since")))
			keep(&r->if_modified_since, value);
		break;
	case 19:
		if (text_is_any_case(name, TEXT("If-Unmodified-Since")))
			keep(&r->if_unmodified_since, value);
		break;
	default:
		break;
	}
	return 0;
}

/* Has the length of the body been said in one way only? */
static int check_framing(const struct request *r)
{
	if (r->chunked && (r->has_length || r->minor == 0))
		return 400;
	return 0;
}

int request_parse(struct request *r, const char *head, size_t size, unsigned headers)
{
	struct cursor c = { head, head + size };
	bool host = false;
	int status;

	memset(r, 0, offsetof(struct request, headers));
	if (size == 0 || head[size - 1] != '\n')
		return 400;
	if (headers > REQUEST_HEADERS_MAX)
		headers = REQUEST_HEADERS_MAX;
	status = parse_line(r, &c);
	while (status == 0 && !skip(&c, TEXT("\r\n"))) {
		struct header *h = &r->headers[r->count];

		if (r->count == headers)
			return 431;
		h->name = take(&c, LETTER_TOKEN);
		if (h->name.size == 0 || !skip(&c, TEXT(":")))
			return 400;
		h->value = text_trim(take(&c, LETTER_VALUE));
		if (!skip(&c, TEXT("\r\n")))
			return 400;
		r->count++;
		status = note(r, h->name, h->value, &host);
	}
	if (status != 0)
		return status;
	if (c.at != c.end || (r->minor == 1 && !host))
		return 400;
	return check_framing(r);
}

struct text request_header(const struct request *r, struct text name)
{
	for (unsigned i = 0; i < r->count; i++)
		if (text_is_any_case(r->headers[i].name, name))
			return r->headers[i].value;
	return (struct text){ NULL, 0 };
}
