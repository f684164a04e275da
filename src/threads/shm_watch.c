/* shm_watch.c - who looks at the rings that two processes share, and when: workers,
 * before they sleep, and the kernel, by a bell.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/lock.h"
#include "platform/clock.h"
#include "scheduler/turn.h"
#include "threads/shm.h"

/* How long a worker looks out before it sleeps: at most about what it takes to sleep and
 * be woken by a bell; and less where that was in vain, as the other side takes longer
 * or has no CPU of its own. But now and then it looks for long all the same: two who
 * sleep because the other one does would never find out. */
enum { LOOK_NS = 20000, LOOK_LEAST_NS = 50, LOOK_LONG_EVERY = 64 };

/* How long a thread does before it waits: the time of some round trips to a process that
 * is awake, as one that takes just longer would be in vain each time. It keeps its color
 * and its worker meanwhile. */
enum { GLANCE_NS = 1500 };

static struct {
	struct wf_lock lock;
	struct wf_shm *first, *last;
	_Atomic bool looking; /* one worker at a time */
	_Atomic uint32_t look_ns;
	unsigned looks; /* of the one who looks */
	_Atomic unsigned run;
	bool alone; /* there is one CPU: the other side runs only if we do not */
} watch = {
#ifdef WEFT_DEBUG
	.lock = { .rank = WF_RANK_WATCHED },
#endif
	.look_ns = LOOK_NS,
};

_Atomic unsigned wf_watched;

/* The list of those watched */

static void unlink_it(struct wf_shm *shm)
{
	if (!shm->watched)
		return;
	if (shm->prev != NULL)
		shm->prev->next = shm->next;
	else
		watch.first = shm->next;
	if (shm->next != NULL)
		shm->next->prev = shm->prev;
	else
		watch.last = shm->prev;
	shm->watched = false;
	WF_ADD_OWN(&wf_watched, -1u);
}

static void pin(struct wf_shm *shm)
{
	atomic_fetch_add(&shm->pins, 1);
}

/* The last touch: it may be freed after this. */
static void unpin(struct wf_shm *shm)
{
	atomic_fetch_sub_explicit(&shm->pins, 1, memory_order_release);
}

void wf_shm_watch(struct wf_shm *shm)
{
	wf_lock_take(&watch.lock);
	if (!shm->watched) {
		shm->next = NULL;
		shm->prev = watch.last;
		if (watch.last != NULL)
			watch.last->next = shm;
		else
			watch.first = shm;
		watch.last = shm;
		shm->watched = true;
		shm->passed_over = false;
		WF_ADD_OWN(&wf_watched, 1u);
	}
	wf_lock_give(&watch.lock);
}

void wf_shm_forget(struct wf_shm *shm)
{
	wf_lock_take(&watch.lock);
	unlink_it(shm);
	shm->ch = NULL;
	wf_lock_give(&watch.lock);
	for (int i = 0; atomic_load_explicit(&shm->pins, memory_order_acquire) != 0; i++) {
		if (i < 64)
			wf_relax();
		else
			sched_yield();
	}
	/* An operation of a run that is over never ends. */
	if (shm->armed && shm->run != WF_LOAD(&watch.run)) {
		shm->armed = false;
		wf_shm_drop(shm);
	}
}

void wf_shm_drop(struct wf_shm *shm)
{
	if (atomic_fetch_sub(&shm->refs, 1) == 1)
		free(shm);
}

/* Bells */

void wf_shm_owe_bell(struct wf_shm *shm, struct wf_pass *pass)
{
	if (pass->dead == WF_PASS_BELL) {
		if (pass->bell == shm)
			return;
		wf_shm_ring_bell(pass->bell);
	}
	pin(shm);
	pass->dead = WF_PASS_BELL;
	pass->bell = shm;
}

/* One byte for which the kernel has no memory is sent again: it would be missed. If there
 * is no room for it there are others that were not heard yet; if the other side is
 * gone, that is for who waits to find out. */
