/* reply.c - writes replies. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <weft/weft.h>

#include "exchange.h"
#include "h2.h"
#include "server.h"

enum { HEAD_MOST = 512 }; /* of what is not in `extra` or `type` */

const struct request *exchange_request(const struct exchange *x)
{
	return &x->request;
}

bool exchange_is_local(const struct exchange *x)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)x->peer;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)x->peer;

	if (x->peer->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ||
	       (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) && v6->sin6_addr.s6_addr[12] == 127);
}

const char *reply_reason(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 204:
		return "No Content";
	case 206:
		return "Partial Content";
	case 301:
		return "Moved Permanently";
	case 304:
		return "Not Modified";
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 408:
		return "Request Timeout";
	case 412:
		return "Precondition Failed";
	case 413:
		return "Content Too Large";
	case 414:
		return "URI Too Long";
	case 416:
		return "Range Not Satisfiable";
	case 417:
		return "Expectation Failed";
	case 431:
		return "Request Header Fields Too Large";
	case 500:
		return "Internal Server Error";
	case 501:
		return "Not Implemented";
	case 503:
		return "Service Unavailable";
	case 505:
		return "HTTP Version Not Supported";
	default:
		return "Unknown";
	}
}

static char *put(char *to, struct text text)
{
	memcpy(to, text.at, text.size);
	return to + text.size;
}

static char *put_number(char *to, uint64_t n)
{
	char digits[20];
	size_t i = sizeof digits;

	do
		digits[--i] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	return put(to, (struct text){ digits + i, sizeof digits - i });
}

static char *put_line(char *to, int status)
{
	const char *reason;

	if (status == 200) /* mostly */
		return put(to, TEXT("HTTP/1.1 200 OK\r\n"));
	reason = reply_reason(status);
	to = put_number(put(to, TEXT("HTTP/1.1 ")), (uint64_t)status);
	*to++ = ' ';
	return put(put(to, (struct text){ reason, strlen(reason) }), TEXT("\r\n"));
}

static void set_date(struct exchange *x)
{
	time_t now = time(NULL);

	if (now != x->second) {
		x->second = now;
		date_write(now, x->date);
	}
}

static char *put_date(char *to, const struct exchange *x)
{
	to = put(to, TEXT("Server: weft\r\nDate: "));
	to = put(to, (struct text){ x->date, DATE_SIZE - 1 });
	return put(to, TEXT("\r\n"));
}

static bool has_no_body(int status)
{
	return status < 200 || status == 204 || status == 304;
}

static bool wants_body(const struct exchange *x)
{
	return x->request.method != METHOD_HEAD && !has_no_body(x->status);
}

/* How the end of the body is to be known. */
static char *put_length(char *to, struct exchange *x, uint64_t size)
{
	if (has_no_body(x->status))
		return to;
	if (size != REPLY_UNKNOWN)
		return put(put_number(put(to, TEXT("Content-Length: ")), size), TEXT("\r\n"));
	if (x->request.minor == 0) {
		x->keep_alive = false; /* by the end of the connection */
		return to;
	}
	x->in_chunks = true;
	return put(to, TEXT("Transfer-Encoding: chunked\r\n"));
}

int reply_head(struct exchange *x, int status, struct text type, uint64_t size, struct text extra)
{
	char *begin, *to;

	if (HEAD_MOST + type.size + extra.size > STREAM_OUT)
		return -EMSGSIZE;
	x->status = status;
	set_date(x);
	if (x->h2 != NULL)
		return h2_reply_head(x->h2, status, type, size, extra, x->date);
	to = begin = stream_reserve(x->stream, HEAD_MOST + type.size + extra.size);
	if (begin == NULL)
		return x->stream->error;
	if (server_is_stopping())
		x->keep_alive = false;
	to = put_date(put_line(to, status), x);
	if (type.size > 0)
		to = put(put(put(to, TEXT("Content-Type: ")), type), TEXT("\r\n"));
	to = put_length(to, x, size);
	if (!x->keep_alive)
		to = put(to, TEXT("Connection: close\r\n"));
	else if (x->request.minor == 0)
		to = put(to, TEXT("Connection: keep-alive\r\n"));
	to = put(put(to, extra), TEXT("\r\n"));
	stream_wrote(x->stream, (size_t)(to - begin));
	return 0;
}

int reply_body(struct exchange *x, const void *data, size_t size)
{
	if (!wants_body(x) || size == 0)
		return x->stream->error;
	return x->h2 != NULL ? h2_reply_write(x->h2, data, size)
			     : stream_write(x->stream, data, size);
}

int reply_part(struct exchange *x, struct file *f, uint64_t first, uint64_t size)
{
	if (!wants_body(x) || size == 0)
		return x->stream->error;
	if (x->h2 != NULL)
		return h2_reply_file(x->h2, f, first, size);
	if (f->body != NULL)
		return stream_write(x->stream, f->body + first, size);
	return stream_write_file(x->stream, f->fd, first, size);
}

static struct text text_of(const char *string)
{
	return (struct text){ string, strlen(string) };
}

int reply(struct exchange *x, int status, const char *type, struct text body)
{
	int rc = reply_head(x, status, text_of(type), body.size, TEXT(""));

	x->ended = true;
	return rc < 0 ? rc : reply_body(x, body.at, body.size);
}

int reply_begin(struct exchange *x, int status, const char *type, const char *extra)
{
	return reply_head(x, status, text_of(type), REPLY_UNKNOWN, text_of(extra));
}

int reply_write(struct exchange *x, const void *data, size_t size)
{
	char line[24];
	int n;

	if (!x->in_chunks || !wants_body(x) || size == 0)
		return reply_body(x, data, size);
	n = snprintf(line, sizeof line, "%zx\r\n", size);
	stream_write(x->stream, line, (size_t)n);
	stream_write(x->stream, data, size);
	return stream_write(x->stream, "\r\n", 2);
}

int reply_end(struct exchange *x)
{
	x->ended = true;
	if (x->in_chunks && wants_body(x))
		stream_write(x->stream, "0\r\n\r\n", 5);
	return x->stream->error;
}

int reply_status(struct exchange *x, int status)
{
	char body[80];
	int n = snprintf(body, sizeof body, "%d %s\n", status, reply_reason(status));

	if (has_no_body(status))
		n = 0;
	return reply(x, status, "text/plain", (struct text){ body, (size_t)n });
}

int reply_error(struct exchange *x, int status)
{
	x->keep_alive = false;
	return reply_status(x, status);
}
