/* h2_stream.c - one request by HTTP/2 and its reply, in memory. */
#include "h2_stream.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

#include "dispatch.h"
#include "h2_session.h"
#include "settings.h"

static size_t room_for(const struct h2_bytes *b, size_t size)
{
	size_t room = b->room;

	while (room < b->size + size)
		room = room == 0 ? 256 : 2 * room;
	return room;
}

size_t h2_bytes_more(const struct h2_bytes *b, size_t size)
{
	return room_for(b, size) - b->room;
}

int h2_bytes_add(struct h2_bytes *b, const void *data, size_t size, size_t most)
{
	size_t room;
	char *at;

	if (size > most - b->size)
		return -EMSGSIZE;
	room = room_for(b, size);
	if (room > b->room) {
		at = realloc(b->at, room);
		if (at == NULL)
			return -ENOMEM;
		b->at = at;
		b->room = room;
	}
	if (size > 0)
		memcpy(b->at + b->size, data, size);
	b->size += size;
	return 0;
}

/* What connections keep beyond their own shares. */
static _Atomic size_t kept_by_all;

static size_t beyond_share(size_t kept)
{
	size_t share = H2_STREAM_COST + settings.max_head;

	return kept > share ? kept - share : 0;
}

bool h2_keep(struct h2_session *session, size_t size)
{
	size_t before = atomic_fetch_add(&session->kept, size);
	size_t more = beyond_share(before + size) - beyond_share(before);

	if (more == 0 || atomic_fetch_add(&kept_by_all, more) + more <= settings.max_kept)
		return true;
	h2_let_go(session, size);
	return false;
}

void h2_let_go(struct h2_session *session, size_t size)
{
	size_t before = atomic_fetch_sub(&session->kept, size);
	size_t less = beyond_share(before) - beyond_share(before - size);

	if (less > 0)
		atomic_fetch_sub(&kept_by_all, less);
}

static void free_bytes(struct h2_bytes *b)
{
	free(b->at);
	*b = (struct h2_bytes){ NULL, 0, 0 };
}

static int add_text(struct h2_bytes *b, struct text text)
{
	return h2_bytes_add(b, text.at, text.size, settings.max_head);
}

/* The request */

static bool is_more(struct text number, uint64_t most)
{
	uint64_t n = 0;

	for (size_t i = 0; i < number.size; i++) {
		if (n > (UINT64_MAX - 9) / 10)
			return true;
		n = n * 10 + (uint64_t)(number.at[i] - '0'); /* nghttp2 has seen that it is one */
	}
	return n > most;
}

static int add_line(struct h2_stream *s, struct text name, struct text value)
{
	struct h2_bytes *others = &s->line[H2_OTHERS];
	int rc;

	if (text_is(name, TEXT(":method")))
		return add_text(&s->line[H2_METHOD], value);
	if (text_is(name, TEXT(":path")))
		return add_text(&s->line[H2_PATH], value);
	if (text_is(name, TEXT(":authority")))
		return add_text(&s->line[H2_AUTHORITY], value);
	if (name.size > 0 && name.at[0] == ':')
		return 0;
	if (text_is(name, TEXT("host")))
		return s->line[H2_AUTHORITY].size > 0 ? 0 : add_text(&s->line[H2_AUTHORITY], value);
	rc = add_text(others, name);
	rc = rc == 0 ? add_text(others, TEXT(": ")) : rc;
	rc = rc == 0 ? add_text(others, value) : rc;
	return rc == 0 ? add_text(others, TEXT("\r\n")) : rc;
}

int h2_stream_header(struct h2_stream *s, struct text name, struct text value)
{
	/* The body's length is counted by its frames; this header only announces it. */
	if (text_is(name, TEXT("content-length")))
		return is_more(value, settings.max_body) ? 413 : 0;
	return add_line(s, name, value) < 0 ? 503 : 0;
}

static struct text text_of(const struct h2_bytes *b)
{
	return (struct text){ b->at, b->size };
}

static int make_head(struct h2_stream *s)
{
	const struct text parts[] = {
		text_of(&s->line[H2_METHOD]),    TEXT(" "),
		text_of(&s->line[H2_PATH]),      TEXT(" HTTP/1.1\r\nHost: "),
		text_of(&s->line[H2_AUTHORITY]), TEXT("\r\n"),
		text_of(&s->line[H2_OTHERS]),    TEXT("\r\n"),
	};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (add_text(&s->head, parts[i]) < 0)
			return 503;
	for (int i = 0; i < 4; i++)
		free_bytes(&s->line[i]);
	return 0;
}

int h2_stream_request(struct h2_stream *s, struct request *r)
{
	int status = s->head.size == 0 ? make_head(s) : 0;

	memset(r, 0, offsetof(struct request, headers));
	if (status != 0)
		return status;
	status = request_parse(r, s->head.at, s->head.size, (unsigned)settings.max_headers);
	s->verb = r->verb;
	s->target = r->target;
	return s->error != 0 ? s->error : status;
}

bool h2_stream_wants_body(struct h2_stream *s)
{
	struct request r;

	return h2_stream_request(s, &r) == 0 && dispatch_wants_body(&r);
}

void h2_forget_body(struct h2_stream *s)
{
	s->session->bodies -= s->body.size;
	h2_let_go(s->session, s->body.room);
	free_bytes(&s->body);
	s->body_used = 0;
}

ssize_t h2_read(struct h2_stream *s, void *buf, size_t size)
{
	size_t left = s->body.size - s->body_used;

	size = size < left ? size : left;
	if (size > 0)
		memcpy(buf, s->body.at + s->body_used, size);
	s->body_used += size;
	return (ssize_t)size;
}

