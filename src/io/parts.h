/* parts.h - the parts of io that stand beside the pollers, and when they begin
 * and end: the offload pool, signals, names.
 *
 * The poller table's `start` calls each _start before any worker runs, and its
 * `stop` calls each _stop after all workers ended; at that time nobody else is
 * in the runtime. A _stop is harmless without its _start, so a start that
 * failed half-way can stop everything.
 */
#ifndef WF_PARTS_H
#define WF_PARTS_H

#include "base/compiler.h"

/* The offload pool: at most `max` threads (above 0); none is started yet.
 * Stopping waits for calls that run, and forgets those that have not begun. */
int wf_offload_start(int max);
void wf_offload_stop(void);
/* Calls that were made, threads there are now, calls that wait for a thread. */
void wf_offload_stats(uint64_t *run, uint32_t *threads, uint32_t *queued);
/* How long a thread without work stays. Tests shorten it. */
extern _Atomic uint64_t wf_offload_idle_ns;

/* Signals. Stopping puts back the actions that were in force. */
int wf_signals_start(void);
void wf_signals_stop(void);

/* Children that somebody waits for when the runtime stops are left alone; what
 * Weft held for them is freed. */
int wf_children_start(void);
void wf_children_stop(void);

/* Names. The resolver itself is made at the first lookup of a run. */
int wf_dns_start(void);
void wf_dns_stop(void);

#endif
