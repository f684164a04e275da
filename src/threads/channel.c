/* channel.c - messages go from senders to receivers, through the channel or by hand.
 *
 * Each operation is one pass through the channel: in, a few plain steps, out, and
 * then whoever the pass served is woken. See channel.h for the invariants.
 *
 * Rejected: lock-free rings, which cannot hand over to a chosen waiter nor take a
 * waiter off exactly when its deadline comes (X1), and which cost more than a plain
 * store where one color uses the channel. Rejected: waking a waiter to try again,
 * which lets others push in, and wakes in vain.
 */
#include "threads/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/capacity.h"
#include "base/memory.h"
#include "base/report.h"
#include "platform/symbols.h"
#include "threads/call.h"
#include "threads/shm.h"

/* Copies one message. Small ones without a call. */
static inline void copy(void *to, const void *from, size_t size)
{
	if (size == 8)
		memcpy(to, from, 8);
	else if (size == 4)
		memcpy(to, from, 4);
	else if (size != 0)
		memcpy(to, from, size);
}

/* What is kept */

static inline bool has_room(const weft_channel *ch)
{
	if (ch->capacity != WEFT_UNBOUNDED)
		return WF_LOAD(&ch->count) < ch->capacity;
	return ch->tail < ch->slots || ch->last->next != ch->first;
}

/* There must be room. */
static inline void keep(weft_channel *ch, const void *from)
{
	if (ch->tail == ch->slots) {
		ch->last = ch->last->next;
		ch->tail = 0;
	}
	copy(ch->last->data + ch->tail++ * ch->size, from, ch->size);
	WF_ADD_OWN(&ch->count, 1);
}

/* The first segment was emptied: it becomes the one in reserve, or is returned to
 * be freed if there is one. */
static struct wf_segment *next_segment(weft_channel *ch)
{
	struct wf_segment *empty = ch->first, *reserve = ch->last->next;

	ch->first = empty->next;
	ch->head = 0;
	if (reserve == empty)
		return NULL;
	reserve->next = empty->next;
	return empty;
}

/* There must be a message. An empty channel starts at the front again: where one
 * message at a time is on the way, it always uses the same cache line. */
static inline void unkeep(weft_channel *ch, void *to, struct wf_pass *pass)
{
	if (ch->head == ch->slots)
		pass->dead = next_segment(ch);
	copy(to, ch->first->data + ch->head++ * ch->size, ch->size);
	WF_ADD_OWN(&ch->count, (size_t)-1);
	if (WF_LOAD(&ch->count) == 0)
		ch->head = ch->tail = 0;
}

static struct wf_segment *new_segment(const weft_channel *ch)
{
	return wf_new_array(1, sizeof(struct wf_segment) + ch->slots * ch->size);
}

/* Adds a segment behind the last one. */
static void add_segment(weft_channel *ch, struct wf_segment *fresh)
{
	fresh->next = ch->last->next;
	ch->last->next = fresh;
}

/* Keeps one message before all others; false if there is no room for it. The slot before the
 * first one is the last of the segment before it: in a ring, of the same. */
static bool keep_first(weft_channel *ch, const void *from)
{
	bool ring = ch->capacity != WEFT_UNBOUNDED;

	if (ch->slots == 0 || (ring && WF_LOAD(&ch->count) >= ch->capacity))
		return false;
	if (WF_LOAD(&ch->count) == 0) {
		keep(ch, from);
		return true;
	}
	if (ch->head == 0) {
		if (!ring && ch->last->next == ch->first)
			return false;
		ch->first = ring ? ch->first : ch->last->next;
		ch->head = ch->slots;
	}
	copy(ch->first->data + --ch->head * ch->size, from, ch->size);
	WF_ADD_OWN(&ch->count, 1);
	return true;
}

/* What can be done in one pass */

