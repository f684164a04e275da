/* stream.c - a connection's bytes. */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "common/socket.h"
#include "settings.h"

/* A peer must take so much within send_time. */
enum { SLICE = 256 << 10, TLS_BLOCK = 16384 };

/* The kernel has room for so much when poll(2) reports POLLOUT. */
enum { PIECE = 4096 };

/* A client that takes longer for what is sent at a time can lose its place, until it has taken
 * some. */
#define TAKE_TIME (100 * WEFT_MS)

/* How long, and for how many bytes, we listen to one that should close first. */
#define CLOSE_TIME (2 * WEFT_SEC)
enum { CLOSE_BYTES = 1 << 20 };

/* Sending */

/* Many connections' sends go to the kernel together, which is cheaper by far, but makes each
 * thread wait. With a connection that ends, or before more that follows, it is cheaper to have
 * done with it at once. */
static size_t send_at_once(struct stream *s, const char *data, size_t size, int flags)
{
	bool at_once = s->last || flags & MSG_MORE;
	ssize_t n = at_once ? send(s->fd, data, size, flags | MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

	return n > 0 ? (size_t)n : 0;
}

static uint64_t send_deadline(void)
{
	return weft_now() + settings.send_time * WEFT_MS;
}

/* A piece of a reply: bytes in memory, or of a file. */
struct slice {
	const char *data; /* NULL: of the file */
	int flags;        /* MSG_MORE if more follows at once, else 0 */
	int file;
	uint64_t offset;
	size_t size;
};

static void take_off(struct slice *slice, size_t size)
{
	if (slice->data != NULL)
		slice->data += size;
	slice->offset += size;
	slice->size -= size;
}

static bool can_take(const struct stream *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLOUT };

	return poll(&p, 1, 0) > 0;
}

/* A file may come slowly, too. If the client could take some all the same, a piece for which it has
 * room gets all the time. */