void wf_shm_ring_bell(struct wf_shm *shm)
{
	ssize_t n;

	do {
		n = WF_FAULT(ENOBUFS);
		if (n == 0)
			n = send(shm->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		else
			errno = ENOBUFS;
	} while (n < 0 && (errno == ENOBUFS || errno == ENOMEM || errno == EINTR));
	unpin(shm);
}

bool wf_shm_hung_up(const struct wf_shm *shm)
{
	struct pollfd p = { .fd = shm->fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLRDHUP | POLLERR);
}

/* Arming */

static void leave(weft_channel *ch, struct wf_shm *shm, struct wf_pass *pass)
{
	wf_home_leave(&ch->home, pass->how);
	unpin(shm);
	wf_pass_end(pass);
}

/* The operation has ended: a bell, a hangup, a failure, or it was called off. */
static void rang(void *arg)
{
	struct wf_shm *shm = arg;
	int64_t result = shm->op.result;
	struct wf_pass pass;
	weft_channel *ch;

	wf_lock_take(&watch.lock);
	ch = shm->ch;
	if (ch != NULL)
		pin(shm);
	wf_lock_give(&watch.lock);
	if (ch != NULL) {
		wf_pass_enter(&pass, ch);
		shm->armed = false;
		if ((result == 0 || result == -ECONNRESET) && shm->broken == 0)
			shm->broken = -ECONNRESET;
		if (wf_shm_serve(ch, &pass)) {
			if (result < 0 && result != -ECANCELED)
				wf_shm_fail(ch, &pass, (int)result);
			else
				wf_shm_watch(shm);
		}
		leave(ch, shm, &pass);
	}
	wf_shm_drop(shm);
}

void wf_shm_set_up_op(struct wf_shm *shm)
{
	weft_op_init(&shm->op, weft_color_new(), rang, shm);
}

/* Asks for a bell, and looks once more, inside the channel. Whether an operation is to
 * wait for it. */
static bool ask_for_bell(weft_channel *ch, struct wf_shm *shm, struct wf_pass *pass)
{
	if (shm->armed)
		return false;
	shm->armed = true;
	if (ch->receivers.first != NULL)
		wf_shm_tell(ch, false);
	if (ch->senders.first != NULL)
		wf_shm_tell(ch, true);
	shm->armed = wf_shm_serve(ch, pass);
	return shm->armed;
}

/* Starts the operation. All who wait may be gone by then: nobody could call it off
 * before. */
static void wait_for_bell(weft_channel *ch, struct wf_shm *shm)
{
	struct wf_pass pass;
	bool forsaken;
	int rc;

	atomic_fetch_add(&shm->refs, 1);
	shm->run = WF_LOAD(&watch.run);
	rc = weft_op_recv(&shm->op, shm->fd, &shm->byte, 1, 0);
	wf_pass_enter(&pass, ch);
	if (rc < 0) {
		shm->armed = false;
		wf_shm_fail(ch, &pass, rc);
	}
	forsaken = wf_shm_forsaken(ch);
	wf_home_leave(&ch->home, pass.how);
	if (forsaken)
		wf_shm_call_off(shm);
	unpin(shm);
	wf_pass_end(&pass);
	if (rc < 0)
		wf_shm_drop(shm);
}

/* Has the kernel watch it, if there is still somebody who waits. It is pinned, and off
 * the list. */
static void arm(weft_channel *ch, struct wf_shm *shm)
{
	struct wf_pass pass;
	bool start;

	wf_pass_enter(&pass, ch);
	start = ask_for_bell(ch, shm, &pass);
	if (start)
		pin(shm);
	leave(ch, shm, &pass);
	if (start)
		wait_for_bell(ch, shm);
}

void wf_shm_call_off(struct wf_shm *shm)
{
	(void)weft_op_cancel(&shm->op);
}

/* Looking */

static bool has_come(const struct wf_shm *shm, unsigned waits)
{
	return (waits & WF_SHM_RECEIVERS &&
		WF_LOAD(&shm->in.words->tail) != WF_LOAD(&shm->in.count) * 2) ||
	       (waits & WF_SHM_SENDERS &&
		(WF_LOAD(&shm->out.words->head) + shm->capacity != WF_LOAD(&shm->out.count) ||
		 WF_LOAD(&shm->out.words->tail) & WF_SHM_CLOSED));
}

static bool is_any(const struct wf_shm *shm)
{
	(void)shm;
	return true;
}

static bool is_due(const struct wf_shm *shm)
{
	return has_come(shm, WF_LOAD(&shm->waits));
}

static bool was_passed_over(const struct wf_shm *shm)
{
	return shm->passed_over;
}

/* Takes the first such one off the list, pinned. */
static weft_channel *next_watched(bool (*such)(const struct wf_shm *shm))
{
	weft_channel *ch = NULL;

	wf_lock_take(&watch.lock);
	for (struct wf_shm *shm = watch.first; shm != NULL; shm = shm->next) {
		if (!such(shm))
			continue;
		ch = shm->ch;
		unlink_it(shm);
		pin(shm);
		break;
	}
	wf_lock_give(&watch.lock);
	return ch;
}

static bool look(void)
{
	weft_channel *ch = next_watched(is_due);
	struct wf_pass pass;

	if (ch == NULL)
		return false;
	wf_pass_enter(&pass, ch);
	if (wf_shm_serve(ch, &pass) && !ch->shm->armed)
		wf_shm_watch(ch->shm);
	leave(ch, ch->shm, &pass);
	return true;
}

static void arm_those(bool (*such)(const struct wf_shm *shm))
{
	weft_channel *ch;

	for (unsigned n = WF_LOAD(&wf_watched); n > 0; n--) {
		ch = next_watched(such);
		if (ch == NULL)
			break;
		arm(ch, ch->shm);
	}
}

/* A busy worker looks at the kernel. Those for which nothing had come when that was last
 * so are armed: what is answered sooner is so without a system call. */
void wf_shm_look(void)
{
	for (unsigned n = WF_LOAD(&wf_watched); n > 0 && look(); n--)
		;
	arm_those(was_passed_over);
	wf_lock_take(&watch.lock);
	for (struct wf_shm *shm = watch.first; shm != NULL; shm = shm->next)
		shm->passed_over = true;
	wf_lock_give(&watch.lock);
}

/* Not if there is something else to do: another thread, or the code behind an async
 * body. After one in vain there is none for a wait, then for 3, for 7, and so on. */
bool wf_shm_worth_a_glance(struct wf_shm *shm, const weft_thread *self)
{
	if (shm->glance_after > 0) {
		shm->glance_after--;
		return false;
	}
	return !watch.alone && self->under == &wf_nobody && wf_turn_alone(self->worker);
}

bool wf_shm_glance(const struct wf_shm *shm, bool sends)
{
	const unsigned waits = sends ? WF_SHM_SENDERS : WF_SHM_RECEIVERS;
	uint64_t until = wf_ticks() + wf_ns_to_ticks(GLANCE_NS);

	/* To read the clock takes longer than to look. */
	do
		for (int i = 0; i < 8; i++)
			if (has_come(shm, waits))
				return true;
	while (wf_ticks() < until);
	return false;
}

void wf_shm_glanced(struct wf_shm *shm, bool came)
{
	shm->glance_pause = came ? 0 : (uint8_t)(2 * shm->glance_pause + 1);
	shm->glance_after = shm->glance_pause;
}

static bool look_for_a_while(struct wf_worker *w)
{
	uint32_t ns = WF_LOAD(&watch.look_ns);
	bool for_long = ++watch.looks % LOOK_LONG_EVERY == 0;
	uint64_t until = wf_ticks() + wf_ns_to_ticks(for_long ? LOOK_NS : ns);

	do {
		if (look()) {
			WF_STORE(&watch.look_ns, LOOK_NS);
			return true;
		}
		wf_relax();
	} while (!wf_worker_wanted(w) && wf_ticks() < until);
	if (!wf_worker_wanted(w) && ns > LOOK_LEAST_NS)
		WF_STORE(&watch.look_ns, ns / 2);
	return false;
}

bool wf_shm_look_out(struct wf_worker *w)
{
	bool came;

	if (atomic_exchange(&watch.looking, true))
		return false;
	came = watch.alone ? look() : look_for_a_while(w);
	atomic_store(&watch.looking, false);
	if (!came && !wf_worker_wanted(w))
		arm_those(is_any);
	return came;
}

void wf_shm_run_begins(void)
{
	/* All of them, not only ours: the other side may be kept on another. */
	watch.alone = sysconf(_SC_NPROCESSORS_ONLN) == 1;
	WF_STORE(&watch.look_ns, LOOK_NS);
	atomic_fetch_add(&watch.run, 1);
}

/* Who still waits was stopped: such channels can only be freed. */
void wf_shm_run_ends(void)
{
	wf_lock_take(&watch.lock);
	while (watch.first != NULL)
		unlink_it(watch.first);
	wf_lock_give(&watch.lock);
	atomic_fetch_add(&watch.run, 1);
}
