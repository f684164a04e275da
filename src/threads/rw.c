/* rw.c - reading and writing, in all forms that move bytes. */
#include <errno.h>

#include "threads/call.h"

/* A full read suggests that there is more. */
static ssize_t was_read(int fd, int64_t n, size_t len)
{
	if (n > 0 && (size_t)n == len)
		wf_now_more(fd);
	return (ssize_t)n;
}

static WF_HOT WF_NOINLINE ssize_t read_waiting(struct wf_target t, void *buf, size_t len,
					       int64_t offset, uint64_t deadline)
{
	struct wf_call c;

	int64_t n;

	wf_call_init(&c, "read", t);
	wf_later_read(&c.op, t.fd, buf, len, offset);
	n = wf_call_wait(&c, deadline);
	return offset >= 0 ? (ssize_t)n : was_read(t.fd, n, len);
}

static inline ssize_t do_read(struct wf_target t, void *buf, size_t len, uint64_t deadline)
{
	struct wf_now now = wf_now_read(t, buf, len, wf_past(deadline));

	t.mark = now.mark;
	return now.n != WF_NOW_WAIT ? (ssize_t)wf_answered(now.n)
				    : read_waiting(t, buf, len, -1, deadline);
}

ssize_t weft_read_until(int fd, void *buf, size_t len, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_read", WF_CALLER);

	return rc < 0 ? rc : do_read(wf_number(fd), buf, len, deadline);
}

WF_HOT ssize_t weft_pread_until(int fd, void *buf, size_t len, int64_t offset, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_pread", WF_CALLER);

	struct wf_target t = wf_target(fd);
	int64_t n;

	if (rc == 0 && offset < 0)
		rc = -EINVAL;
	if (WF_UNLIKELY(rc < 0))
		return rc;
	n = wf_now_pread(t, buf, len, offset);
	return WF_LIKELY(n != WF_NOW_WAIT) ? (ssize_t)wf_answered(n)
					   : read_waiting(t, buf, len, offset, deadline);
}

static WF_NOINLINE ssize_t write_waiting(struct wf_target t, const void *buf, size_t len,
					 int64_t offset, uint64_t deadline)
{
	struct wf_call c;

	wf_call_init(&c, "write", t);
	wf_later_write(&c.op, t.fd, buf, len, offset);
	return (ssize_t)wf_call_wait(&c, deadline);
}

static inline ssize_t do_write(struct wf_target t, const void *buf, size_t len, int64_t offset,
			       uint64_t deadline)
{
	struct wf_now now = wf_now_write(t, buf, len, offset, wf_past(deadline), wf_thread_resume);

	t.mark = now.mark;
	return now.n != WF_NOW_WAIT ? (ssize_t)wf_answered(now.n)
				    : write_waiting(t, buf, len, offset, deadline);
}

ssize_t weft_write_until(int fd, const void *buf, size_t len, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_write", WF_CALLER);

	return rc < 0 ? rc : do_write(wf_number(fd), buf, len, -1, deadline);
}

ssize_t weft_pwrite_until(int fd, const void *buf, size_t len, int64_t offset, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_pwrite", WF_CALLER);

	if (rc == 0 && offset < 0)
		rc = -EINVAL;
	return rc < 0 ? rc : do_write(wf_number(fd), buf, len, offset, deadline);
}

/* Vectors */

static size_t bytes_of(const struct iovec *iov, size_t count)
{
	size_t len = 0;

	for (size_t i = 0; i < count; i++)
		len += iov[i].iov_len;
	return len;
}

static ssize_t do_readv(int fd, const struct iovec *iov, size_t count, int64_t offset,
			uint64_t deadline)
{
	struct wf_target t = wf_number(fd);
	struct wf_now now = wf_now_readv(t, iov, count, offset, wf_past(deadline));
	struct wf_call c;
	int64_t n;

	if (now.n != WF_NOW_WAIT)
		return (ssize_t)wf_answered(now.n);
	t.mark = now.mark;
	wf_call_init(&c, "readv", t);
	n = wf_call_end(&c, weft_op_readv_at(&c.op, fd, iov, count, offset, c.where), deadline);
	return offset >= 0 ? (ssize_t)n : was_read(fd, n, bytes_of(iov, count));
}

static ssize_t do_writev(int fd, const struct iovec *iov, size_t count, int64_t offset,
			 uint64_t deadline)
{
	struct wf_target t = wf_number(fd);
	struct wf_now now = wf_now_writev(t, iov, count, offset, wf_past(deadline));
	struct wf_call c;

	if (now.n != WF_NOW_WAIT)
		return (ssize_t)wf_answered(now.n);
	t.mark = now.mark;
	wf_call_init(&c, "writev", t);
	return (ssize_t)wf_call_end(&c, weft_op_writev_at(&c.op, fd, iov, count, offset, c.where),
				    deadline);
}

ssize_t weft_readv_until(int fd, const struct iovec *iov, size_t count, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_readv", WF_CALLER);

	return rc < 0 ? rc : do_readv(fd, iov, count, -1, deadline);
}

ssize_t weft_writev_until(int fd, const struct iovec *iov, size_t count, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_writev", WF_CALLER);

	return rc < 0 ? rc : do_writev(fd, iov, count, -1, deadline);
}

ssize_t weft_preadv_until(int fd, const struct iovec *iov, size_t count, int64_t offset,
			  uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_preadv", WF_CALLER);

	if (rc == 0 && offset < 0)
		rc = -EINVAL;
	return rc < 0 ? rc : do_readv(fd, iov, count, offset, deadline);
}

ssize_t weft_pwritev_until(int fd, const struct iovec *iov, size_t count, int64_t offset,
			   uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_pwritev", WF_CALLER);

	if (rc == 0 && offset < 0)
		rc = -EINVAL;
	return rc < 0 ? rc : do_writev(fd, iov, count, offset, deadline);
}

/* All of it */

ssize_t weft_read_exactly_until(int fd, void *buf, size_t len, size_t *done, uint64_t deadline)
{
	ssize_t n = wf_call_allowed(fd, "weft_read_exactly", WF_CALLER);
	struct wf_target t = wf_target(fd);
	size_t at = 0;

	while (n >= 0 && at < len) {
		wf_take_turns();
		n = do_read(t, (char *)buf + at, len - at, deadline);
		if (n == 0)
			break;
		if (n > 0)
			at += (size_t)n;
	}
	if (done != NULL)
		*done = at;
	if (n < 0)
		return n;
	return at == len || at == 0 ? (ssize_t)at : -ENODATA;
}

ssize_t weft_write_all_until(int fd, const void *buf, size_t len, size_t *done, uint64_t deadline)
{
	ssize_t n = wf_call_allowed(fd, "weft_write_all", WF_CALLER);
	struct wf_target t = wf_target(fd);
	size_t at = 0;

	while (n >= 0 && at < len) {
		wf_take_turns();
		n = do_write(t, (const char *)buf + at, len - at, -1, deadline);
		if (n == 0)
			n = -EIO; /* nobody would ever come further */
		if (n > 0)
			at += (size_t)n;
	}
	if (done != NULL)
		*done = at;
	return n < 0 ? n : (ssize_t)at;
}
