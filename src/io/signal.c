/* signal.c - signals as events.
 *
 * The handler of a watched signal, on whatever thread, marks the signal as
 * pending and writes to an eventfd. A watch on that descriptor, in a color of
 * its own, posts the user's event. So nothing but a mark and a write happens in
 * signal context, and a signal that comes before any worker polls is kept.
 *
 * The eventfd's watch would keep weft_run from ending; it is taken out of the
 * count of live things for as long as it is there.
 *
 * A watch record lives until weft_off_signal, or until its last call returned:
 * another thread may end a watch whose call is queued or runs.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <weft/io.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/report.h"
#include "io/kernel.h"
#include "io/parts.h"
#include "scheduler/scheduler.h"

#define SIGNALS 65 /* the kernel's, from 1 */

struct watch {
	struct wf_link link; /* in signals.all */
	weft_event event;    /* runs run_call, in the user's color */
	weft_fn *fn;
	void *arg;
	int signo;
	struct sigaction before;
	/* Under signals.lock: */
	bool queued;  /* the event is queued */
	bool running; /* fn runs */
	bool off;     /* ended: whoever sees it last frees it */
	bool silent;  /* ended, and the queued event must call nobody */
};

/* All that signal handlers touch. `inside` counts them, so that the descriptor
 * is closed only when no handler can write to it any more. */
static struct {
	_Atomic int fd;
	_Atomic uint32_t inside;
	_Atomic bool pending[SIGNALS];
} arrived = { .fd = -1 };

static struct {
	struct wf_lock lock;
	bool on;
	weft_color color;
	int fd; /* -1 until the first signal is watched */
	struct wf_link all;
	struct watch *watches[SIGNALS];
} signals;

/* ThreadSanitizer keeps a signal until the stack that it came upon calls the library again:
 * a stack that waits, or was given back, does not. The handler touches nothing that it
 * watches, so it need not know. (clang's watches all atomics.)
 */
#if defined(WF_TSAN) && !defined(__clang__)
int __sigaction(int signo, const struct sigaction *act, struct sigaction *before);
#define set_action __sigaction
#else
#define set_action sigaction
#endif

static WF_NO_TSAN void note_signal(int signo)
{
	int fd;

	atomic_fetch_add(&arrived.inside, 1);
	atomic_store(&arrived.pending[signo], true);
	fd = atomic_load(&arrived.fd);
	if (fd >= 0)
		(void)wf_eventfd_add(fd, 1);
	atomic_fetch_sub(&arrived.inside, 1);
}

static void watch_free(struct watch *w) WF_REQUIRES(signals.lock)
{
	wf_list_remove(&w->link);
	free(w);
}

/* The user's event: in the user's color. */
static void run_call(void *arg)
{
	struct watch *w = arg;
	bool call;

	wf_lock_take(&signals.lock);
	w->queued = false;
	call = w->running = !w->silent;
	if (!call)
		watch_free(w);
	wf_lock_give(&signals.lock);
	if (!call)
		return;
	w->fn(w->arg);
	wf_lock_take(&signals.lock);
	w->running = false;
	if (w->off && !w->queued)
		watch_free(w);
	wf_lock_give(&signals.lock);
}

/* Posts the events of signals that arrived: in the internal color. */
static void collect(void *unused)
{
	uint64_t count;

	(void)unused;
	/* Emptied first: a signal that comes now makes it readable again. */
	if (read(signals.fd, &count, sizeof count) < 0 && errno != EAGAIN && errno != EINTR)
		wf_run_fails("read", -errno);
	wf_lock_take(&signals.lock);
	for (int signo = 1; signo < SIGNALS; signo++) {
		struct watch *w = signals.watches[signo];

		/* Cleared before it is posted: a later arrival posts again. */
		if (!atomic_exchange(&arrived.pending[signo], false) || w == NULL || w->queued)
			continue;
		w->queued = true;
		wf_event_deliver(NULL, &w->event);
	}
	wf_lock_give(&signals.lock);
}

/* Makes the way from handlers to `collect`, once in a run. */
static int open_way(void) WF_REQUIRES(signals.lock)
{
	int fd, r;

	if (signals.fd >= 0)
		return 0;
	if (WF_FAULT(EMFILE))
		return -EMFILE;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return wf_denied("eventfd2", -errno);
	signals.fd = fd;
	r = weft_on_fd(fd, WEFT_READ, signals.color, collect, NULL);
	if (r < 0) {
		signals.fd = -1;
		close(fd);
		return r;
	}
	wf_live_add(-1);
	atomic_store(&arrived.fd, fd);
	return 0;
}

