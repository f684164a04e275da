/* poll.c - waiting for several descriptors at once.
 *
 * The kernel is asked by poll(2), which does not wait. If nothing is ready an
 * operation waits for each descriptor; the first that ends, or a cancel, ends all
 * the others, and the thread goes on when all have ended. Their events run in the
 * thread's color, so nothing here is shared. What is told to the caller is again
 * what poll(2) says: readiness is nobody's until it is used.
 */
#include <errno.h>
#include <poll.h>

#include "base/memory.h"
#include "threads/call.h"

enum { FEW = 64 }; /* for which there is room on a stack */

struct asking;

struct one {
	weft_op op;
	struct asking *all;
};

struct asking {
	struct wf_wait wait;
	weft_thread *self;
	struct pollfd *fds;
	const uint16_t *marks; /* of the descriptors, when the call began */
	size_t count;
	struct one *ones;
	size_t pending; /* operations that have not ended */
	bool over;      /* all are to end */
	bool closed;    /* POLLNVAL was put into some revents */
	int error;      /* why it cannot be waited for; or 0 */
};

/* A function of its own: errno must not be used where a switch may have come before. */
static WF_NOINLINE int ask(struct pollfd *fds, size_t count)
{
	int n = WF_FAULT(ENOMEM);

	return n < 0 ? n : wf_poll_now(fds, count);
}

/* Polls without waiting. A number that was closed meanwhile may mean another descriptor now: its
 * result is POLLNVAL. Returns how many descriptors have results. */
static int look(struct pollfd *fds, const uint16_t *marks, size_t count)
{
	int n = ask(fds, count);

	for (size_t i = 0; n >= 0 && i < count; i++) {
		if (fds[i].fd < 0 || wf_target(fds[i].fd).mark == marks[i])
			continue;
		n += fds[i].revents == 0;
		fds[i].revents = POLLNVAL;
	}
	return n;
}

static void end_all(struct asking *a)
{
	a->over = true;
	for (size_t i = 0; i < a->count; i++)
		if (a->fds[i].fd >= 0)
			(void)weft_op_cancel(&a->ones[i].op);
}

static void cancel(struct wf_wait *wait)
{
	end_all(WF_CONTAINER(wait, struct asking, wait));
}

/* What the first to end tells. One that was cancelled by nobody here was closed. */
static void note(struct asking *a, size_t i)
{
	int64_t n = a->ones[i].op.result;

	if (n == -ECANCELED || n == -EBADF) {
		a->fds[i].revents = POLLNVAL;
		a->closed = true;
	} else if (n < 0) {
		a->error = (int)n;
	}
}

/* In the thread's color. */
static void one_done(void *arg)
{
	struct one *one = arg;
	struct asking *a = one->all;

	a->pending--;
	if (!a->over) {
		note(a, (size_t)(one - a->ones));
		end_all(a);
	}
	if (a->pending == 0)
		wf_thread_resume(a->self);
}

static void start_one(struct asking *a, size_t i)
{
	struct one *one = &a->ones[i];
	int rc;

	one->all = a;
	wf_call_event(&one->op.event);
	one->op.event.run = one_done;
	one->op.event.arg = one;
	one->op.same_ = a->marks[i];
	rc = weft_op_poll_at(&one->op, a->fds[i].fd, a->fds[i].events, one->op.event.where_);
	if (rc == 0)
		a->pending++;
	else
		a->error = rc;
}

/* With no descriptor at all only the deadline, or a cancel, ends it. */
static int wait_for_nothing(uint64_t deadline)
{
	int rc = weft_sleep_until(deadline);

	return rc < 0 ? rc : -ETIMEDOUT;
}

static void wait_for_one(struct asking *a, uint64_t deadline)
{
	a->wait =
		(struct wf_wait){ .what = "poll", .on = (uintptr_t)a->fds[0].fd, .cancel = cancel };
	a->self = wf_thread_self();
	a->over = false;
	for (size_t i = 0; i < a->count; i++)
		memset(&a->ones[i].op, 0, sizeof a->ones[i].op);
	for (size_t i = 0; i < a->count && a->error == 0; i++)
		if (a->fds[i].fd >= 0)
			start_one(a, i);
	if (a->error < 0)
		end_all(a);
	if (a->pending > 0)
		wf_wait(&a->wait, deadline);
}

/* Operations until poll(2) has something to tell. */
static int wait_all(struct asking *a, uint64_t deadline)
{
	int n;

	do {
		wait_for_one(a, deadline);
		if (a->error < 0)
			return a->error;
		if (a->closed)
			return 1; /* of the others poll(2) said nothing */
		n = look(a->fds, a->marks, a->count);
	} while (n == 0 && a->wait.error == 0);
	return n != 0 ? n : a->wait.error;
}

/* May switch. */
static void mark(uint16_t *marks, const struct pollfd *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		marks[i] = wf_target(fds[i].fd).mark;
	wf_take_turns();
}

static bool any(const struct pollfd *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i].fd >= 0)
			return true;
	return false;
}

/* Whether the first look was enough; *n is what to return then. */
static bool answered(const struct asking *a, uint64_t deadline, int *n)
{
	*n = look(a->fds, a->marks, a->count);
	if (*n != 0)
		*n = *n < 0 ? *n : (int)wf_answered(*n);
	else if (wf_past(deadline))
		*n = -ETIMEDOUT;
	else if (!any(a->fds, a->count))
		*n = wait_for_nothing(deadline);
	return *n != 0;
}

/* On the stack, where nothing is left over if the run is stopped meanwhile. */
static int wait_few(struct asking *a, uint64_t deadline)
{
	struct one ones[a->count];

	a->ones = ones;
	return wait_all(a, deadline);
}

static int poll_few(struct pollfd *fds, size_t count, uint64_t deadline)
{
	uint16_t marks[FEW];
	struct asking a = { .fds = fds, .marks = marks, .count = count };
	int n;

	mark(marks, fds, count);
	return answered(&a, deadline, &n) ? n : wait_few(&a, deadline);
}

static int wait_many(struct asking *a, uint64_t deadline)
{
	int n;

	a->ones = wf_new_array(a->count, sizeof *a->ones);
	if (a->ones == NULL)
		return -ENOMEM;
	n = wait_all(a, deadline);
	free(a->ones);
	return n;
}

static int poll_many(struct pollfd *fds, size_t count, uint64_t deadline)
{
	uint16_t *marks = wf_new_array(count, sizeof *marks);
	struct asking a = { .fds = fds, .marks = marks, .count = count };
	int n;

	if (marks == NULL)
		return -ENOMEM;
	mark(marks, fds, count);
	if (!answered(&a, deadline, &n))
		n = wait_many(&a, deadline);
	free(marks);
	return n;
}

int weft_poll_until(struct pollfd *fds, size_t count, uint64_t deadline)
{
	int n = wf_call_checked("weft_poll", WF_CALLER);

	if (n == 0 && fds == NULL && count > 0)
		n = -EINVAL;
	if (n < 0)
		return n;
	return count <= FEW ? poll_few(fds, count, deadline) : poll_many(fds, count, deadline);
}
