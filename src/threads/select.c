/* select.c - one of several sends and receives, whichever can be done first.
 *
 * First each case is tried by itself, from a random one on. If none can be done the
 * choice is listed at all its channels at once: they are entered together, in the
 * order of their addresses so that two selects cannot wait for each other, and each
 * case is tried again. Whoever does one of the cases claims the choice; the waiter
 * takes itself off the other channels.
 */
#include <errno.h>

#include "base/report.h"
#include "threads/call.h"
#include "threads/channel.h"
#include "threads/shm.h"

/* Where to begin among n. A random start per kernel thread: a shared counter would
 * bounce between cores, and a counter of one's own can run in step with the callers,
 * who then always get the same case. */
static WF_NOINLINE size_t start_among(size_t n)
{
	static _Thread_local uint64_t state;

	if (state == 0)
		state = (uint64_t)(uintptr_t)&state | 1;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n != 0 ? (size_t)(state >> 11) % n : 0;
}

/* Merge sort of the cases that have a channel, by its address, linked by order_. */

static weft_case *merge(weft_case *a, weft_case *b)
{
	weft_case *head = NULL, **end = &head;

	while (a != NULL && b != NULL) {
		weft_case **least = (uintptr_t)a->channel <= (uintptr_t)b->channel ? &a : &b;

		*end = *least;
		end = &(*least)->order_;
		*least = *end;
	}
	*end = a != NULL ? a : b;
	return head;
}

static weft_case *in_order(weft_case *cases, size_t count)
{
	if (count == 0)
		return NULL;
	if (count == 1) {
		cases->order_ = NULL;
		return cases->channel != NULL ? cases : NULL;
	}
	return merge(in_order(cases, count / 2), in_order(cases + count / 2, count - count / 2));
}

/* Several cases may share a channel: it is entered once. */
static void enter_all(weft_case *order, const weft_thread *self)
{
	weft_channel *entered = NULL;
	uint8_t how = 0;

	for (weft_case *c = order; c != NULL; c = c->order_) {
		if (c->channel != entered)
			how = (uint8_t)wf_home_enter_as(&c->channel->home, self);
		entered = c->channel;
		c->how_ = how;
	}
}

static void leave_all(weft_case *order)
{
	weft_channel *left = NULL;

	for (weft_case *c = order; c != NULL; c = c->order_) {
		if (c->channel != left)
			wf_home_leave(&c->channel->home, (enum wf_home_how)c->how_);
		left = c->channel;
	}
}

/* Tries one case after the other, each in a pass of its own. */
static int try_each(weft_case *cases, size_t count, size_t start, const char *where,
		    uintptr_t caller)
{
	for (size_t k = 0, i = start; k < count; k++, i = i + 1 < count ? i + 1 : 0) {
		int rc;

		if (cases[i].channel == NULL)
			continue;
		rc = wf_channel_try(&cases[i], where, caller);
		if (rc == -ENOMEM || rc == -EOWNERDEAD)
			return rc;
		if (rc != -EAGAIN) {
			cases[i].result = rc;
			return (int)i;
		}
	}
	return -EAGAIN;
}

/* The same inside all channels. */
static int try_inside(weft_case *cases, size_t count, size_t start, struct wf_pass *pass)
{
	for (size_t k = 0, i = start; k < count; k++, i = i + 1 < count ? i + 1 : 0) {
		weft_case *c = &cases[i];
		int rc;

		if (c->channel == NULL)
			continue;
		pass->how = (enum wf_home_how)c->how_;
		rc = c->sends ? wf_channel_send(c->channel, pass, c->from)
			      : wf_channel_receive(c->channel, pass, c->to);
		WF_ASSERT(rc != -ENOMEM); /* an unbounded one does not come here */
		if (rc == -EOWNERDEAD)
			return rc;
		if (rc != -EAGAIN) {
			c->result = rc;
			return (int)i;
		}
	}
	return -EAGAIN;
}

static void list_all(struct wf_choice *choice)
{
	for (size_t i = 0; i < choice->count; i++) {
		weft_case *c = &choice->cases[i];

		if (c->channel == NULL)
			continue;
		wf_case_list(c->sends ? &c->channel->senders : &c->channel->receivers, c, choice);
		if (c->channel->shm != NULL)
			wf_shm_listed(c->channel);
	}
}

/* From now on other processes tell when a case can be done. */
static void want_all(const struct wf_choice *choice)
{
	for (size_t i = 0; i < choice->count; i++) {
		const weft_case *c = &choice->cases[i];

		if (c->channel != NULL && c->channel->shm != NULL)
			wf_shm_tell(c->channel, c->sends);
	}
}

/* Whether a case is of a channel that only threads can wait at. */
static bool only_for_threads(const weft_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (cases[i].channel != NULL && cases[i].channel->shm != NULL)
			return true;
	return false;
}

/* Does a case, or lists them all. */
static int try_or_list(struct wf_choice *choice, size_t start)
{
	weft_thread *self = wf_thread_self();
	weft_case *cases = choice->cases, *order = in_order(cases, choice->count);
	struct wf_pass pass;
	int rc;

	wf_pass_begin(&pass, self);
	enter_all(order, self);
	want_all(choice);
	rc = try_inside(cases, choice->count, start, &pass);
	if (rc == -EAGAIN)
		list_all(choice);
	leave_all(order);
	wf_pass_end(&pass);
	return rc;
}

int weft_try_select_at(weft_case *cases, size_t count, const char *where)
{
	return try_each(cases, count, start_among(count), where, WF_CALLER);
}

int weft_select_until_at(weft_case *cases, size_t count, uint64_t deadline, const char *where)
{
	size_t start = start_among(count);
	struct wf_choice choice;
	int rc = try_each(cases, count, start, where, WF_CALLER);

	if (rc != -EAGAIN)
		return rc;
	rc = wf_home_may_wait(deadline);
	if (rc == 0 && wf_thread_self() == NULL && only_for_threads(cases, count))
		rc = -EPERM;
	if (rc < 0)
		return rc;
	wf_choice_init(&choice, wf_thread_self(), cases, count, "select");
	rc = try_or_list(&choice, start);
	return rc != -EAGAIN ? rc : wf_choice_wait(&choice, deadline, where);
}
