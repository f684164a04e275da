/* adopt.c - descriptors that Weft did not make, and may trust nevertheless; pipes. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fault.h"
#include "io/backend.h"
#include "io/op.h"

static bool unused(const struct wf_fd *f) WF_REQUIRES(f->lock)
{
	return f->busy == 0 && f->loose.head == NULL && f->dir[WF_IN].head == NULL &&
	       f->dir[WF_OUT].head == NULL && f->watch[WF_IN] == NULL && f->watch[WF_OUT] == NULL;
}

/* What is known may be of an earlier life. */
static void renew(struct wf_fd *f, bool fresh, struct wf_after *after) WF_REQUIRES(f->lock)
{
	if (f->kind == WF_KIND_UNKNOWN)
		return;
	if (fresh || wf_fd_changed(f))
		wf_op_end_all(f, -EBADF, after);
	else if (f->sure || !unused(f))
		return;
	wf_fd_forget(f);
}

static int trust(struct wf_fd *f, bool fresh, struct wf_after *after) WF_REQUIRES(f->lock)
{
	int flags = fcntl(f->fd, F_GETFL);
	int err = flags < 0 ? -errno : wf_fd_closing(f) ? -EBADF : 0;

	if (err < 0)
		return err;
	renew(f, fresh, after);
	if (f->kind == WF_KIND_UNKNOWN)
		err = wf_fd_learn(f);
	if (err == 0) {
		f->sure = true;
		__atomic_store_n(&f->nowait, (flags & O_NONBLOCK) != 0, __ATOMIC_RELAXED);
	}
	return err;
}

static int adopt(int fd, bool fresh)
{
	struct wf_after after = { 0 };
	int err;
	struct wf_fd *f = wf_fd_get(fd, &err);

	if (f == NULL)
		return err;
	wf_lock_take(&f->lock);
	err = trust(f, fresh, &after);
	wf_lock_give(&f->lock);
	wf_after(&after);
	return err;
}

int weft_fd_adopt(int fd)
{
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	rc = adopt(fd, false);
	wf_leave();
	return rc;
}

/* Nobody else has the numbers, so whatever had them before is closed. */
static int adopt_both(const int fd[2])
{
	int rc = adopt(fd[0], true);

	if (rc == 0)
		rc = adopt(fd[1], true);
	if (rc < 0) {
		weft_fd_close(fd[0]);
		weft_fd_close(fd[1]);
	}
	return rc;
}

int weft_pipe(int fd[2])
{
	int rc = wf_enter();
	int ends[2];

	if (rc < 0)
		return rc;
	rc = WF_FAULT(EMFILE);
	if (rc == 0 && pipe2(ends, O_CLOEXEC) < 0)
		rc = -errno;
	if (rc == 0)
		rc = adopt_both(ends);
	if (rc == 0) {
		fd[0] = ends[0];
		fd[1] = ends[1];
	}
	wf_leave();
	return rc;
}
