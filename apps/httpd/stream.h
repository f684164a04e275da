/* stream.h - a connection's bytes, plain or encrypted, with a buffer each way.
 *
 * The buffers are lent by who uses the stream, so that an idle connection has none; only a
 * large head makes it take memory.
 */
#ifndef HTTPD_STREAM_H
#define HTTPD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/places.h"
#include "tls.h"

/* STREAM_OUT holds a head and a small body, so that both go by one call. */
enum { STREAM_IN = 2048, STREAM_OUT = 8192, STREAM_ROOM = 1024 };

struct stream {
	int fd;
	struct conn_place place;
	struct tls *tls; /* NULL: plain */
	char *in;
	size_t in_size;
	bool in_taken;     /* `in` is memory of its own */
	size_t begin, end; /* what came and is not used yet */
	size_t floor;      /* what is before is in use, and stays where it is */
	char *out;         /* STREAM_OUT bytes, or NULL: nothing is sent now */
	size_t pending;    /* bytes in `out`, to be sent */
	uint64_t sent;     /* bytes ever */
	bool last;         /* what is sent now is the last: it need not wait for company */
	int error;         /* that sending met; nothing more is sent then */
};

/* Lends it a buffer for input, or takes it back: nothing that came is left then. */
void stream_lend(struct stream *s, char in[STREAM_IN]);
void stream_take_back(struct stream *s);

/* Makes sure that there is room for some bytes of a body behind the head of that size, which
 * is the next that came and must not move any more afterwards. 0 or -ENOMEM. */
int stream_body_room(struct stream *s, size_t head);

/* Reads what comes, at least a byte; what is pending is sent first. The number of bytes,
 * 0 at the end, or -ETIMEDOUT, -EMSGSIZE (the buffer is full, of `most` bytes), or another
 * error. Waits. */
ssize_t stream_fill(struct stream *s, size_t most, uint64_t deadline);

/* Waits until something comes; no buffers are needed meanwhile. 0 or the error. */
int stream_idle(struct stream *s, uint64_t deadline);

/* Makes room for `size` bytes, up to STREAM_OUT, where the next output goes. Say by
 * stream_wrote how much it was. NULL: nothing can be sent any more. May wait. */
char *stream_reserve(struct stream *s, size_t size);
static inline void stream_wrote(struct stream *s, size_t size)
{
	s->pending += size;
}

/* Sends bytes, soon or at once; -Exxx if nothing more can be sent. They may wait. */
int stream_write(struct stream *s, const void *data, size_t size);
int stream_write_file(struct stream *s, int fd, uint64_t offset, uint64_t size);

/* Sends what is pending. 0 or the error. Waits. */
int stream_flush(struct stream *s);

/* Waits until the client has taken most of what was sent. The kernel can be left with the rest of a
 * small reply. But after a large one much may be left, so the connection still counts as open. */
void stream_await_taken(struct stream *s);

/* Closes it, which has no buffers any more; `politely`: after the peer has read what was
 * sent. Where sending failed the kernel forgets what is left. Waits. */
void stream_close(struct stream *s, bool politely);

#endif
