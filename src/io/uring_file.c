/* uring_file.c - files that a ring has by numbers of its own.
 *
 * The kernel then need not look for the file of each read and write, nor count who uses it.
 * But it keeps the file open, whatever becomes of the descriptor. So a file gets a number only
 * if nobody but us closes it, and gives it up before it is closed: only the owner of the ring
 * can do that, so others ask it to, and the descriptor is busy until it has.
 *
 * One ring has a file: the first that uses it often. Others use the descriptor.
 */
#ifdef WEFT_HAVE_URING
#include "base/fault.h"
#include "io/uring.h"
#include "scheduler/scheduler.h"

_Static_assert(WF_RING_FILES <= 64, "numbers are bits");

static const uint64_t all = UINT64_MAX >> (64 - WF_RING_FILES);

static uint64_t bit(unsigned number)
{
	return 1ull << (number - 1);
}

void wf_uring_files_open(struct wf_uring *u)
{
	if (WF_FAULT(ENOMEM) == 0 && io_uring_register_files_sparse(&u->ring, WF_RING_FILES) == 0)
		u->file_free = all;
}

/* The kernel would close a ring's files some time after the ring. */
void wf_uring_files_close(struct wf_uring *u)
{
	if (u->file_free != all)
		(void)io_uring_unregister_files(&u->ring);
	u->file_free = 0;
}

WF_COLD unsigned wf_uring_file_add(struct wf_uring *u, struct wf_fd *f)
{
	unsigned number;

	f->uses = 0;
	if (u->file_free == 0 || f->closing || WF_FAULT(ENOMEM) < 0)
		return 0;
	number = (unsigned)__builtin_ctzll(u->file_free) + 1;
	if (io_uring_register_files_update(&u->ring, number - 1, &f->fd, 1) != 1)
		return 0;
	u->file_free &= ~bit(number);
	u->file[number - 1] = (struct wf_uring_file){ f, f->life };
	f->ring = (uint16_t)u->base.id;
	f->number = (uint8_t)number;
	return number;
}

/* For the owner. */
static void give_up(struct wf_uring *u, unsigned number)
{
	int none = -1;

	if (io_uring_register_files_update(&u->ring, number - 1, &none, 1) == 1)
		u->file_free |= bit(number);
}

/* Returns whether the owner of the ring has to see to it. */
static bool part_with(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	struct wf_worker *self = wf_worker_self();
	unsigned number = f->number;
	struct wf_uring *u;

	if (number == 0)
		return false;
	f->number = 0;
	u = WF_CONTAINER(wf_poller_of(f->ring), struct wf_uring, base);
	if (self == u->base.worker) {
		if (u->open)
			give_up(u, number);
		return false;
	}
	atomic_fetch_or(&u->file_unwanted, bit(number));
	wf_worker_wake(u->base.worker);
	return true;
}

void wf_uring_leave(struct wf_fd *f)
{
	if (part_with(f)) {
		f->leaving = true;
		f->busy++;
	}
}

/* It has left, or the number means another descriptor. */
static void has_left(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	f->leaving = false;
	f->busy--;
}

void wf_uring_forget(struct wf_fd *f)
{
	(void)part_with(f);
	if (f->leaving)
		has_left(f);
	f->uses = 0;
}

static void see_to(struct wf_uring *u, unsigned number)
{
	const struct wf_uring_file *file = &u->file[number - 1];
	struct wf_fd *f = file->f;
	struct wf_after after = { 0 };

	give_up(u, number);
	wf_lock_take(&f->lock);
	if (f->leaving && f->life == file->life) {
		has_left(f);
		wf_op_close_if_quiet(f, &after);
	}
	wf_lock_give(&f->lock);
	wf_after(&after);
}

void wf_uring_files_see_to(struct wf_uring *u)
{
	uint64_t numbers = atomic_exchange(&u->file_unwanted, 0);

	u->stirred = true;
	for (; numbers != 0; numbers &= numbers - 1)
		see_to(u, (unsigned)__builtin_ctzll(numbers) + 1);
}
#else
typedef int wf_no_uring_file_in_this_build;
#endif