static __attribute__((always_inline)) inline int send_inside(weft_channel *ch, struct wf_pass *pass,
							     const void *from)
{
	weft_case *receiver;

	if (wf_channel_is_left_over(ch))
		return -EOWNERDEAD;
	if (WF_UNLIKELY(ch->state != WF_CHANNEL_OPEN))
		return ch->state == WF_CHANNEL_SHM ? wf_shm_send(ch, pass, from) : -EPIPE;
	receiver = wf_case_next(&ch->receivers, pass->how);
	if (receiver != NULL) {
		copy(receiver->to, from, ch->size);
		pass->wake = wf_case_done(receiver, 0);
		return 0;
	}
	if (!has_room(ch))
		return ch->capacity == WEFT_UNBOUNDED ? -ENOMEM : -EAGAIN;
	keep(ch, from);
	return 0;
}

static __attribute__((always_inline)) inline int receive_inside(weft_channel *ch,
								struct wf_pass *pass, void *to)
{
	weft_case *sender;

	if (wf_channel_is_left_over(ch))
		return -EOWNERDEAD;
	if (WF_LOAD(&ch->count) != 0) {
		unkeep(ch, to, pass);
		sender = wf_case_next(WF_UNLIKELY(ch->returned.first != NULL) && has_room(ch)
					      ? &ch->returned
					      : &ch->senders,
				      pass->how);
		if (sender != NULL)
			keep(ch, sender->from);
	} else if (WF_UNLIKELY(ch->returned.first != NULL)) {
		sender = wf_case_next(&ch->returned, pass->how);
		copy(to, sender->from, ch->size);
	} else {
		if (WF_UNLIKELY(ch->state == WF_CHANNEL_SHM))
			return wf_shm_receive(ch, pass, to);
		sender = wf_case_next(&ch->senders, pass->how);
		if (sender == NULL)
			return ch->state == WF_CHANNEL_CLOSED ? -EPIPE : -EAGAIN;
		copy(to, sender->from, ch->size);
	}
	if (sender != NULL)
		pass->wake = wf_case_done(sender, 0);
	return 0;
}

int wf_channel_send(weft_channel *ch, struct wf_pass *pass, const void *from)
{
	return send_inside(ch, pass, from);
}

int wf_channel_receive(weft_channel *ch, struct wf_pass *pass, void *to)
{
	return receive_inside(ch, pass, to);
}

/* Sends, growing an unbounded channel when there is no room. Memory is got outside
 * of the channel, so another may have made room meanwhile. */
static WF_NOINLINE int send_growing(weft_channel *ch, const void *from)
{
	struct wf_segment *fresh = new_segment(ch);
	struct wf_pass pass;
	int rc;

	if (fresh == NULL)
		return -ENOMEM;
	wf_pass_enter(&pass, ch);
	if (has_room(ch))
		pass.dead = fresh;
	else
		add_segment(ch, fresh);
	rc = wf_channel_send(ch, &pass, from);
	wf_pass_leave(ch, &pass);
	return rc;
}

int wf_channel_report(const weft_channel *ch, int rc, const char *where, uintptr_t caller)
{
	char text[256];

	wf_symbol_print(caller, text, sizeof text);
	return wf_misuse(where, rc,
			 "channel %p, used by %s, was left in use by an earlier run: free it, and "
			 "make another",
			 (const void *)ch, text);
}

int wf_channel_try(weft_case *c, const char *where, uintptr_t caller)
{
	weft_channel *ch = c->channel;
	struct wf_pass pass;
	int rc;

	wf_pass_enter(&pass, ch);
	rc = c->sends ? wf_channel_send(ch, &pass, c->from) : wf_channel_receive(ch, &pass, c->to);
	wf_pass_leave(ch, &pass);
	if (rc == -ENOMEM)
		return send_growing(ch, c->from);
	return wf_channel_reported(ch, rc, where, caller);
}

/* Waiting */

/* Waits for one case that could not be done. The caller is inside its channel; this
 * leaves it. */
