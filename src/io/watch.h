/* watch.h - one watch: a poll operation that starts again after each call. */
#ifndef WF_WATCH_H
#define WF_WATCH_H

#include "io/op.h"

enum wf_watch_state {
	WF_WATCH_ARMED,  /* waits for its descriptor */
	WF_WATCH_POSTED, /* its event is queued or runs */
};

struct wf_watch {
	weft_op op; /* op.event calls watch_run in the user's color */
	weft_fn *fn;
	void *arg;
	struct wf_fd *f;
	struct wf_watch *next; /* in f->watches */
	int dir;
	uint8_t state;  /* enum wf_watch_state */
	bool off;       /* ended: free it as soon as nobody holds it */
	bool muted;     /* ended in its own color: no call may follow */
	bool checking;  /* epoll: on some poller's list, to be looked at */
	bool recheck;   /* epoll: armed again meanwhile: that look may have been too early */
	uint64_t armed; /* epoll: when, in ticks */
};

/* The descriptor is ready. */
void wf_watch_fired(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock);
/* The descriptor was closed behind our back: the watch ends. Returns where it
 * began, for the report that must follow without the lock. */
const char *wf_watch_lost(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock);
void wf_watch_report(const struct wf_fd *f, const char *where);
/* The backend has let go of a watch that is off. */
void wf_watch_disarmed(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock);
/* Ends all watches of f. */
void wf_watch_end_all(struct wf_fd *f) WF_REQUIRES(f->lock);
/* Frees all, when no thread is left. */
void wf_watches_free(struct wf_fd *f);

#endif
