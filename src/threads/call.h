/* call.h - what the blocking calls share: first a try, then an operation and a wait. */
#ifndef WF_CALL_H
#define WF_CALL_H

#include <errno.h>

#include <weft/blocking.h>

#include "io/io.h"
#include "platform/clock.h"
#include "threads/thread.h"

/* Whose fault it is if a call is made where it cannot wait. */
#define WF_CALLER ((uintptr_t)__builtin_return_address(0))

/* Reports that `name` was called, at `pc`, where there is no thread. Returns rc. */
WF_COLD int wf_call_refused(int rc, const char *name, uintptr_t pc);

/* After so many calls that did not wait others get a turn (S3). That is at the begin of
 * the next call: if the run is stopped meanwhile, the thread never goes on, and what
 * the last call gave it (a descriptor) would be nobody's. May switch. */
enum { WF_ANSWERS_MAX = 64 };

/* Returns -EBADF if `fd` was closed meanwhile: its number may be another descriptor's. */
int wf_give_turn(int fd);

/* In the midst of a call that knows its descriptors by their marks. */
static inline void wf_take_turns(void)
{
	if (WF_UNLIKELY(wf_thread_self()->answers >= WF_ANSWERS_MAX))
		(void)wf_give_turn(-1);
}

/* Whether the caller has been stopped or cancelled: 0, or what to return. */
static inline int wf_call_ended(void)
{
	if (WF_UNLIKELY(wf_stopping()))
		return -ESHUTDOWN;
	return WF_UNLIKELY(wf_thread_cancelled(wf_thread_self())) ? -ECANCELED : 0;
}

/* Whether the caller may wait: 0, or what to return. For calls that name several descriptors: they
 * ask for the marks, and then let others have their turn. */
static inline int wf_call_checked(const char *name, uintptr_t pc)
{
	int rc = wf_wait_allowed();

	return WF_UNLIKELY(rc < 0) ? wf_call_refused(rc, name, pc) : wf_call_ended();
}

/* The same, for a call that names the descriptor `fd`, or none: -1. May switch. */
static inline int wf_call_allowed(int fd, const char *name, uintptr_t pc)
{
	int rc = wf_wait_allowed();

	if (WF_UNLIKELY(rc < 0))
		return wf_call_refused(rc, name, pc);
	if (WF_UNLIKELY(wf_thread_current->answers >= WF_ANSWERS_MAX))
		rc = wf_give_turn(fd);
	return WF_UNLIKELY(rc < 0) ? rc : wf_call_ended();
}

/* Whether only what is there at once is wanted. */
static inline bool wf_past(uint64_t deadline)
{
	return deadline != WEFT_FOREVER && wf_worker_past(wf_worker_self(), deadline);
}

/* A call that need not wait was answered. Returns n. */
static inline int64_t wf_answered(int64_t n)
{
	wf_thread_self()->answers++;
	return n;
}

/* One operation that a thread waits for. Lives on its stack. */
struct wf_call {
	struct wf_wait wait;
	weft_op op;
	const char *where; /* for the operation: where the thread began */
};

void wf_call_init(struct wf_call *c, const char *what, struct wf_target t);

/* Waits for the end of the operation, whose start returned rc. Returns its result.
 * Switches. */
int64_t wf_call_end(struct wf_call *c, int rc, uint64_t deadline);

/* The same of one that was started for sure. In line, for what every request waits for:
 * behind a switch each return is mispredicted. An operation that nobody here cancelled
 * ended because its descriptor was closed. */
static inline int64_t wf_call_wait(struct wf_call *c, uint64_t deadline)
{
	wf_wait(&c->wait, deadline);
	if (WF_LIKELY(c->op.result != -ECANCELED))
		return c->op.result;
	return c->wait.error < 0 ? c->wait.error : -EBADF;
}

/* Whether accepting gave an error that is nothing to tell of: try again. */
bool wf_accept_again(int fd, int64_t n);

/* Whether host is an address in text form, of that family; it is put into *addr. */
bool wf_numeric(const char *host, uint16_t port, int family, struct sockaddr_storage *addr);

/* Before a run: nobody waits for signals. */
void wf_signal_waits_start(void);

/* Fills in the event of anything else that resumes the caller when it is done. */
void wf_call_event(weft_event *ev);

#endif
