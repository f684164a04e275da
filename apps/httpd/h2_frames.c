/* h2_frames.c - where the frames of HTTP/2 begin and end in what a client sends. */
#include "h2_frames.h"

#include <nghttp2/nghttp2.h>

enum { PREFACE = NGHTTP2_CLIENT_MAGIC_LEN, FRAME_HEAD = 9 };

void h2_frames_begin(struct h2_frames *f)
{
	*f = (struct h2_frames){ .left = PREFACE };
}

static void begin_frame(struct h2_frames *f, const uint8_t head[FRAME_HEAD])
{
	uint8_t type = head[3], flags = head[4];

	f->count++;
	f->left = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
	f->of_head = type == NGHTTP2_HEADERS || type == NGHTTP2_CONTINUATION;
	if (type == NGHTTP2_HEADERS) {
		f->heads++;
		f->head_size = 0;
	}
	if (f->of_head) {
		f->open = !(flags & NGHTTP2_FLAG_END_HEADERS);
		f->head_size += f->left;
	}
}

size_t h2_frames_take(struct h2_frames *f, const uint8_t *in, size_t have)
{
	size_t at = 0;

	for (;;) {
		size_t part = f->left < have - at ? f->left : have - at;

		at += part;
		f->left -= part;
		if (have - at < FRAME_HEAD)
			return at;
		begin_frame(f, in + at);
		at += FRAME_HEAD;
	}
}
