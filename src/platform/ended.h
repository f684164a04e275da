/* ended.h - notices that a kernel thread of ours ends by pthread_exit(3) or pthread_cancel(3), which a
 * function of the user's called on it.
 */
#ifndef WF_ENDED_H
#define WF_ENDED_H

struct wf_ended {
	void (*fn)(void);
};

/* From now on `e->fn` is called on the calling thread if that ends. NULL: it may end. */
void wf_ended_watch(const struct wf_ended *e);

#endif
