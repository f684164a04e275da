/* shm.c - messages through rings in memory that two processes share.
 *
 * What is said in a ring, and then looked for, is said and looked for in one order that
 * both sides agree on (sequentially consistent): who wants to be told says so and then
 * looks once more; who has done something looks then whether to tell. So one of the two
 * sees the other.
 */
#include "threads/shm.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* After so many calls in a row that would have to wait, the socket is looked at. */
enum { IN_VAIN = 256 };

/* Memory */

static size_t stride_of(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

size_t wf_shm_length_of(size_t size, size_t capacity)
{
	size_t words = 2 * sizeof(struct wf_shm_words), slots;

	if (capacity == 0 || size > PTRDIFF_MAX / 4 ||
	    __builtin_mul_overflow(stride_of(size), capacity, &slots) || slots > PTRDIFF_MAX / 4 ||
	    capacity > PTRDIFF_MAX / 4)
		return 0;
	return words + 2 * slots;
}

void wf_shm_begin(struct wf_shm *shm, bool maker)
{
	struct wf_shm_words *words = shm->memory;
	char *slots = (char *)(words + 2);

	shm->stride = stride_of(shm->size);
	shm->out.words = &words[maker ? 0 : 1];
	shm->in.words = &words[maker ? 1 : 0];
	shm->out.slots = slots + (maker ? 0 : shm->stride * shm->capacity);
	shm->in.slots = slots + (maker ? shm->stride * shm->capacity : 0);
	atomic_init(&shm->refs, 1);
	wf_shm_set_up_op(shm);
}

/* The two ends */

static void *slot(const struct wf_shm *shm, const struct wf_shm_end *end)
{
	return end->slots + end->slot * shm->stride;
}

static void step(const struct wf_shm *shm, struct wf_shm_end *end)
{
	end->slot = end->slot + 1 < shm->capacity ? end->slot + 1 : 0;
	WF_ADD_OWN(&end->count, 1u);
}

/* Copies one message. Small ones without a call. */
static inline void copy(void *to, const void *from, size_t size)
{
	if (size == 8)
		memcpy(to, from, 8);
	else if (size != 0)
		memcpy(to, from, size);
}

static int break_off(struct wf_shm *shm, int error)
{
	shm->broken = error;
	return error;
}

/* Whether the other side is gone, now and then. Before the look at what it left: the last that
 * it did came before that. */
static void look_after_other(struct wf_shm *shm)
{
	if (shm->broken < 0 || shm->in_vain < IN_VAIN)
		return;
	shm->in_vain = 0;
	if (wf_shm_hung_up(shm))
		shm->broken = -ECONNRESET;
}

/* What there is to say when nothing can be done now. */
static int would_wait(struct wf_shm *shm)
{
	if (shm->closed)
		return -EPIPE;
	shm->in_vain++;
	return shm->broken < 0 ? shm->broken : -EAGAIN;
}

/* The last thing that the other side did may have been to close it. */
static void note_closed(struct wf_shm *shm, const struct wf_shm_end *end)
{
	if (atomic_load(&end->words->tail) & WF_SHM_CLOSED)
		shm->closed = true;
}

/* 0, -EAGAIN: full, or an error. */
static int look_for_room(struct wf_shm *shm)
{
	struct wf_shm_end *end = &shm->out;
	uint64_t count = WF_LOAD(&end->count);

	if (count - end->other < shm->capacity)
		return 0;
	end->other = atomic_load(&end->words->head);
	if (count - end->other > shm->capacity)
		return break_off(shm, -EPROTO);
	if (count - end->other < shm->capacity)
		return 0;
	note_closed(shm, end);
	return -EAGAIN;
}

static int put(struct wf_shm *shm, struct wf_pass *pass, const void *from)
{
	struct wf_shm_end *end = &shm->out;
	uint64_t was = WF_LOAD(&end->count) * 2;
	uint64_t seen = was;

	copy(slot(shm, end), from, shm->size);
	if (!atomic_compare_exchange_strong(&end->words->tail, &seen, was + 2)) {
		if (seen != (was | WF_SHM_CLOSED))
			return break_off(shm, -EPROTO);
		shm->closed = true;
		return -EPIPE;
	}
	step(shm, end);
	if (atomic_load(&end->words->want_message) && atomic_exchange(&end->words->want_message, 0))
		wf_shm_owe_bell(shm, pass);
	return 0;
}

/* 0: there is a message. */
static int look_for_message(struct wf_shm *shm)
{
	struct wf_shm_end *end = &shm->in;
	uint64_t count = WF_LOAD(&end->count), tail;

	if (end->other != count)
		return 0;
	tail = atomic_load(&end->words->tail);
	if (tail / 2 - count > shm->capacity)
		return break_off(shm, -EPROTO);
	end->other = tail / 2;
	if (end->other == count && tail & WF_SHM_CLOSED)
		shm->closed = true;
	return end->other != count ? 0 : -EAGAIN;
}

static void take(struct wf_shm *shm, struct wf_pass *pass, void *to)
{
	struct wf_shm_end *end = &shm->in;

	copy(to, slot(shm, end), shm->size);
	step(shm, end);
	atomic_store(&end->words->head, WF_LOAD(&end->count));
	if (atomic_load(&end->words->want_room) && atomic_exchange(&end->words->want_room, 0))
		wf_shm_owe_bell(shm, pass);
}

/* Inside the channel */

static void wake(struct wf_pass *pass, struct wf_waiter *w)
{
	struct wf_waiter **end = &pass->wake;

	while (*end != NULL)
		end = &(*end)->next;
	*end = w;
}

/* Whether one could receive, or be told that nothing comes any more. */
static int can_receive(struct wf_shm *shm)
{
	int rc;

	look_after_other(shm);
	rc = shm->broken == -EPROTO ? -EPROTO : look_for_message(shm);
	return rc == -EAGAIN ? would_wait(shm) : rc;
}

static int can_send(struct wf_shm *shm)
{
	int rc = -EAGAIN;

	look_after_other(shm);
	if (shm->broken < 0)
		note_closed(shm, &shm->out);
	else if (!shm->closed)
		rc = look_for_room(shm);
	return rc == -EAGAIN ? would_wait(shm) : rc;
}

static void serve_receivers(weft_channel *ch, struct wf_pass *pass)
{
	while (ch->receivers.first != NULL) {
		int rc = can_receive(ch->shm);
		weft_case *c;

		if (rc == -EAGAIN)
			return;
		c = wf_case_next(&ch->receivers, pass->how);
		if (c == NULL)
			return;
		if (rc == 0)
			take(ch->shm, pass, c->to);
		wake(pass, wf_case_done(c, rc));
	}
}

static void serve_senders(weft_channel *ch, struct wf_pass *pass)
{
	while (ch->senders.first != NULL) {
		int rc = can_send(ch->shm);
		weft_case *c;

		if (rc == -EAGAIN)
			return;
		c = wf_case_next(&ch->senders, pass->how);
		if (c == NULL)
			return;
		if (rc == 0)
			rc = put(ch->shm, pass, c->from);
		wake(pass, wf_case_done(c, rc));
	}
}

static void note_waits(weft_channel *ch)
{
	WF_STORE(&ch->shm->waits, (ch->receivers.first != NULL ? WF_SHM_RECEIVERS : 0) |
					  (ch->senders.first != NULL ? WF_SHM_SENDERS : 0));
}

bool wf_shm_serve(weft_channel *ch, struct wf_pass *pass)
{
	serve_receivers(ch, pass);
	serve_senders(ch, pass);
	note_waits(ch);
	return WF_LOAD(&ch->shm->waits) != 0;
}

void wf_shm_fail(weft_channel *ch, struct wf_pass *pass, int error)
{
	struct wf_waiter **end = &pass->wake;

	while (*end != NULL)
		end = &(*end)->next;
	end = wf_cases_end(&ch->receivers, pass->how, error, end);
	wf_cases_end(&ch->senders, pass->how, error, end);
	note_waits(ch);
}

/* Those who wait go first. */
int wf_shm_send(weft_channel *ch, struct wf_pass *pass, const void *from)
{
	int rc;

	if (ch->senders.first != NULL)
		serve_senders(ch, pass);
	rc = can_send(ch->shm);
	return rc == 0 ? put(ch->shm, pass, from) : rc;
}

int wf_shm_receive(weft_channel *ch, struct wf_pass *pass, void *to)
{
	int rc;

	if (ch->receivers.first != NULL)
		serve_receivers(ch, pass);
	rc = can_receive(ch->shm);
	if (rc == 0)
		take(ch->shm, pass, to);
	return rc;
}

/* While it is watched, whoever looks finds out without being told. */
void wf_shm_tell(weft_channel *ch, bool sends)
{
	if (!ch->shm->armed)
		return;
	if (sends)
		atomic_store(&ch->shm->out.words->want_room, 1);
	else
		atomic_store(&ch->shm->in.words->want_message, 1);
}

int wf_shm_want(weft_channel *ch, struct wf_pass *pass, bool sends, const void *from, void *to)
{
	struct wf_shm *shm = ch->shm;

	if (pass->self == NULL)
		return -EPERM; /* the kernel cannot tell it */
	if (wf_shm_worth_a_glance(shm, pass->self)) {
		bool came;

		wf_home_leave(&ch->home, pass->how);
		came = wf_shm_glance(shm, sends);
		pass->how = wf_home_enter_as(&ch->home, pass->self);
		wf_shm_glanced(shm, came);
	}
	wf_shm_tell(ch, sends);
	return sends ? wf_shm_send(ch, pass, from) : wf_shm_receive(ch, pass, to);
}

void wf_shm_listed(weft_channel *ch)
{
	note_waits(ch);
	if (!ch->shm->armed)
		wf_shm_watch(ch->shm);
}

bool wf_shm_forsaken(weft_channel *ch)
{
	note_waits(ch);
	return ch->shm->armed && WF_LOAD(&ch->shm->waits) == 0;
}

/* Nothing is sent behind it by either side. What is under way is still received. */
static void close_rings(struct wf_shm *shm)
{
	atomic_fetch_or(&shm->in.words->tail, WF_SHM_CLOSED);
	atomic_fetch_or(&shm->out.words->tail, WF_SHM_CLOSED);
	shm->closed = true;
}

int wf_shm_close(weft_channel *ch, struct wf_pass *pass)
{
	struct wf_shm *shm = ch->shm;
	int rc = shm->closed ? -EALREADY : 0;

	close_rings(shm);
	wf_shm_serve(ch, pass);
	if (rc == 0)
		wf_shm_owe_bell(shm, pass);
	return rc;
}

size_t wf_shm_length(const struct wf_shm *shm)
{
	uint64_t there = atomic_load(&shm->in.words->tail) / 2 - WF_LOAD(&shm->in.count);

	return there <= shm->capacity ? (size_t)there : 0;
}

/* Nobody uses the channel any more. */
void wf_shm_free(struct wf_shm *shm)
{
	wf_shm_forget(shm);
	close_rings(shm);
	(void)weft_fd_close(shm->fd); /* which the other side is told, if it waits */
	munmap(shm->memory, shm->length);
	wf_shm_drop(shm);
}