static WF_NOINLINE int wait_for(weft_channel *ch, struct wf_pass *pass, bool sends,
				const void *from, void *to, uint64_t deadline, const char *where)
{
	struct wf_choice choice;
	weft_case c;
	int rc = pass->self != NULL && deadline == WEFT_FOREVER ? 0 : wf_home_may_wait(deadline);

	if (WF_UNLIKELY(ch->shm != NULL)) {
		int last = rc == 0 ? wf_shm_want(ch, pass, sends, from, to) : rc;

		if (last != -EAGAIN) {
			wf_pass_leave(ch, pass);
			return last;
		}
	}
	if (rc == 0) {
		/* By hand: to clear all of it would cost as much as the rest. */
		c.channel = ch;
		c.from = from;
		c.to = to;
		c.sends = sends;
		wf_choice_init(&choice, pass->self, &c, 1,
			       sends ? "channel send" : "channel receive");
		wf_case_list(sends ? &ch->senders : &ch->receivers, &c, &choice);
		if (WF_UNLIKELY(ch->shm != NULL))
			wf_shm_listed(ch);
	}
	wf_pass_leave(ch, pass);
	if (rc == 0)
		rc = wf_choice_wait(&choice, deadline, where);
	/* cppcheck-suppress uninitvar ; who does the case sets its result */
	return rc == 0 ? c.result : rc;
}

/* Deals with a send that failed in one pass, other than by having to wait. */
static WF_COLD int send_otherwise(weft_channel *ch, const void *from, int rc, const char *where,
				  uintptr_t caller)
{
	return rc == -ENOMEM ? send_growing(ch, from) : wf_channel_reported(ch, rc, where, caller);
}

int weft_channel_send_until_at(weft_channel *ch, const void *from, uint64_t deadline,
			       const char *where)
{
	struct wf_pass pass;
	int rc;

	wf_pass_enter_first(&pass, ch);
	rc = send_inside(ch, &pass, from);
	if (rc == -EAGAIN)
		return wait_for(ch, &pass, true, from, NULL, deadline, where);
	wf_pass_leave(ch, &pass);
	return WF_LIKELY(rc == 0) ? 0 : send_otherwise(ch, from, rc, where, WF_CALLER);
}

int weft_channel_receive_until_at(weft_channel *ch, void *to, uint64_t deadline, const char *where)
{
	struct wf_pass pass;
	int rc;

	wf_pass_enter_first(&pass, ch);
	rc = receive_inside(ch, &pass, to);
	if (rc == -EAGAIN)
		return wait_for(ch, &pass, false, NULL, to, deadline, where);
	wf_pass_leave(ch, &pass);
	return wf_channel_reported(ch, rc, where, WF_CALLER);
}

int weft_channel_try_send_at(weft_channel *ch, const void *from, const char *where)
{
	struct wf_pass pass;
	int rc;

	wf_pass_enter_first(&pass, ch);
	rc = wf_channel_send(ch, &pass, from);
	wf_pass_leave(ch, &pass);
	return WF_LIKELY(rc == 0) ? 0 : send_otherwise(ch, from, rc, where, WF_CALLER);
}

int weft_channel_try_receive_at(weft_channel *ch, void *to, const char *where)
{
	struct wf_pass pass;
	int rc;

	wf_pass_enter_first(&pass, ch);
	rc = wf_channel_receive(ch, &pass, to);
	wf_pass_leave(ch, &pass);
	return wf_channel_reported(ch, rc, where, WF_CALLER);
}

/* Without a stack */

int wf_channel_begin(weft_case *c, struct wf_choice *choice, const char *where)
{
	weft_channel *ch = c->channel;
	struct wf_pass pass;
	int rc;

	wf_pass_enter(&pass, ch);
	if (ch->shm != NULL)
		wf_shm_tell(ch, c->sends);
	rc = c->sends ? wf_channel_send(ch, &pass, c->from) : wf_channel_receive(ch, &pass, c->to);
	if (rc == -EAGAIN) {
		wf_case_list(c->sends ? &ch->senders : &ch->receivers, c, choice);
		if (ch->shm != NULL)
			wf_shm_listed(ch);
	}
	wf_pass_leave(ch, &pass);
	if (rc == -ENOMEM)
		return send_growing(ch, c->from);
	return wf_channel_reported(ch, rc, where, WF_CALLER);
}

int wf_channel_put_back(weft_case *c, struct wf_choice *choice)
{
	weft_channel *ch = c->channel;
	struct wf_segment *fresh = ch->capacity == WEFT_UNBOUNDED ? new_segment(ch) : NULL;
	struct wf_pass pass;
	weft_case *receiver;
	int rc = 0;

	wf_pass_enter(&pass, ch);
	if (fresh != NULL && ch->last->next == ch->first)
		add_segment(ch, fresh);
	else
		pass.dead = fresh;
	receiver = wf_case_next(&ch->receivers, pass.how);
	if (receiver != NULL) {
		copy(receiver->to, c->from, ch->size);
		pass.wake = wf_case_done(receiver, 0);
	} else if (!keep_first(ch, c->from)) {
		wf_case_list(&ch->returned, c, choice);
		rc = -EAGAIN;
	}
	wf_pass_leave(ch, &pass);
	return rc;
}

