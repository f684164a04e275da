/* io.c - the poller table: chooses the backend, begins and ends all of io. */
#include "io/io.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/capacity.h"
#include "base/fault.h"
#include "base/report.h"
#include "io/backend.h"
#include "io/kernel.h"
#include "io/parts.h"
#include "scheduler/scheduler.h"

const struct wf_backend *wf_io;
#ifndef WEFT_HAVE_URING
unsigned wf_uring_modesty;
#endif

static struct wf_poller *_Atomic pollers[WF_WORKERS_LIMIT(WF_WORKERS_MAX)];
static int workers;
static _Atomic unsigned homes;

/* Pollers */

struct wf_poller *wf_poller_of(int id)
{
	struct wf_poller *p = atomic_load_explicit(&pollers[id], memory_order_acquire);

	for (int i = 0; p == NULL && i < workers; i++)
		p = atomic_load_explicit(&pollers[i], memory_order_acquire);
	return p;
}

int wf_next_home(void)
{
	return (int)(atomic_fetch_add_explicit(&homes, 1, memory_order_relaxed) %
		     (unsigned)workers);
}

WF_NO_TSAN int wf_eventfd_add(int fd, uint64_t value)
{
	struct iovec part = { &value, sizeof value };
	long r;

	do
		r = wf_syscall6(SYS_write, fd, (long)&value, sizeof value, 0, 0, 0);
	while (r == -EINTR);
	if (WF_LIKELY(r >= 0 || r == -EAGAIN))
		return 0;
	return wf_syscall6(SYS_writev, fd, (long)&part, 1, 0, 0, 0) < 0 ? (int)r : 0;
}

/* Adding 0 wakes no worker: it only tells whether a wake can be written. */
static int ask_to_ring(struct wf_poller *p)
{
	int err = wf_eventfd_add(p->wake_fd, 0);

	return err < 0 ? wf_denied("write", err) : 0;
}

int wf_poller_init(struct wf_poller *p, struct wf_worker *w)
{
	p->worker = w;
	p->id = wf_worker_id(w);
	p->wake_fd = -1;
	if (WF_FAULT(EMFILE) < 0)
		return -EMFILE;
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return p->wake_fd < 0 ? wf_denied("eventfd2", -errno) : ask_to_ring(p);
}

void wf_poller_fini(struct wf_poller *p)
{
	if (p->wake_fd >= 0)
		close(p->wake_fd);
}

static void ring(struct wf_poller *p)
{
	int err = wf_eventfd_add(p->wake_fd, 1);

	if (WF_UNLIKELY(err < 0))
		wf_run_fails("write", err);
}

/* The write is what wakes; whoever finds `woken` set knows that one is under way
 * and that the poller will look again after it. */
void wf_poller_wake(struct wf_poller *p)
{
	if (!atomic_exchange(&p->woken, true))
		ring(p);
}

void wf_poller_wake_again(struct wf_poller *p)
{
	atomic_store(&p->woken, true);
	ring(p);
}

bool wf_poller_woken(struct wf_poller *p)
{
	return WF_LOAD(&p->woken) && atomic_exchange(&p->woken, false);
}

void wf_hand(struct wf_poller *p, weft_op *op, enum wf_handed why)
{
	uintptr_t entry = (uintptr_t)op | why;
	uintptr_t top = WF_LOAD(&p->handed);

	do
		op->link_[why] = (void *)top;
	while (!atomic_compare_exchange_weak(&p->handed, &top, entry));
	if (wf_worker_self() != p->worker)
		wf_worker_wake(p->worker);
}

WF_HOT uintptr_t wf_handed_take(struct wf_poller *p)
{
	uintptr_t entry, first = 0;

	/* A worker that parks has made a full barrier, which pairs with that of
	 * wf_worker_wake: what was handed to it is seen here, or it is woken. */
	if (WF_LOAD(&p->handed) == 0)
		return 0;
	entry = atomic_exchange(&p->handed, 0);
	while (entry != 0) {
		uintptr_t next = wf_handed_next(entry);

		wf_handed_op(entry)->link_[wf_handed_why(entry)] = (void *)first;
		first = entry;
		entry = next;
	}
	return first;
}

/* SIGPIPE: an operation reports -EPIPE. write(2) to a pipe and sendfile(2) cannot
 * be told so, therefore the default action, which would kill the process, is
 * replaced while the runtime runs, by a handler: unlike SIG_IGN a handler does
 * not go to programs that are started. */

static struct sigaction sigpipe_was;
static bool sigpipe_ours;

