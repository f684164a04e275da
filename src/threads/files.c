/* files.c - opening, syncing and closing. */
#include <errno.h>
#include <fcntl.h>

#include "threads/call.h"

static int do_open(int dir, const char *path, int flags, unsigned mode, uint64_t deadline)
{
	int64_t n = wf_now_open(dir, path, flags);
	struct wf_call c;

	if (n != WF_NOW_WAIT)
		return (int)wf_answered(n);
	wf_call_init(&c, "open", wf_number(-1));
	c.wait.on = (uintptr_t)path;
	return (int)wf_call_end(&c, weft_op_open_at(&c.op, dir, path, flags, mode, c.where),
				deadline);
}

int weft_open_until(const char *path, int flags, unsigned mode, uint64_t deadline)
{
	int rc = wf_call_allowed(-1, "weft_open", WF_CALLER);

	return rc < 0 ? rc : do_open(AT_FDCWD, path, flags, mode, deadline);
}

int weft_openat_until(int dir, const char *path, int flags, unsigned mode, uint64_t deadline)
{
	int rc = wf_call_allowed(dir, "weft_openat", WF_CALLER);

	return rc < 0 ? rc : do_open(dir, path, flags, mode, deadline);
}

static int do_fsync(int fd, bool data_only, uint64_t deadline)
{
	struct wf_call c;

	wf_call_init(&c, "fsync", wf_number(fd));
	return (int)wf_call_end(&c, weft_op_fsync_at(&c.op, fd, data_only, c.where), deadline);
}

int weft_fsync_until(int fd, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_fsync", WF_CALLER);

	return rc < 0 ? rc : do_fsync(fd, false, deadline);
}

int weft_fdatasync_until(int fd, uint64_t deadline)
{
	int rc = wf_call_allowed(fd, "weft_fdatasync", WF_CALLER);

	return rc < 0 ? rc : do_fsync(fd, true, deadline);
}

int weft_close(int fd)
{
	int64_t n = wf_call_allowed(fd, "weft_close", WF_CALLER);
	struct wf_target t = wf_target(fd);
	struct wf_call c;

	if (n < 0 && n != -ECANCELED)
		return (int)n;
	n = wf_now_close(fd);
	if (n != WF_NOW_WAIT)
		return (int)wf_answered(n);
	wf_call_init(&c, "close", t);
	c.wait.cancel = NULL; /* who was cancelled closes all the same */
	return (int)wf_call_end(&c, weft_op_close_at(&c.op, fd, c.where), WEFT_FOREVER);
}