static int install(struct watch *w) WF_REQUIRES(signals.lock)
{
	struct sigaction act = { .sa_handler = note_signal, .sa_flags = SA_RESTART };
	int r;

	if (signals.watches[w->signo] != NULL)
		return -EEXIST;
	r = open_way();
	if (r < 0)
		return r;
	sigfillset(&act.sa_mask);
	atomic_store(&arrived.pending[w->signo], false);
	if (set_action(w->signo, &act, &w->before) < 0)
		return -errno;
	signals.watches[w->signo] = w;
	wf_list_append(&signals.all, &w->link);
	return 0;
}

/* Signals that say a thread cannot go on would come again for ever if their
 * handler returned. */
static bool can_watch(int signo)
{
	switch (signo) {
	case SIGKILL:
	case SIGSTOP:
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
		return false;
	default:
		return signo > 0 && signo < SIGNALS;
	}
}

static int on_signal(int signo, weft_color color, weft_fn *fn, void *arg)
{
	struct watch *w = WF_NEW(struct watch);
	int r;

	if (w == NULL)
		return -ENOMEM;
	weft_event_init(&w->event, color, run_call, w);
	w->signo = signo;
	w->fn = fn;
	w->arg = arg;
	r = wf_event_check(&w->event);
	if (r == 0) {
		wf_lock_take(&signals.lock);
		r = install(w);
		wf_lock_give(&signals.lock);
	}
	if (r < 0)
		free(w);
	return r;
}

int weft_on_signal(int signo, weft_color color, weft_fn *fn, void *arg)
{
	int r;

	if (fn == NULL || !can_watch(signo))
		return -EINVAL;
	r = wf_enter();
	if (r < 0)
		return r;
	r = wf_stopping() ? -ESHUTDOWN : on_signal(signo, color, fn, arg);
	wf_leave();
	return r;
}

static int off_signal(int signo) WF_REQUIRES(signals.lock)
{
	struct watch *w = signals.watches[signo];
	bool own;

	if (w == NULL)
		return -ENOENT;
	own = wf_worker_self() != NULL && weft_color_current() == w->event.color;
	set_action(signo, &w->before, NULL);
	signals.watches[signo] = NULL;
	w->off = true;
	w->silent = own || w->running; /* the call that runs is the last */
	if (w->queued || w->running)
		return own ? 0 : -EINPROGRESS;
	watch_free(w);
	return 0;
}

int weft_off_signal(int signo)
{
	int r;

	if (signo <= 0 || signo >= SIGNALS)
		return -ENOENT;
	r = wf_enter();
	if (r < 0)
		return r;
	wf_lock_take(&signals.lock);
	r = off_signal(signo);
	wf_lock_give(&signals.lock);
	wf_leave();
	return r;
}

static void restore_actions(void)
{
	for (int signo = 1; signo < SIGNALS; signo++) {
		if (signals.watches[signo] != NULL)
			set_action(signo, &signals.watches[signo]->before, NULL);
		signals.watches[signo] = NULL;
	}
}

/* A forked child has no runtime: it gets the actions that were in force before,
 * and must not write to the descriptor that it shares with its parent. */
static void after_fork_in_child(void)
{
	atomic_store(&arrived.fd, -1);
	atomic_store(&arrived.inside, 0);
	restore_actions();
	signals.on = false;
}

static void register_fork_handler(void)
{
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

int wf_signals_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_fork_handler);
	wf_lock_init(&signals.lock, WF_RANK_SIGNALS);
	wf_list_init(&signals.all);
	signals.color = weft_color_new();
	signals.fd = -1;
	signals.on = true;
	return 0;
}

/* No worker and no caller is left, but signals still come. */
static void close_way(void)
{
	atomic_store(&arrived.fd, -1);
	while (atomic_load(&arrived.inside) > 0)
		sched_yield();
	if (signals.fd >= 0)
		close(signals.fd);
	signals.fd = -1;
}

void wf_signals_stop(void)
{
	if (!signals.on)
		return;
	signals.on = false;
	restore_actions();
	close_way();
	wf_lock_take(&signals.lock);
	for (struct wf_link *at = signals.all.next, *next; at != &signals.all; at = next) {
		next = at->next;
		watch_free(WF_CONTAINER(at, struct watch, link));
	}
	wf_lock_give(&signals.lock);
}
