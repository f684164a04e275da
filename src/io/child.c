/* child.c - the end of child processes as events.
 *
 * A pidfd becomes readable when its process ends; a watch on it, in a color of
 * our own, reaps the child and posts the user's event. Everything that touches
 * a waiter happens in that color, a cancel too: by then no call of the watch
 * can come any more, and the user's struct may go.
 *
 * Where there is no pidfd (an old kernel, a strict sandbox, no descriptor left)
 * a timer looks now and then. Rejected: SIGCHLD, which belongs to the program;
 * waitpid on the offload pool, which could not be cancelled.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/io.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/report.h"
#include "io/parts.h"
#include "io/state.h"
#include "scheduler/scheduler.h"

#define LOOK_EVERY (10 * WEFT_MS)

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* Not yet in the headers of many systems. Linux 6.15 remembers how the process of a pidfd ended,
 * whoever reaped it. */
struct pidfd_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t numbers[11];
	int32_t status; /* as of waitpid(2) */
};
#define PIDFD_GET_INFO _IOWR(0xFF, 11, struct pidfd_info)
#define PIDFD_INFO_EXIT ((uint64_t)1 << 3)

/* What Weft keeps for a child that somebody waits for. */
struct waiter {
	struct wf_link link; /* in children.all */
	weft_child *child;
	int pidfd; /* -1: the timer looks */
	weft_timer timer;
};

static struct {
	struct wf_lock lock;
	bool on;
	weft_color color;
	struct wf_link all;
} children;

static void waiter_free(struct waiter *w)
{
	wf_lock_take(&children.lock);
	wf_list_remove(&w->link);
	wf_lock_give(&children.lock);
	free(w);
}

/* Ends the waiting; the user's struct is the user's again. */
static void tell(struct waiter *w, int result)
{
	weft_child *c = w->child;

	if (w->pidfd >= 0) {
		weft_off_fd(w->pidfd, WEFT_READ);
		weft_fd_close(w->pidfd);
	} else {
		weft_timer_cancel(&w->timer);
	}
	waiter_free(w);
	c->result = result;
	wf_state_set(&c->state_, WF_TOLD);
	wf_event_deliver(NULL, &c->event);
}