static void ignore_sigpipe(int signo)
{
	(void)signo;
}

static void take_sigpipe(void)
{
	struct sigaction sa = { .sa_handler = ignore_sigpipe, .sa_flags = SA_RESTART };

	sigemptyset(&sa.sa_mask);
	sigpipe_ours = sigaction(SIGPIPE, NULL, &sigpipe_was) == 0 &&
		       !(sigpipe_was.sa_flags & SA_SIGINFO) && sigpipe_was.sa_handler == SIG_DFL &&
		       sigaction(SIGPIPE, &sa, NULL) == 0;
}

static void give_back_sigpipe(void)
{
	struct sigaction now;

	if (sigpipe_ours && sigaction(SIGPIPE, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
	    now.sa_handler == ignore_sigpipe)
		sigaction(SIGPIPE, &sigpipe_was, NULL);
	sigpipe_ours = false;
}

/* Beginning and end */

/* valgrind does not know what io_uring writes where, and its threads stop when one
 * of them sleeps there. It shows by the libraries that it loads first. */
static bool under_valgrind(void)
{
	const char *loaded = getenv("LD_PRELOAD");

	return loaded != NULL && strstr(loaded, "vgpreload") != NULL;
}

static int choose(const char *wanted)
{
	bool automatic = wanted == NULL || strcmp(wanted, "auto") == 0;
	const char *call = "io_uring_setup";
	int why = -ENOSYS;

	wf_io = &wf_epoll;
	if (automatic ? under_valgrind() : strcmp(wanted, "epoll") == 0)
		return 0;
#ifdef WEFT_HAVE_URING
	why = wf_uring.probe(&call);
	if (why == 0)
		wf_io = &wf_uring;
#endif
	if (why == 0 || automatic)
		return 0;
	if (why == -ENOMEM || why == -EMFILE || why == -ENFILE)
		return why;
	wf_report(WF_REPORT_SETTING, "io=uring: this system does not let us use io_uring (%s: %s)",
		  call, strerror(-why));
	return -EINVAL;
}

static void clean_record(struct wf_fd *f, void *unused)
{
	(void)unused;
	wf_op_abandon_all(f);
	wf_watches_free(f);
	wf_jobs_free(f);
}

static void stop(void)
{
	wf_dns_stop();
	wf_children_stop();
	wf_signals_stop();
	wf_offload_stop();
	wf_fd_each(clean_record, NULL);
	wf_fds_stop();
	for (size_t i = 0; i < WF_COUNT(pollers); i++) {
		struct wf_poller *p = atomic_exchange(&pollers[i], NULL);

		if (p != NULL)
			wf_io->free(p);
	}
	give_back_sigpipe();
}

static int start(const weft_options *opt, int count)
{
	int rc = choose(opt->io);

	if (rc < 0)
		return rc;
	workers = count;
	atomic_store(&homes, 0);
	take_sigpipe();
	rc = wf_fds_start();
	if (rc == 0)
		rc = wf_jobs_start();
	if (rc == 0)
		rc = wf_offload_start(opt->offload_max > 0 ? opt->offload_max : 64);
	if (rc == 0)
		rc = wf_signals_start();
	if (rc == 0)
		rc = wf_children_start();
	if (rc == 0)
		rc = wf_dns_start();
	if (rc < 0)
		stop();
	return rc;
}

static const char *name(void)
{
	return wf_io->name;
}

static int open_poller(struct wf_worker *w)
{
	int err = 0;
	struct wf_poller *p = wf_io->open(w, &err);

	if (p == NULL)
		return err;
	wf_worker_set_poller(w, p);
	atomic_store(&pollers[wf_worker_id(w)], p);
	return 0;
}

static void close_poller(struct wf_worker *w)
{
	struct wf_poller *p = wf_worker_poller(w);

	if (p != NULL)
		wf_io->close(p);
}

static WF_HOT int poll_kernel(struct wf_worker *w, uint64_t until)
{
	return wf_io->poll(wf_worker_poller(w), until);
}

static void wake(struct wf_worker *w)
{
	wf_poller_wake(wf_worker_poller(w));
}

static int serve(struct wf_worker *self, struct wf_worker *stuck)
{
	return wf_io->serve(wf_worker_poller(self), wf_worker_poller(stuck));
}

const struct wf_poller_table wf_pollers = {
	.start = start,
	.stop = stop,
	.name = name,
	.open = open_poller,
	.close = close_poller,
	.poll = poll_kernel,
	.wake = wake,
	.serve = serve,
	.offload_stats = wf_offload_stats,
};
