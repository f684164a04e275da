/* h2_frames.h - where the frames of HTTP/2 begin and end in what a client sends. */
#ifndef HTTPD_H2_FRAMES_H
#define HTTPD_H2_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct h2_frames {
	size_t left;  /* bytes of the frame under way, or of the preface, that are still to come */
	bool of_head; /* the frame under way is HEADERS or CONTINUATION */
	bool open;    /* the last HEADERS or CONTINUATION did not end its head */
	size_t head_size; /* bytes of the last head's frames so far, as they were announced */
	uint64_t heads;   /* heads that have begun so far */
	uint64_t count;   /* frames that have begun so far */
};

/* Before the first byte of the client's preface. */
void h2_frames_begin(struct h2_frames *f);

/* How much of the input nghttp2 may get: all, except an incomplete 9-byte frame header at its end.
 * nghttp2 counts each call that it gets before a CONTINUATION frame as such a frame, and ends a
 * connection that has too many. */
size_t h2_frames_take(struct h2_frames *f, const uint8_t *in, size_t have);

/* Has a head begun and not ended? No other frame can come meanwhile. */
static inline bool h2_frames_in_head(const struct h2_frames *f)
{
	return f->open || (f->of_head && f->left > 0);
}

#endif
