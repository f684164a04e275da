/* lock.c - locks in virtual time: a line that travels, and waiting for it. */
#include "base/lock.h"

#include "base/report.h"
#include "machine.h"

/* What is done under a lock of each rank: ticks when everything is warm, and the
 * lines that have to be fetched when another core held the lock before. */
static const struct {
	unsigned ticks, lines;
} sections[WF_RANKS] = {
	[WF_RANK_COLOR] = { 25, 2 },
	[WF_RANK_RUNQ] = { 20, 4 },
	[WF_RANK_POOL] = { 15, 1 },
};

static void check_order(struct sim_core *core, const struct wf_lock *lock)
{
	if (core->ranks >> lock->rank != 0)
		wf_bug("lock of rank %d taken while holding ranks %#x", (int)lock->rank,
		       core->ranks);
	core->ranks |= 1u << lock->rank;
}

static void wait_for(struct sim *sim, struct sim_core *core, struct wf_lock *lock)
{
	uint64_t began = core->now;

	core->next = lock->waiting;
	lock->waiting = core;
	lock->waiters++;
	sim_core_stop(sim, SIM_WAITING);
	sim->stats.lock_ticks += core->now - began;
}

/* Any waiter may be the next, as with a real spin lock: the seed chooses. */
static struct sim_core *choose_waiter(struct sim *sim, struct wf_lock *lock)
{
	struct sim_core **at = &lock->waiting, *chosen;

	for (uint64_t skip = sim_random(sim) % lock->waiters; skip > 0; skip--)
		at = &(*at)->next;
	chosen = *at;
	*at = chosen->next;
	lock->waiters--;
	return chosen;
}

/* The lock is the core's now; its line comes over, and what it guards. */
static void acquired(struct sim *sim, struct sim_core *core, struct wf_lock *lock)
{
	check_order(core, lock);
	lock->held = true;
	if (lock->last >= 0 && lock->last != core->id)
		sim_spend(sim,
			  sim_fetch(sim, lock->last, core->id) * (1 + sections[lock->rank].lines));
}

void wf_lock_take(struct wf_lock *lock) WF_NO_THREAD_SAFETY
{
	struct sim *sim = sim_machine;
	struct sim_core *core = sim != NULL ? sim->current : NULL;

	if (core == NULL)
		return;
	sim_spend(sim, 0);
	if (lock->held)
		wait_for(sim, core, lock); /* is handed the lock */
	acquired(sim, core, lock);
}

bool wf_lock_try(struct wf_lock *lock) WF_NO_THREAD_SAFETY
{
	struct sim *sim = sim_machine;
	struct sim_core *core = sim != NULL ? sim->current : NULL;

	if (core == NULL)
		return true;
	sim_spend(sim, 0);
	if (lock->held)
		return false;
	acquired(sim, core, lock);
	return true;
}

void wf_lock_give(struct wf_lock *lock) WF_NO_THREAD_SAFETY
{
	struct sim *sim = sim_machine;
	struct sim_core *core = sim != NULL ? sim->current : NULL;

	if (core == NULL)
		return;
	sim_spend(sim, sections[lock->rank].ticks);
	core->ranks &= ~(1u << lock->rank);
	lock->last = core->id;
	if (lock->waiting == NULL)
		lock->held = false;
	else
		sim_core_ready(sim, choose_waiter(sim, lock), core->now);
}
