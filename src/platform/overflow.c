/* overflow.c - the handler of SIGSEGV and SIGBUS that knows the guards of stacks. */
#include "platform/overflow.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/report.h"

/* For the kernel's frame, which AT_MINSIGSTKSZ tells, and ours, and the report's. */
enum { ALTSTACK = 64 * 1024 };

/* Guards raise SIGSEGV; POSIX would allow SIGBUS as well. */
static const int signals[] = { SIGSEGV, SIGBUS };

static struct {
	const struct wf_stacks *_Atomic stacks; /* NULL: watch nothing, only hand on */
	wf_overflow_fn *report;
	struct sigaction before[WF_COUNT(signals)];
	atomic_flag reported;
} watch = { .reported = ATOMIC_FLAG_INIT };

static void set_default(int signo)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(signo, &action, NULL);
}

/* Whether a fault raised it: it will be raised again when the handler returns. */
static bool by_fault(const siginfo_t *info)
{
	return info->si_code > 0;
}

static void die(int signo, const siginfo_t *info)
{
	set_default(signo);
	if (!by_fault(info))
		raise(signo); /* blocked until the handler returns */
}

/* As the kernel would have called it, but for the stack that it runs on. */
static void call(struct sigaction *before, int signo, siginfo_t *info, void *context)
{
	struct sigaction action = *before;
	sigset_t mask = action.sa_mask, self;

	sigemptyset(&self);
	sigaddset(&self, signo);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	if (action.sa_flags & SA_NODEFER && !sigismember(&mask, signo))
		pthread_sigmask(SIG_UNBLOCK, &self, NULL);
	if (action.sa_flags & SA_RESETHAND)
		before->sa_handler = SIG_DFL;
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(signo, info, context);
	else
		action.sa_handler(signo);
}

static void hand_on(int signo, siginfo_t *info, void *context)
{
	struct sigaction *before = &watch.before[signo == signals[0] ? 0 : 1];

	if (before->sa_handler == SIG_IGN && !by_fault(info))
		return;
	/* The kernel does not let a fault be ignored either. */
	if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN)
		die(signo, info);
	else
		call(before, signo, info, context);
}

static void on_fault(int signo, siginfo_t *info, void *context)
{
	const struct wf_stacks *s = atomic_load(&watch.stacks);
	int saved = errno;
	bool guard = false;
	void *record = NULL;

	if (s != NULL && by_fault(info))
		record = wf_stack_find(s, (uintptr_t)info->si_addr, &guard);
	if (record == NULL || !guard) {
		hand_on(signo, info, context);
		errno = saved;
		return;
	}
	/* Another thread is telling its own, and about to end the process. */
	while (atomic_flag_test_and_set(&watch.reported))
		pause();
	watch.report(record, (uintptr_t)info->si_addr, context);
	die(signo, info);
	errno = saved;
}

static void put_back(size_t count)
{
	struct sigaction now;

	for (size_t i = 0; i < count; i++)
		/* Whoever came after us keeps us as the one before. */
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
		    now.sa_sigaction == on_fault)
			sigaction(signals[i], &watch.before[i], NULL);
}

static int install(size_t i)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct sigaction before;

	sigemptyset(&action.sa_mask);
	if (WF_FAULT(EINVAL))
		return -EINVAL;
	if (sigaction(signals[i], NULL, &before) != 0)
		return -errno;
	/* Still ours: somebody who came after us handed on to us and has gone. */
	if (before.sa_flags & SA_SIGINFO && before.sa_sigaction == on_fault)
		return 0;
	watch.before[i] = before;
	return sigaction(signals[i], &action, NULL) == 0 ? 0 : -errno;
}

int wf_overflow_start(const struct wf_stacks *s, wf_overflow_fn *report)
{
	watch.report = report;
	for (size_t i = 0; i < WF_COUNT(signals); i++) {
		int rc = install(i);

		if (rc < 0) {
			put_back(i);
			return rc;
		}
	}
	atomic_store(&watch.stacks, s);
	return 0;
}

void wf_overflow_stop(void)
{
	atomic_store(&watch.stacks, NULL);
	put_back(WF_COUNT(signals));
}

/* With one page below it that guards it in turn. */
static size_t altstack_size(size_t *page)
{
	size_t least = (size_t)getauxval(AT_MINSIGSTKSZ);

	*page = (size_t)sysconf(_SC_PAGESIZE);
	return (ALTSTACK + least + *page - 1) & ~(*page - 1);
}

/* The kernel kills, without a handler, who faults while the signal is blocked. */
static void unblock(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < WF_COUNT(signals); i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int wf_overflow_open(void **altstack)
{
	size_t page, size = altstack_size(&page);
	stack_t own = { .ss_flags = SS_DISABLE };
	char *at;
	int err;

	*altstack = NULL;
	unblock();
	if (sigaltstack(NULL, &own) == 0 && !(own.ss_flags & SS_DISABLE))
		return 0;
	if (WF_FAULT(ENOMEM))
		return -ENOMEM;
	at = mmap(NULL, page + size, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (at == MAP_FAILED)
		return wf_denied("mmap", -errno);
	own = (stack_t){ .ss_sp = at + page, .ss_size = size };
	err = WF_FAULT(ENOMEM);
	if (err == 0 && mprotect(at, page, PROT_NONE) != 0)
		err = wf_denied("mprotect", -errno);
	if (err == 0 && sigaltstack(&own, NULL) != 0)
		err = wf_denied("sigaltstack", -errno);
	if (err < 0) {
		munmap(at, page + size);
		return err;
	}
	*altstack = at;
	return 0;
}

void wf_overflow_close(void *altstack)
{
	size_t page, size = altstack_size(&page);
	stack_t none = { .ss_flags = SS_DISABLE };

	if (altstack == NULL)
		return;
	sigaltstack(&none, NULL);
	munmap(altstack, page + size);
}
