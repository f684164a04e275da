/* http.c - reading requests and writing replies. */
#include "http.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const struct {
	int status;
	const char *reason;
} reasons[] = {
	{ 200, "OK" },
	{ 400, "Bad Request" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 413, "Content Too Large" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
};

const char *http_reason(int status)
{
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		if (reasons[i].status == status)
			return reasons[i].reason;
	}
	return "Unknown";
}

/* Fields that may or must be there once. */
struct seen {
	bool host, length;
	bool old; /* HTTP/1.0: no host is asked for */
};

/* A piece of the request's text. */
struct span {
	const char *at;
	size_t size;
};

static bool same(struct span s, const char *word)
{
	return s.size == strlen(word) && strncasecmp(s.at, word, s.size) == 0;
}

/* Takes what is ahead of `mark` out of *s; false if there is no mark. */
static bool split(struct span *s, char mark, struct span *out)
{
	const char *end = memchr(s->at, mark, s->size);

	if (end == NULL)
		return false;
	*out = (struct span){ s->at, (size_t)(end - s->at) };
	s->at = end + 1;
	s->size -= out->size + 1;
	return true;
}

static struct span trim(struct span s)
{
	while (s.size > 0 && (*s.at == ' ' || *s.at == '\t')) {
		s.at++;
		s.size--;
	}
	while (s.size > 0 && (s.at[s.size - 1] == ' ' || s.at[s.size - 1] == '\t'))
		s.size--;
	return s;
}

/* One line without its CR LF, or LF: people type requests by hand. A bare CR, or any
 * other control character, has no place in a head. */
static bool take_line(struct span *text, struct span *line)
{
	if (!split(text, '\n', line))
		return false;
	if (line->size > 0 && line->at[line->size - 1] == '\r')
		line->size--;
	for (size_t i = 0; i < line->size; i++) {
		unsigned char c = (unsigned char)line->at[i];

		if ((c < ' ' && c != '\t') || c == 127)
			return false;
	}
	return true;
}

static int parse_target(struct span target, struct request *r)
{
	const char *query = memchr(target.at, '?', target.size);
	size_t size = query != NULL ? (size_t)(query - target.at) : target.size;

	if (size == 0 || *target.at != '/')
		return 400;
	if (size >= sizeof r->path)
		size = sizeof r->path - 1;
	memcpy(r->path, target.at, size);
	r->path[size] = '\0';
	return 200;
}

static int parse_request_line(struct span line, struct request *r, struct seen *seen)
{
	struct span method, target;

	if (!split(&line, ' ', &method) || !split(&line, ' ', &target) || method.size == 0)
		return 400;
	if (same(line, "HTTP/1.1"))
		r->keep_alive = true;
	else if (same(line, "HTTP/1.0"))
		seen->old = true;
	else
		return line.size > 5 && strncmp(line.at, "HTTP/", 5) == 0 ? 505 : 400;
	r->head_only = method.size == 4 && memcmp(method.at, "HEAD", 4) == 0;
	if (!r->head_only && !(method.size == 3 && memcmp(method.at, "GET", 3) == 0))
		return 405;
	return parse_target(target, r);
}

static int parse_length(struct span value, struct request *r, struct seen *seen)
{
	size_t length = 0;

	if (value.size == 0 || seen->length)
		return 400;
	seen->length = true;
	for (size_t i = 0; i < value.size; i++) {
		if (value.at[i] < '0' || value.at[i] > '9')
			return 400;
		if (length <= HTTP_BODY_MAX)
			length = length * 10 + (size_t)(value.at[i] - '0');
	}
	r->body_size = length;
	return length > HTTP_BODY_MAX ? 413 : 200;
}

/* Which of two hosts is meant, nobody knows. */
static int parse_host(struct seen *seen)
{
	if (seen->host)
		return 400;
	seen->host = true;
	return 200;
}

/* "Connection: close, keep-alive, ..." */
static void parse_connection(struct span value, struct request *r)
{
	struct span word;

	do {
		struct span rest = value;

		if (!split(&value, ',', &word)) {
			word = rest;
			value.size = 0;
		}
		if (same(trim(word), "close"))
			r->keep_alive = false;
		else if (same(trim(word), "keep-alive"))
			r->keep_alive = true;
	} while (value.size > 0);
}

static int parse_field(struct span line, struct request *r, struct seen *seen)
{
	struct span name;

	if (!split(&line, ':', &name) || name.size == 0 || trim(name).size != name.size)
		return 400;
	line = trim(line);
	if (same(name, "host"))
		return parse_host(seen);
	else if (same(name, "content-length"))
		return parse_length(line, r, seen);
	else if (same(name, "transfer-encoding"))
		return 501;
	else if (same(name, "connection"))
		parse_connection(line, r);
	return 200;
}

/* Bytes of an empty line at the beginning of `text`: 0 if there is none. */
static size_t empty_line(struct span text)
{
	if (text.size >= 2 && memcmp(text.at, "\r\n", 2) == 0)
		return 2;
	return text.size >= 1 && *text.at == '\n';
}

/* Finds the empty line that ends a head; false if it has not come. */
static bool find_end(struct span text, struct span *end)
{
	struct span line;

	while (split(&text, '\n', &line)) {
		*end = (struct span){ text.at, empty_line(text) };
		if (end->size > 0)
			return true;
	}
	return false;
}

int http_parse(const char *text, size_t size, struct request *r)
{
	struct span rest = { text, size }, line, end;
	struct seen seen = { 0 };
	int status;

	*r = (struct request){ 0 };
	/* An empty line ahead of a request is allowed, for old clients. */
	for (size_t n; (n = empty_line(rest)) > 0; rest.size -= n)
		rest.at += n;
	if (!find_end(rest, &end))
		return size >= HTTP_HEAD_MAX ? 431 : 0;
	r->head_size = (size_t)(end.at + end.size - text);
	if (r->head_size > HTTP_HEAD_MAX)
		return 431;
	rest.size = (size_t)(end.at - rest.at);

	status = take_line(&rest, &line) ? parse_request_line(line, r, &seen) : 400;
	while (status == 200 && rest.size > 0)
		status = take_line(&rest, &line) ? parse_field(line, r, &seen) : 400;
	return status == 200 && !seen.host && !seen.old ? 400 : status;
}

static void print_date(FILE *out)
{
	time_t now = time(NULL);
	struct tm tm;
	char date[64];

	gmtime_r(&now, &tm);
	strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	fprintf(out, "Date: %s\r\n", date);
}

char *http_reply(int status, const char *type, const char *body, size_t body_size,
		 const struct request *r, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (out == NULL)
		return NULL;
	fprintf(out, "HTTP/1.1 %d %s\r\n", status, http_reason(status));
	print_date(out);
	fprintf(out, "Server: weft-demo\r\nContent-Type: %s\r\nContent-Length: %zu\r\n", type,
		body_size);
	fprintf(out, "Cache-Control: no-store\r\n%s%sConnection: %s\r\n\r\n",
		status == 405 ? "Allow: GET, HEAD\r\n" : "",
		status == 503 ? "Retry-After: 1\r\n" : "", r->keep_alive ? "keep-alive" : "close");
	if (!r->head_only)
		fwrite(body, 1, body_size, out);
	if (fclose(out) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}
