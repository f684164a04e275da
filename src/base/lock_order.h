/* lock_order.h - the order in which locks may be taken, as data.
 *
 * A thread that holds a lock of some rank may take only locks of higher rank.
 * Debug builds abort on a breach. Locks of the same rank are never held
 * together.
 */
#ifndef WF_LOCK_ORDER_H
#define WF_LOCK_ORDER_H

enum wf_rank {
	WF_RANK_RUNTIME,  /* starting, stopping, stand-ins */
	WF_RANK_SIGNALS,  /* io: watched signals; children waited for */
	WF_RANK_RESOLVER, /* io: list of lookups */
	WF_RANK_FD,       /* io: one descriptor's record */
	WF_RANK_POLLER,   /* io: one worker's ring */
	WF_RANK_OFFLOAD,  /* io: queue of blocking calls */
	WF_RANK_WHEEL,    /* scheduler: one worker's timers */
	WF_RANK_COLOR,    /* scheduler: one bucket of the color table */
	WF_RANK_RUNQ,     /* scheduler: one worker's queue of colors */
	WF_RANK_CARVE,    /* platform: making stacks */
	WF_RANK_POOL,     /* shared stock of records of colors and events, of stacks */
	WF_RANK_WATCHED,  /* threads: channels between processes that are looked at */
	WF_RANK_TAME,     /* tame: what few closures are kept in */
	WF_RANK_HELD,     /* threads: which thread holds which lock (debug builds) */
	WF_RANKS,
};

#endif
