/* h2_client.c - talks to weft-httpd by frames of HTTP/2. */
#include "h2_client.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct frame last;

static nghttp2_hd_inflater *inflater;

int h2_dial_silent(void)
{
	if (inflater != NULL)
		nghttp2_hd_inflate_del(inflater);
	CHECK_EQ(nghttp2_hd_inflate_new(&inflater), 0);
	return dial();
}

int h2_dial(const char *settings, size_t size)
{
	int fd = h2_dial_silent();

	say(fd, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
	h2_say(fd, SETTINGS, 0, 0, settings, size);
	return fd;
}

void h2_say(int fd, int type, int flags, int stream, const void *data, size_t size)
{
	uint8_t *out = malloc(9 + size);
	const uint8_t head[9] = { (uint8_t)(size >> 16),   (uint8_t)(size >> 8),
				  (uint8_t)size,           (uint8_t)type,
				  (uint8_t)flags,          (uint8_t)(stream >> 24),
				  (uint8_t)(stream >> 16), (uint8_t)(stream >> 8),
				  (uint8_t)stream };

	memcpy(out, head, sizeof head);
	if (size > 0)
		memcpy(out + 9, data, size);
	say_bytes(fd, out, 9 + size);
	free(out);
}

void h2_ask(int fd, int stream, const char *method, const char *path, bool whole)
{
	char block[4096] = "\x86\x01\x01x", *at = block + 4;
	size_t size = strlen(path);

	*at++ = 2; /* :method */
	*at++ = (char)strlen(method);
	at = stpcpy(at, method);
	*at++ = 4; /* :path */
	if (size < 127) {
		*at++ = (char)size;
	} else {
		*at++ = 127;
		*at++ = (char)((size - 127) % 128 | 128);
		*at++ = (char)((size - 127) / 128);
	}
	at = stpcpy(at, path);
	h2_say(fd, HEADERS, END_HEADERS | (whole ? END_STREAM : 0), stream, block,
	       (size_t)(at - block));
}

static bool hear_bytes(int fd, void *to, size_t size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = recv(fd, (char *)to + have, size - have, 0);

		CHECK(n >= 0 || errno == ECONNRESET);
		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

static void note(const nghttp2_nv *nv)
{
	if (nv->namelen == 7 && memcmp(nv->name, ":status", 7) == 0)
		last.status = atoi((const char *)nv->value);
	if (nv->namelen == 8 && memcmp(nv->name, "location", 8) == 0)
		snprintf(last.location, sizeof last.location, "%.*s", (int)nv->valuelen,
			 (const char *)nv->value);
}

static void read_headers(void)
{
	const uint8_t *at = last.data, *end = at + last.size;
	int flags = 0;

	last.status = 0;
	last.location[0] = '\0';
	while (!(flags & NGHTTP2_HD_INFLATE_FINAL)) {
		nghttp2_nv nv;
		ssize_t n = nghttp2_hd_inflate_hd2(inflater, &nv, &flags, at, (size_t)(end - at),
						   last.flags & END_HEADERS);

		CHECK(n >= 0);
		at += n;
		if (flags & NGHTTP2_HD_INFLATE_EMIT)
			note(&nv);
	}
	nghttp2_hd_inflate_end_headers(inflater);
}

bool h2_hear(int fd)
{
	uint8_t head[9];

	if (!hear_bytes(fd, head, sizeof head))
		return false;
	last.size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
	last.type = head[3];
	last.flags = head[4];
	last.stream = head[5] << 24 | head[6] << 16 | head[7] << 8 | head[8];
	CHECK(last.size <= sizeof last.data);
	if (!hear_bytes(fd, last.data, last.size))
		return false;
	if (last.type == HEADERS)
		read_headers();
	return true;
}

int h2_hear_end(int fd)
{
	while (h2_hear(fd))
		if (last.type == RST_STREAM || (last.type <= HEADERS && last.flags & END_STREAM))
			return last.stream;
	return 0;
}
