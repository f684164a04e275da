/* sendfile.c - sending files without blocking a worker.
 *
 * sendfile(2) would block on a page that is not in memory, so pages are looked at
 * first, and read by the offload pool if need be. It would also block on a full
 * socket that is not O_NONBLOCK; such a socket gets copies. A reader that keeps up
 * would keep a worker for the whole file, so it pauses now and then.
 */
#include <errno.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io/kernel.h"
#include "io/op.h"
#include "platform/clock.h"

enum { CHUNK = 256 * 1024, PROBE_EVERY = 64 * 1024, COPY = 16 * 1024, STEP = 1024 * 1024 };

/* How long a chunk that was in memory is taken to be there still, of the first ones of a
 * file. Looking costs several system calls, and servers send the same files again and again;
 * where it is wrong, a worker waits for the disk once. */
#define WARM_NS (100 * 1000 * 1000)
enum { WARM_CHUNKS = 64 };

/* Whether [offset, offset + len) can be read without waiting, by samples: the
 * kernel reads ahead in larger units than the distance between them. *len is cut
 * at the end of the file. */
static int64_t pages_ready(int in, int64_t offset, size_t *len)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	size_t at = 0;

	while (*len > 0) {
		int64_t n = wf_result(preadv2(in, &iov, 1, offset + (int64_t)at, RWF_NOWAIT));

		if (n == 0)
			*len = at; /* the end is before this sample: sendfile finds it */
		if (n == 0 || (n > 0 && at + 1 == *len))
			return 1;
		if (n < 0)
			return n == -EAGAIN || wf_nowait_result(n) == -EOPNOTSUPP ? 0 : n;
		at = at + PROBE_EVERY < *len ? at + PROBE_EVERY : *len - 1;
	}
	return 1;
}

/* The bit of the chunk at `offset`, or 0 if it has none. */
static uint64_t chunk_bit(int64_t offset)
{
	return offset / CHUNK < WARM_CHUNKS ? UINT64_C(1) << offset / CHUNK : 0;
}

static bool is_warm(struct wf_fd *f, int64_t offset)
{
	uint64_t warm = __atomic_load_n(&f->warm, __ATOMIC_RELAXED);

	if (!(warm & chunk_bit(offset)))
		return false;
	if (wf_now() - __atomic_load_n(&f->warm_since, __ATOMIC_RELAXED) < WARM_NS)
		return true;
	__atomic_store_n(&f->warm, 0, __ATOMIC_RELAXED);
	return false;
}

/* The first one to be warm tells since when: the others are so for less than they could. */
static void set_warm(struct wf_fd *f, int64_t offset)
{
	if (__atomic_load_n(&f->warm, __ATOMIC_RELAXED) == 0)
		__atomic_store_n(&f->warm_since, wf_now(), __ATOMIC_RELAXED);
	__atomic_fetch_or(&f->warm, chunk_bit(offset), __ATOMIC_RELAXED);
}

/* pages_ready, unless that is known. A piece never reaches beyond its chunk. */
static int64_t chunk_ready(int in, int64_t offset, size_t *len)
{
	struct wf_fd *f = wf_fd_peek(in);
	int64_t ready;

	if (f != NULL && is_warm(f, offset))
		return 1;
	ready = pages_ready(in, offset, len);
	if (f != NULL && ready > 0 && *len == CHUNK)
		set_warm(f, offset);
	return ready;
}

static int64_t send_copy(int fd, int in, int64_t offset, size_t len)
{
	char buf[COPY];
	int64_t n = wf_result(pread(in, buf, len < COPY ? len : COPY, offset));

	return n <= 0 ? n : wf_result(send(fd, buf, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL));
}

/* Holds the file's record. While the call waits for the socket the file may be closed, and its
 * number be given to another. Returns the record, to be dropped; NULL if the file was closed. */
static struct wf_fd *hold_source(const weft_op *op)
{
	int err;
	struct wf_fd *f = wf_fd_get(op->u_.file_.in, &err);

	return f != NULL && wf_fd_hold(f, op->u_.file_.same) ? f : NULL;
}

/* What the offload pool has read is warm. It is not asked for again: not every
 * file system can tell, and the pages of a busy machine go quickly. */
static int64_t send_some(const weft_op *op, bool copy)
{
	int64_t offset = op->u_.file_.offset + (int64_t)op->done_;
	size_t len = op->u_.file_.len - op->done_;
	off_t at = offset;
	int64_t ready;

	if (len > CHUNK - (size_t)(offset % CHUNK))
		len = CHUNK - (size_t)(offset % CHUNK);
	if (op->done_ < op->u_.file_.warm) {
		if (len > op->u_.file_.warm - op->done_)
			len = op->u_.file_.warm - op->done_;
	} else {
		ready = chunk_ready(op->u_.file_.in, offset, &len);
		if (ready <= 0)
			return ready == 0 ? WF_TRY_OFFLOAD : ready;
	}
	if (copy)
		return send_copy(op->fd, op->u_.file_.in, offset, len > 0 ? len : 1);
	/* Where the file ends one byte more than it has is asked for. */
	return wf_result(sendfile(op->fd, op->u_.file_.in, &at, len > 0 ? len : 1));
}

static int check_source(int in, int64_t offset)
{
	struct wf_fd *f = wf_fd_peek(in);
	struct stat st;

	if (f != NULL && is_warm(f, offset))
		return 0; /* it was looked at then */
	if (fstat(in, &st) < 0)
		return -EBADF;
	return S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) ? 0 : -EINVAL;
}

static int64_t send_from(weft_op *op)
{
	bool copy = !wf_nonblocking(op->fd);
	size_t pause = op->done_ + STEP;
	int64_t n = op->done_ == 0 ? check_source(op->u_.file_.in, op->u_.file_.offset) : 0;

	if (n < 0)
		return n;
	while (op->done_ < op->u_.file_.len) {
		if (op->done_ >= pause)
			return WF_TRY_PAUSE;
		n = send_some(op, copy);
		if (n == 0)
			break;
		if (n < 0)
			return n;
		op->done_ += (size_t)n;
	}
	return (int64_t)op->done_;
}

int64_t wf_try_sendfile(weft_op *op)
{
	struct wf_fd *in = hold_source(op);
	int64_t n;

	if (in == NULL)
		return -EBADF;
	n = send_from(op);
	wf_fd_drop(in);
	return n;
}

/* Reads the pages that sendfile will need into the page cache. */
static int64_t warm(weft_op *op)
{
	static const size_t step = 32 * 1024;
	char buf[32 * 1024];
	int64_t offset = op->u_.file_.offset + (int64_t)op->done_;
	size_t len = op->u_.file_.len - op->done_;

	if (len > CHUNK)
		len = CHUNK;
	for (size_t at = 0; at < len; at += step) {
		ssize_t n = pread(op->u_.file_.in, buf, step, offset + (int64_t)at);

		if (n < 0)
			return -errno;
		if ((size_t)n < step)
			break;
	}
	op->u_.file_.warm = op->done_ + len;
	return 0;
}

int64_t wf_warm_file(weft_op *op)
{
	struct wf_fd *in = hold_source(op);
	int64_t n;

	if (in == NULL)
		return -EBADF;
	n = warm(op);
	wf_fd_drop(in);
	return n;
}
