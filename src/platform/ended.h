/* ended.h - notices that a function of the user's ends a kernel thread of ours, by pthread_exit(3)
 * or pthread_cancel(3).
 */
#ifndef WF_ENDED_H
#define WF_ENDED_H

struct wf_ended {
	void (*fn)(void);
};

/* Makes the calling kernel thread call `e->fn` if it ends. NULL: it may end. */
void wf_ended_watch(const struct wf_ended *e);

#endif