/* waitpid's form of what waitid says. */
static int wait_status(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return W_EXITCODE(info->si_status & 0xff, 0);
	return W_EXITCODE(0, info->si_status) | (info->si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

/* Asks whether the child has ended: 1, 0, or an error, mostly -ECHILD. Uses the pidfd if there is
 * one: the pid of a child that the program has reaped may belong to another process now. */
static int ask(int pidfd, pid_t pid, int flags, siginfo_t *info)
{
	idtype_t type = pidfd >= 0 ? (idtype_t)P_PIDFD : P_PID;
	id_t id = pidfd >= 0 ? (id_t)pidfd : (id_t)pid;

	info->si_pid = 0;
	if (waitid(type, id, info, WEXITED | WNOHANG | flags) < 0)
		return -errno;
	return info->si_pid != 0;
}

/* Learns how a child ended that the program has reaped. False: that is lost. */
static bool recall(int pidfd, int *status)
{
	struct pidfd_info info = { .mask = PIDFD_INFO_EXIT };

	if (pidfd < 0 || WF_FAULT(ENOTTY) < 0 || ioctl(pidfd, PIDFD_GET_INFO, &info) < 0 ||
	    !(info.mask & PIDFD_INFO_EXIT))
		return false;
	*status = info.status;
	return true;
}

static WF_COLD void report_lost(pid_t pid)
{
	struct sigaction sa;
	bool known = sigaction(SIGCHLD, NULL, &sa) == 0;
	bool ignored = known && (sa.sa_flags & SA_NOCLDWAIT ||
				 (!(sa.sa_flags & SA_SIGINFO) && sa.sa_handler == SIG_IGN));

	wf_report(
		WF_REPORT_MISUSE,
		"child %d was reaped by others, and how it ended is lost (-ECHILD): %s", (int)pid,
		ignored ? "the program ignores SIGCHLD (SIG_IGN or SA_NOCLDWAIT); let it have "
			  "SIG_DFL or a handler"
			: "the program waits for any child, perhaps in its handler of SIGCHLD; let "
			  "it call waitpid(2) with the numbers of its own children");
}

/* Reaps a child that has ended; `r` and `info` are what ask() gave. The program may have reaped it
 * before that, or since. */
static int reap(const struct waiter *w, int r, siginfo_t *info)
{
	weft_child *c = w->child;
	bool ended = r > 0;

	if (ended) {
		c->status = wait_status(info);
		r = ask(w->pidfd, c->pid, 0, info);
	}
	if (r == -ECHILD && (ended || recall(w->pidfd, &c->status)))
		return 0;
	if (r == -ECHILD)
		report_lost(c->pid);
	return r < 0 ? r : 0;
}

/* The child may have ended. In our color. It is reaped only after the decision:
 * a child whose wait was cancelled is left as it is. */
static void look(void *arg)
{
	struct waiter *w = arg;
	weft_child *c = w->child;
	siginfo_t info;
	int r = ask(w->pidfd, c->pid, WNOWAIT, &info);

	if (r == 0 && w->pidfd < 0)
		(void)weft_timer_start(&w->timer, LOOK_EVERY);
	if (r == 0 || !wf_state_decide(&c->state_, WF_BEGUN))
		return;
	tell(w, reap(w, r, &info));
}

/* In our color. */
static void end_cancelled(void *arg)
{
	tell(arg, -ECANCELED);
}

static int open_pidfd(pid_t pid)
{
	int fd = WF_FAULT(EMFILE);

	if (fd == 0)
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return fd >= 0 ? fd : -1;
}

/* Watches the pidfd, or has a timer look. Fails only at the end of a run. */
static int watch(struct waiter *w)
{
	if (w->pidfd >= 0 && weft_on_fd(w->pidfd, WEFT_READ, children.color, look, w) == 0)
		return 0;
	if (w->pidfd >= 0)
		close(w->pidfd);
	w->pidfd = -1;
	weft_timer_init(&w->timer, children.color, look, w);
	return weft_timer_start(&w->timer, LOOK_EVERY);
}

/* Lists the waiter before its watch can fire. A cancel, and whoever would free the
 * waiter, wait for the lock until the watch is in force. */
static int begin(struct waiter *w, weft_child *c, pid_t pid)
{
	int r;

	c->pid = pid;
	w->child = c;
	weft_event_init(&c->inner_, children.color, end_cancelled, w);
	wf_lock_take(&children.lock);
	wf_list_append(&children.all, &w->link);
	wf_state_set(&c->state_, WF_ASKED);
	r = watch(w);
	if (r < 0) {
		wf_state_set(&c->state_, WF_FRESH);
		wf_list_remove(&w->link);
	}
	wf_lock_give(&children.lock);
	if (r < 0)
		free(w);
	return r;
}

static int child_wait(weft_child *c, pid_t pid)
{
	struct waiter *w = WF_NEW(struct waiter);
	siginfo_t info;
	int r;

	if (w == NULL)
		return -ENOMEM;
	w->pidfd = open_pidfd(pid);
	r = ask(w->pidfd, pid, WNOWAIT, &info);
	if (r >= 0)
		return begin(w, c, pid);
	if (w->pidfd >= 0)
		close(w->pidfd);
	free(w);
	return r;
}

/* Opens the gate for a wait or spawn with `c`. */
static int enter(weft_child *c)
{
	int r;

	if (c == NULL || wf_event_check(&c->event) < 0)
		return -EINVAL;
	r = wf_enter();
	if (r < 0)
		return r;
	if (wf_stopping())
		r = -ESHUTDOWN;
	else if (wf_state_busy(&c->state_, &c->event))
		r = -EALREADY;
	if (r < 0)
		wf_leave();
	return r;
}

int weft_child_wait(weft_child *c, pid_t pid)
{
	int r = pid > 0 ? enter(c) : -EINVAL;

	if (r < 0)
		return r;
	r = child_wait(c, pid);
	wf_leave();
	return r;
}

/* What posix_spawn shall do to descriptors 0 to 2. Sources among 0 to 2 would
 * be overwritten by one another; they are moved up first, into moved[]. */
static int set_fds(posix_spawn_file_actions_t *actions, const int *fds, int *moved)
{
	for (int i = 0; i < 3; i++) {
		int r, from = fds[i];

		if (from >= 0 && from < 3 && from != i) {
			moved[i] = WF_FAULT(EMFILE) ? -1 : fcntl(from, F_DUPFD_CLOEXEC, 3);
			from = moved[i];
			if (from < 0)
				return -EMFILE;
		}
		if (from < 0)
			r = posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDWR, 0);
		else
			r = posix_spawn_file_actions_adddup2(actions, from, i);
		if (r != 0)
			return -r;
	}
	return 0;
}

static int set_signals(posix_spawnattr_t *attr)
{
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(attr, &all);
	posix_spawnattr_setsigmask(attr, &none);
	return -posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

static int spawn(pid_t *pid, const char *path, char *const argv[], char *const envp[],
		 const int *fds)
{
	posix_spawn_file_actions_t actions;
	int r, moved[3] = { -1, -1, -1 };
	posix_spawnattr_t attr;

	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_init(&actions);
	r = set_signals(&attr);
	if (r == 0 && fds != NULL)
		r = set_fds(&actions, fds, moved);
	if (r == 0)
		r = WF_FAULT(EAGAIN);
	if (r == 0)
		r = -posix_spawnp(pid, path, &actions, &attr, argv, envp != NULL ? envp : environ);
	for (int i = 0; i < 3; i++) {
		if (moved[i] >= 0)
			close(moved[i]);
	}
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return r;
}

/* Once the program runs nothing can fail any more: memory was had before, and
 * a timer stands in for a pidfd. If the runtime stops just then, the child is
 * like any other that it leaves behind. */
static int child_spawn(weft_child *c, const char *path, char *const argv[], char *const envp[],
		       const int *fds)
{
	struct waiter *w = WF_NEW(struct waiter);
	pid_t pid = -1;
	int r;

	if (w == NULL)
		return -ENOMEM;
	r = spawn(&pid, path, argv, envp, fds);
	if (r < 0) {
		free(w);
		return r;
	}
	w->pidfd = open_pidfd(pid);
	(void)begin(w, c, pid);
	return 0;
}

int weft_child_spawn(weft_child *c, const char *path, char *const argv[], char *const envp[],
		     const int *fds)
{
	int r = path != NULL && argv != NULL ? enter(c) : -EINVAL;

	if (r < 0)
		return r;
	r = child_spawn(c, path, argv, envp, fds);
	wf_leave();
	return r;
}

static bool cancel(weft_child *c)
{
	bool ours;

	if (wf_state_get(&c->state_) != WF_ASKED)
		return false;
	wf_lock_take(&children.lock);
	ours = wf_state_decide(&c->state_, WF_CANCELLED);
	if (ours)
		wf_event_deliver(NULL, &c->inner_);
	wf_lock_give(&children.lock);
	return ours;
}

int weft_child_cancel(weft_child *c)
{
	int r;

	if (c == NULL)
		return -EINVAL;
	r = wf_enter();
	if (r < 0)
		return r;
	if (!cancel(c))
		r = wf_state_get(&c->state_) == WF_FRESH ? -ENOENT : -EALREADY;
	wf_leave();
	return r;
}

int wf_children_start(void)
{
	wf_lock_init(&children.lock, WF_RANK_SIGNALS);
	wf_list_init(&children.all);
	children.color = weft_color_new();
	children.on = true;
	return 0;
}

void wf_children_stop(void)
{
	if (!children.on)
		return;
	children.on = false;
	while (!wf_list_empty(&children.all)) {
		struct waiter *w = WF_CONTAINER(children.all.next, struct waiter, link);

		if (w->pidfd >= 0)
			close(w->pidfd);
		w->child->result = -ECANCELED;
		wf_state_set(&w->child->state_, WF_FRESH); /* its owner's again */
		waiter_free(w);
	}
}
