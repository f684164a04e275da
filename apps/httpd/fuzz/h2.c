/* h2.c - a connection by HTTP/2, of which nothing is real but h2*.c and nghttp2.
 * With: apps/httpd/h2.c apps/httpd/h2_events.c apps/httpd/h2_frames.c apps/httpd/h2_stream.c
 * With: apps/httpd/request.c apps/httpd/letters.c apps/httpd/settings.c apps/common/flags.c
 * With: -lnghttp2
 *
 * The input comes in pieces, as its first bytes say; handlers end at once or some pieces
 * later, so that streams are closed before, while and after they run.
 */
#include "h2.h"

#include <errno.h>

#include <weft/weft.h>

#include "counters.h"
#include "dispatch.h"
#include "h2_session.h"
#include "harness/fuzz.h"
#include "server.h"
#include "settings.h"

enum { LATER = 128, BUFFER = 4096 };

static struct {
	const char *at, *end;
	uint8_t piece, late; /* most bytes of a piece; every so many'th handler ends later */
	uint64_t now;
	unsigned calls, depth;
	struct {
		weft_thread_fn *fn;
		void *arg;
	} later[LATER];
	unsigned waiting;
} world;

static char file_body[100000];
static struct file file = { .holders = 1, .body = file_body, .size = sizeof file_body, .fd = -1 };

/* What the server around it is */

int weft_async_call(weft_thread_fn *fn, void *arg)
{
	world.calls++;
	if (world.late == 0 || world.calls % world.late != 0)
		return fn(arg);
	if (world.waiting == LATER)
		return -EAGAIN;
	world.later[world.waiting].fn = fn;
	world.later[world.waiting++].arg = arg;
	return 0;
}

static void end_one(void)
{
	if (world.waiting > 0) {
		world.waiting--;
		world.later[world.waiting].fn(world.later[world.waiting].arg);
	}
}

void weft_scope_begin_at(weft_scope *s, const char *where)
{
	(void)s;
	(void)where;
	world.depth++;
}

/* The outermost is that of the handlers. */
int weft_scope_end(weft_scope *s)
{
	(void)s;
	world.depth--;
	while (world.depth == 0 && world.waiting > 0)
		end_one();
	return 0;
}

int weft_scope_cancel(weft_scope *s)
{
	(void)s;
	return 0;
}

int weft_sleep_until(uint64_t when)
{
	world.now = when < WEFT_FOREVER ? when : world.now;
	end_one();
	return 0;
}

uint64_t weft_now(void)
{
	return world.now += WEFT_MS;
}

weft_color weft_color_current(void)
{
	return 1;
}

int weft_hop_at(weft_color color, const char *where)
{
	(void)color;
	(void)where;
	return 0;
}

ssize_t weft_pread_until(int fd, void *buf, size_t size, int64_t offset, uint64_t deadline)
{
	(void)deadline;
	(void)fd;
	(void)buf;
	(void)size;
	(void)offset;
	return -EIO;
}

bool server_is_stopping(void)
{
	return world.calls > 50;
}

bool server_set_busy(int fd, bool busy)
{
	(void)fd;
	(void)busy;
	return server_is_stopping();
}

void count(enum counter what, uint64_t n)
{
	(void)what;
	(void)n;
}

void count_reply(const struct exchange *x, uint64_t bytes, uint64_t ns)
{
	(void)bytes;
	(void)ns;
	MUST(x->h2 != NULL);
}

void file_drop(struct file *f)
{
	MUST(atomic_fetch_sub(&f->holders, 1) > 1);
}

ssize_t stream_fill(struct stream *s, size_t most, uint64_t deadline)
{
	size_t left = (size_t)(world.end - world.at), size = world.piece + 1u;

	(void)most;
	if (world.now % 3 == 0) {
		end_one();
		world.now = deadline < WEFT_FOREVER && deadline > world.now ? deadline : world.now;
		return -ETIMEDOUT;
	}
	memmove(s->in, s->in + s->begin, s->end - s->begin);
	s->end -= s->begin;
	s->begin = 0;
	size = size < left ? size : left;
	MUST(size <= BUFFER - s->end);
	memcpy(s->in + s->end, world.at, size);
	s->end += size;
	world.at += size;
	return (ssize_t)size;
}

bool place_busy(struct conn_place *p)
{
	(void)p;
	return true;
}

void place_sent(struct conn_place *p, uint64_t when)
{
	(void)p;
	(void)when;
}

void place_wait(struct conn_place *p, uint64_t now)
{
	(void)p;
	(void)now;
}

int stream_write(struct stream *s, const void *data, size_t size)
{
	(void)data;
	s->sent += size;
	return s->sent > 10 << 20 ? s->error = -EPIPE : 0;
}

int stream_flush(struct stream *s)
{
	return s->error;
}

void exchange_begin(struct exchange *x)
{
	x->status = 0;
	x->keep_alive = x->ended = x->in_chunks = false;
}

int reply_error(struct exchange *x, int status)
{
	x->status = status;
	x->ended = true;
	return h2_reply_head(x->h2, status, TEXT("text/plain"), 0, TEXT(""), file_body);
}

bool dispatch_wants_body(const struct request *r)
{
	return r->path.size % 3 != 0;
}

/* Reads the body, and answers by a file, by bytes, or not at all. */
void dispatch(struct exchange *x)
{
	char block[100];

	while (h2_read(x->h2, block, sizeof block) > 0)
		;
	x->status = 200;
	x->ended = x->request.path.size % 4 != 3;
	h2_reply_head(x->h2, 200, TEXT("text/plain"), REPLY_UNKNOWN, TEXT("Location: x\r\n"),
		      "Thu, 01 Jan 1970 00:00:00 GMT");
	if (x->request.path.size % 2 == 0)
		h2_reply_file(x->h2, &file, 5, sizeof file_body - 5);
	else
		h2_reply_write(x->h2, block, sizeof block);
}

FUZZ(in, size)
{
	static char buffer[BUFFER];
	struct conn c = { .stream = { .fd = -1, .in = buffer, .in_size = sizeof buffer } };
	struct exchange x = { .stream = &c.stream, .peer = &c.peer };
	static const char preface[] = H2_PREFACE;
	static struct h2_session all;

	if (size < 2)
		return;
	memset(&world, 0, sizeof world);
	world.piece = (uint8_t)in[0];
	world.late = (uint8_t)in[1] % 4;
	world.at = in + 2;
	world.end = in + size;
	settings.max_head = 2048;
	settings.max_body = 4096;
	settings.max_kept = 4096;
	settings.max_unsent = 150;                   /* one reply and a half */
	memcpy(buffer, preface, sizeof preface - 1); /* what every one begins with */
	c.stream.end = sizeof preface - 1;
	c.idle_until = WEFT_SEC;
	h2_serve(&c, &x);
	MUST(atomic_load(&file.holders) == 1);
	MUST(h2_keep(&all, settings.max_head + settings.max_kept)); /* nothing else is kept */
	h2_let_go(&all, settings.max_head + settings.max_kept);
}