static ssize_t send_file(struct stream *s, const struct slice *slice, uint64_t soon,
			 uint64_t deadline)
{
	int64_t offset = (int64_t)slice->offset;
	ssize_t n = weft_sendfile_until(s->fd, slice->file, offset, slice->size, soon);

	if (n != -ETIMEDOUT || !can_take(s))
		return n;
	return weft_sendfile_until(s->fd, slice->file, offset,
				   slice->size < PIECE ? slice->size : PIECE, deadline);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static ssize_t send_some(struct stream *s, const struct slice *slice, uint64_t deadline)
{
	uint64_t soon = least(deadline, weft_now() + TAKE_TIME);

	if (slice->data == NULL)
		return send_file(s, slice, soon, deadline);
	if (s->tls != NULL)
		return tls_send(s->tls, slice->data, slice->size, soon);
	return weft_send_until(s->fd, slice->data, slice->size, MSG_WAITALL | slice->flags, soon);
}

/* Waits until the client has taken some. If it takes nothing the connection can lose its place
 * meanwhile, also if the client has sent another request. */
static int await_client(struct stream *s, uint64_t deadline)
{
	struct pollfd p = { .fd = s->fd, .events = POLLOUT };
	uint64_t now = weft_now();
	int rc;

	if (now >= deadline)
		return -ETIMEDOUT;
	if (can_take(s))
		return 0;
	place_yield(&s->place, true);
	place_wait(&s->place, now);
	rc = weft_poll_until(&p, 1, deadline);
	place_yield(&s->place, false);
	if (!place_busy(&s->place))
		return -ECONNRESET;
	return rc < 0 ? rc : 0;
}

static int send_slice(struct stream *s, struct slice slice, uint64_t deadline)
{
	while (slice.size > 0 && s->error == 0) {
		ssize_t n = send_some(s, &slice, deadline);

		if (n > 0) {
			s->sent += (uint64_t)n;
			take_off(&slice, (size_t)n);
		} else if (n != -ETIMEDOUT) {
			s->error = n < 0 ? (int)n : -ESTALE; /* the file became shorter */
		}
		if (slice.size > 0 && s->error == 0)
			s->error = await_client(s, deadline);
	}
	return s->error;
}

static int send_bytes(struct stream *s, const char *data, size_t size, int flags, uint64_t deadline)
{
	struct slice slice = { .data = data, .flags = flags, .size = size };
	size_t done = s->tls == NULL ? send_at_once(s, data, size, flags) : 0;

	s->sent += done;
	take_off(&slice, done);
	return send_slice(s, slice, deadline);
}

static int send_all(struct stream *s, const char *data, size_t size)
{
	while (size > 0 && s->error == 0) {
		size_t slice = size < SLICE ? size : SLICE;

		send_bytes(s, data, slice, slice < size ? MSG_MORE : 0, send_deadline());
		data += slice;
		size -= slice;
	}
	return s->error;
}

static int flush(struct stream *s, int flags)
{
	size_t size = s->pending;

	s->pending = 0;
	return size > 0 && s->error == 0 ? send_bytes(s, s->out, size, flags, send_deadline())
					 : s->error;
}

int stream_flush(struct stream *s)
{
	return flush(s, 0);
}

char *stream_reserve(struct stream *s, size_t size)
{
	if (s->pending + size > STREAM_OUT)
		stream_flush(s);
	return s->error == 0 ? s->out + s->pending : NULL;
}

int stream_write(struct stream *s, const void *data, size_t size)
{
	char *to;

	if (size > STREAM_OUT - s->pending) {
		flush(s, MSG_MORE);
		if (size > STREAM_OUT / 2)
			return send_all(s, data, size);
	}
	to = stream_reserve(s, size);
	if (to == NULL)
		return s->error;
	memcpy(to, data, size);
	stream_wrote(s, size);
	return 0;
}

/* Encrypted bytes must pass through our hands. */
static void read_and_send(struct stream *s, int fd, uint64_t offset, size_t size, uint64_t deadline)
{
	char block[TLS_BLOCK];

	while (size > 0 && s->error == 0) {
		ssize_t n = weft_pread(fd, block, size < sizeof block ? size : sizeof block,
				       (int64_t)offset);

		if (n <= 0) { /* 0: the file became shorter */
			s->error = n < 0 ? (int)n : -ESTALE;
			return;
		}
		send_bytes(s, block, (size_t)n, 0, deadline);
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
}

int stream_write_file(struct stream *s, int fd, uint64_t offset, uint64_t size)
{
	flush(s, MSG_MORE);
	while (size > 0 && s->error == 0) {
		struct slice slice = { .file = fd,
				       .offset = offset,
				       .size = size < SLICE ? (size_t)size : SLICE };

		if (s->tls != NULL)
			read_and_send(s, fd, offset, slice.size, send_deadline());
		else
			send_slice(s, slice, send_deadline());
		offset += slice.size;
		size -= slice.size;
	}
	return s->error;
}

/* Receiving */

/* Gives the input more memory: what is on the stack cannot grow. */
static int grow(struct stream *s, size_t size)
{
	char *in = realloc(s->in_taken ? s->in : NULL, size);

	if (in == NULL)
		return -ENOMEM;
	if (!s->in_taken)
		memcpy(in, s->in, s->end);
	s->in = in;
	s->in_size = size;
	s->in_taken = true;
	return 0;
}

static void move_down(struct stream *s)
{
	memmove(s->in + s->floor, s->in + s->begin, s->end - s->begin);
	s->end -= s->begin - s->floor;
	s->begin = s->floor;
}

/* Room for more input: behind what is there, by moving it down to the floor, or by more
 * memory, up to `most`. */
static int make_room(struct stream *s, size_t most)
{
	size_t size = 2 * s->in_size < most ? 2 * s->in_size : most;

	if (s->end < s->in_size)
		return 0;
	if (s->begin > s->floor) {
		move_down(s);
		return 0;
	}
	return size > s->in_size ? grow(s, size) : -EMSGSIZE;
}

int stream_body_room(struct stream *s, size_t head)
{
	if (s->in_size - s->begin - head >= STREAM_ROOM)
		return 0;
	move_down(s);
	return s->in_size - head >= STREAM_ROOM ? 0 : grow(s, s->in_size + STREAM_ROOM);
}

ssize_t stream_fill(struct stream *s, size_t most, uint64_t deadline)
{
	ssize_t n;
	int rc;

	if (s->pending > 0 && stream_flush(s) < 0)
		return s->error;
	if (s->begin == s->end)
		s->begin = s->end = s->floor;
	rc = make_room(s, most);
	if (rc < 0)
		return rc;
	if (s->tls != NULL)
		n = tls_recv(s->tls, s->in + s->end, s->in_size - s->end, deadline);
	else
		n = weft_recv_until(s->fd, s->in + s->end, s->in_size - s->end, 0, deadline);
	if (n > 0)
		s->end += (size_t)n;
	return n;
}

int stream_idle(struct stream *s, uint64_t deadline)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	int rc;

	if (s->tls != NULL && tls_has_more(s->tls))
		return 0;
	rc = weft_poll_until(&p, 1, deadline);
	return rc < 0 ? rc : 0;
}

void stream_lend(struct stream *s, char in[STREAM_IN])
{
	s->in = in;
	s->in_size = STREAM_IN < settings.max_head ? STREAM_IN : settings.max_head;
	s->in_taken = false;
	s->begin = s->end = s->floor = 0;
}

void stream_take_back(struct stream *s)
{
	if (s->in_taken)
		free(s->in);
	s->in = NULL;
	s->in_size = s->begin = s->end = s->floor = 0;
}

/* The end */

/* Listens until the peer closes: closing while it still sends would make the kernel throw
 * away the reply that is on its way. */
static void drain(int fd)
{
	uint64_t deadline = weft_now() + CLOSE_TIME;
	size_t left = CLOSE_BYTES;
	char scrap[1024];
	ssize_t n;

	shutdown(fd, SHUT_WR);
	while (left > sizeof scrap &&
	       (n = weft_recv_until(fd, scrap, sizeof scrap, 0, deadline)) > 0)
		left -= (size_t)n;
}

void stream_await_taken(struct stream *s)
{
	if (s->error != 0 || s->sent <= SOCKET_LEFT)
		return;
	place_yield(&s->place, true);
	place_wait(&s->place, weft_now());
	s->error = socket_await_taken(s->fd, settings.send_time);
}

void stream_close(struct stream *s, bool politely)
{
	if (s->tls != NULL)
		tls_end(s->tls);
	if (politely && s->error == 0) {
		place_wait(&s->place, weft_now());
		drain(s->fd);
	}
	place_leave(&s->place);
	if (s->error != 0)
		socket_abandon(s->fd);
	/* Not weft_close, which waits: close(2) does not block here, as the time to linger is 0. */
	weft_fd_close(s->fd);
}