size_t wf_channel_message_size(const weft_channel *ch)
{
	return ch->size;
}

/* The rest */

struct wf_waiter **wf_cases_end(struct wf_cases *list, enum wf_home_how how, int error,
				struct wf_waiter **wake)
{
	weft_case *c;

	while ((c = wf_case_next(list, how)) != NULL) {
		*wake = wf_case_done(c, error);
		wake = &(*wake)->next;
	}
	return wake;
}

int weft_channel_close_at(weft_channel *ch, const char *where)
{
	struct wf_waiter **end;
	struct wf_pass pass;
	int rc;

	wf_pass_enter(&pass, ch);
	if (wf_channel_is_left_over(ch)) {
		rc = -EOWNERDEAD;
	} else if (ch->state == WF_CHANNEL_SHM) {
		rc = wf_shm_close(ch, &pass);
	} else {
		rc = ch->state == WF_CHANNEL_CLOSED ? -EALREADY : 0;
		ch->state = WF_CHANNEL_CLOSED;
		end = wf_cases_end(&ch->receivers, pass.how, -EPIPE, &pass.wake);
		wf_cases_end(&ch->senders, pass.how, -EPIPE, end);
	}
	wf_pass_leave(ch, &pass);
	return wf_channel_reported(ch, rc, where, WF_CALLER);
}

void wf_pass_settle(struct wf_pass *pass)
{
	if (pass->dead == WF_PASS_BELL)
		wf_shm_ring_bell(pass->bell);
	else
		free(pass->dead);
}

size_t weft_channel_length(const weft_channel *ch)
{
	return ch->shm != NULL ? wf_shm_length(ch->shm) : WF_LOAD(&ch->count);
}

size_t weft_channel_capacity(const weft_channel *ch)
{
	return ch->capacity;
}

static size_t slots_for(size_t size, size_t capacity)
{
	size_t slots;

	if (capacity != WEFT_UNBOUNDED)
		return capacity;
	slots = WF_CHANNEL_SEGMENT / (size ? size : 1);
	return slots ? slots : 1;
}

weft_channel *weft_channel_new(size_t size, size_t capacity)
{
	weft_channel *ch;
	size_t slots = slots_for(size, capacity), whole;

	if (__builtin_mul_overflow(slots, size, &whole) || whole > PTRDIFF_MAX / 2)
		return NULL;
	ch = wf_new_aligned(sizeof *ch);
	if (ch == NULL)
		return NULL;
	ch->size = size;
	ch->capacity = capacity;
	ch->slots = slots;
	if (slots == 0)
		return ch;
	ch->first = ch->last = new_segment(ch);
	if (ch->first == NULL) {
		free(ch);
		return NULL;
	}
	ch->first->next = ch->first;
	return ch;
}

/* Whether a thread waits that is not gone with a run that is over. */
static bool in_use(weft_channel *ch)
{
	struct wf_pass pass;
	bool used;

	wf_pass_enter(&pass, ch);
	used = ch->foreign > 0 || (ch->of_run.count != 0 && !wf_channel_is_left_over(ch));
	wf_pass_leave(ch, &pass);
	return used;
}

int weft_channel_free_at(weft_channel *ch, const char *where)
{
	struct wf_segment *next = NULL;

	if (ch == NULL)
		return 0;
	if (in_use(ch))
		return wf_misuse(where, -EBUSY, "channel is freed while somebody waits at it");
	if (ch->shm != NULL)
		wf_shm_free(ch->shm);
	if (ch->last != NULL) {
		next = ch->last->next;
		ch->last->next = NULL; /* opens the circle */
	}
	while (next != NULL) {
		struct wf_segment *segment = next;

		next = segment->next;
		free(segment);
	}
	free(ch);
	return 0;
}