/* The reply */

/* Names must be in small letters. */
static int add_header(struct h2_stream *s, struct text name, struct text value)
{
	char *from;

	if (s->count == H2_REPLY_HEADERS)
		return -EMSGSIZE;
	if (h2_bytes_add(&s->text, name.at, name.size, STREAM_OUT) < 0 ||
	    h2_bytes_add(&s->text, value.at, value.size, STREAM_OUT) < 0)
		return -ENOMEM;
	from = s->text.at + s->text.size - value.size - name.size;
	for (size_t i = 0; i < name.size; i++)
		from[i] = (char)tolower((unsigned char)from[i]);
	s->headers[s->count].name = name.size;
	s->headers[s->count].value = value.size;
	s->count++;
	return 0;
}

static int add_extra(struct h2_stream *s, struct text extra)
{
	int rc = 0;

	while (extra.size > 0 && rc == 0) {
		const char *colon = memchr(extra.at, ':', extra.size);
		const char *end = memchr(extra.at, '\r', extra.size);

		if (colon == NULL || end == NULL)
			return -EINVAL;
		rc = add_header(s, (struct text){ extra.at, (size_t)(colon - extra.at) },
				text_trim((struct text){ colon + 1, (size_t)(end - colon - 1) }));
		extra.size -= (size_t)(end + 2 - extra.at);
		extra.at = end + 2;
	}
	return rc;
}

int h2_reply_head(struct h2_stream *s, int status, struct text type, uint64_t size,
		  struct text extra, const char *date)
{
	char number[24];
	int rc, n = snprintf(number, sizeof number, "%d", status);

	s->status = status;
	s->count = s->text.size = 0;
	rc = add_header(s, TEXT(":status"), (struct text){ number, (size_t)n });
	if (rc == 0)
		rc = add_header(s, TEXT("server"), TEXT("weft"));
	if (rc == 0)
		rc = add_header(s, TEXT("date"), (struct text){ date, DATE_SIZE - 1 });
	if (rc == 0 && type.size > 0)
		rc = add_header(s, TEXT("content-type"), type);
	if (rc == 0 && size != REPLY_UNKNOWN && status != 204 && status != 304) {
		n = snprintf(number, sizeof number, "%llu", (unsigned long long)size);
		rc = add_header(s, TEXT("content-length"), (struct text){ number, (size_t)n });
	}
	return rc == 0 ? add_extra(s, extra) : rc;
}

size_t h2_stream_headers(const struct h2_stream *s, nghttp2_nv out[H2_REPLY_HEADERS])
{
	uint8_t *at = (uint8_t *)s->text.at;

	for (size_t i = 0; i < s->count; i++) {
		size_t name = s->headers[i].name, value = s->headers[i].value;

		out[i] = (nghttp2_nv){ at, at + name, name, value, NGHTTP2_NV_FLAG_NONE };
		at += name + value;
	}
	return s->count;
}

/* Counts bytes of a reply, and the memory for them. False: too many, for the connection or for the
 * server. */
static bool count_in(struct h2_session *session, size_t size, size_t room)
{
	if (atomic_fetch_add(&session->unsent, size) + size <= settings.max_unsent &&
	    h2_keep(session, room))
		return true;
	atomic_fetch_sub(&session->unsent, size);
	return false;
}

static void count_out(struct h2_session *session, size_t size, size_t room)
{
	atomic_fetch_sub(&session->unsent, size);
	h2_let_go(session, room);
}

/* The handler may be in another color than the connection. */
int h2_reply_write(struct h2_stream *s, const void *data, size_t size)
{
	size_t more = h2_bytes_more(&s->out, size);

	if (s->refused != 0 || size > settings.max_unsent - s->out.size) {
		s->refused = s->refused != 0 ? s->refused : 500;
		return -EMSGSIZE;
	}
	if (!count_in(s->session, size, more)) {
		s->refused = 503;
		return -ENOBUFS;
	}
	if (h2_bytes_add(&s->out, data, size, SIZE_MAX) < 0) {
		count_out(s->session, size, more);
		s->refused = 503;
		return -ENOMEM;
	}
	s->left = s->out.size;
	return 0;
}

int h2_reply_forget(struct h2_stream *s)
{
	int status = s->refused;

	count_out(s->session, s->out.size, s->out.room);
	free_bytes(&s->out);
	s->left = 0;
	s->refused = 0;
	return status;
}

int h2_reply_file(struct h2_stream *s, struct file *file, uint64_t first, uint64_t size)
{
	atomic_fetch_add(&file->holders, 1);
	s->file = file;
	s->at_byte = first;
	s->left = size;
	return 0;
}

ssize_t h2_stream_next(struct h2_stream *s, uint8_t *buf, size_t size, bool *ended)
{
	const char *from = s->file != NULL ? s->file->body : s->out.at;
	ssize_t n = (ssize_t)(size < s->left ? size : s->left);

	if (from == NULL && n > 0)
		n = weft_pread(s->file->fd, buf, (size_t)n, (int64_t)s->at_byte);
	else if (n > 0)
		memcpy(buf, from + s->at_byte, (size_t)n);
	if (n <= 0 && s->left > 0)
		return -EIO; /* the file became shorter */
	s->at_byte += (uint64_t)n;
	s->left -= (uint64_t)n;
	s->sent += (uint64_t)n;
	*ended = s->left == 0;
	return n;
}

void h2_stream_free(struct h2_stream *s)
{
	for (int i = 0; i < 4; i++)
		free(s->line[i].at);
	free(s->head.at);
	free(s->text.at);
	free(s->body.at);
	free(s->out.at);
	if (s->file != NULL)
		file_drop(s->file);
	free(s);
}
