/* Stack overflow: told once and as such; other faults are none of our business. */
#include "platform/overflow.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "harness/test.h"

struct record {
	void *link[2]; /* the pool's while the stack is free */
	char name[16];
	char more[200];
};

/* What a child tells its parent: in memory that both have. */
struct told {
	_Atomic int reports, handled;
	uintptr_t addr, low;
	char name[16];
	int signo, code;
	bool masked;
};

static struct wf_stacks stacks;
static struct told *told;
static char *volatile nowhere; /* cannot be written */

static void report(void *record, uintptr_t addr, const void *context)
{
	(void)context;
	told->reports++;
	told->addr = addr;
	told->low = wf_stack_low(stacks.usual, record);
	strcpy(told->name, ((struct record *)record)->name);
}

static void start(enum wf_guard_kind kind)
{
	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(told != MAP_FAILED);
	/* TSan's thread-local variables take a megabyte of a kernel thread's stack. */
	CHECK_EQ(wf_stacks_init(&stacks, sizeof(struct record), 3 << 20), 0);
	stacks.guard = kind;
	nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(nowhere != MAP_FAILED);
}

/* Runs `fn` on a kernel thread whose stack is one of ours. */
static void on_stack(void *(*fn)(void *))
{
	int err = 0;
	struct record *r = wf_stack_get(&stacks, NULL, stacks.usual, &err);
	pthread_attr_t attr;
	pthread_t thread;

	CHECK(r != NULL);
	strcpy(r->name, "deep");
	pthread_attr_init(&attr);
	CHECK_EQ(pthread_attr_setstack(&attr, (void *)wf_stack_low(stacks.usual, r),
				       wf_stack_room(&stacks, stacks.usual)),
		 0);
	CHECK_EQ(pthread_create(&thread, &attr, fn, NULL), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	wf_stack_put(&stacks, NULL, stacks.usual, r);
}

/* Runs `fn` in a child, that leaves no core. Returns how it ended. */
static int in_child(void (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_DUMPABLE, 0);
		fn();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

/* Keeps the compiler from knowing where a recursion ends. */
static volatile int forever = 1;

__attribute__((noinline)) static int recurse(int depth)
{
	volatile char frame[1000]; /* more than 65,536 calls would be TSan's own overflow */

	frame[(size_t)depth % sizeof frame] = (char)depth;
	if (!forever)
		return depth;
	return recurse(depth + 1) + frame[0];
}

static void *run_deep(void *unused)
{
	void *alternate;

	CHECK_EQ(wf_overflow_open(&alternate), 0);
	recurse(0);
	return unused;
}

static void overflow(void)
{
	CHECK_EQ(wf_overflow_start(&stacks, report), 0);
	on_stack(run_deep);
}

static void check_overflow(void (*fn)(void))
{
	int status = in_child(fn);

	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGSEGV);
	CHECK_EQ(told->reports, 1);
	CHECK_STR(told->name, "deep");
	CHECK(told->addr < told->low);
	CHECK(told->addr >= told->low - WF_GUARD_SIZE);
}

TEST(an_overflow_is_told_once_and_kills_by_sigsegv)
{
	start(WF_GUARD_UNKNOWN);
	check_overflow(overflow);
}

TEST(an_overflow_is_told_on_older_kernels)
{
	start(WF_GUARD_MPROTECT);
	check_overflow(overflow);
}

/* As a server does that takes its signals elsewhere. */
static void overflow_with_signals_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	overflow();
}

TEST(an_overflow_is_told_where_all_signals_are_blocked)
{
	start(WF_GUARD_UNKNOWN);
	check_overflow(overflow_with_signals_blocked);
}

/* Only the far end of the frame is touched, if the compiler can be kept from touching
 * every page. */
#ifdef __clang__
#define UNPROBED __attribute__((noinline))
#else
#define UNPROBED __attribute__((noinline, optimize("no-stack-clash-protection")))
#endif

/* 0, which the compiler must not know either: it would leave out the rest. */
static volatile size_t far_end;

UNPROBED static int large_frame(int depth)
{
	volatile char frame[60 * 1024];

	frame[far_end] = (char)depth;
	if (!forever)
		return depth;
	return large_frame(depth + 1) + frame[far_end];
}

static void *run_large(void *unused)
{
	void *alternate;

	CHECK_EQ(wf_overflow_open(&alternate), 0);
	large_frame(0);
	return unused;
}

static void overflow_by_large_frames(void)
{
	CHECK_EQ(wf_overflow_start(&stacks, report), 0);
	on_stack(run_large);
}

TEST(a_large_frame_cannot_step_over_the_guard)
{
	start(WF_GUARD_UNKNOWN);
	check_overflow(overflow_by_large_frames);
}

/* Two at once: whoever is first tells, the other must neither tell nor end the
 * process before that is done. */
static void *overflow_too(void *unused)
{
	on_stack(run_deep);
	return unused;
}

static void overflow_twice(void)
{
	pthread_t thread;

	CHECK_EQ(wf_overflow_start(&stacks, report), 0);
	CHECK_EQ(pthread_create(&thread, NULL, overflow_too, NULL), 0);
	on_stack(run_deep);
}

TEST(of_two_overflows_at_once_one_is_told)
{
	start(WF_GUARD_UNKNOWN);
	check_overflow(overflow_twice);
}

static sigjmp_buf back;

static void fault(void)
{
	*nowhere = 1;
}

static void handle(int signo)
{
	sigset_t now;

	told->handled++;
	told->signo = signo;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	told->masked = sigismember(&now, SIGUSR1) && sigismember(&now, signo);
	siglongjmp(back, 1);
}

static void handle_info(int signo, siginfo_t *info, void *context)
{
	told->code = info->si_code;
	told->addr = (uintptr_t)info->si_addr;
	CHECK(context != NULL);
	handle(signo);
}

static void handler_before(int flags, bool with_info)
{
	struct sigaction action = { .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR1);
	if (with_info)
		action.sa_sigaction = handle_info;
	else
		action.sa_handler = handle;
	CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
	CHECK_EQ(wf_overflow_start(&stacks, report), 0);
}

TEST(a_fault_elsewhere_reaches_the_handler_that_was_there)
{
	start(WF_GUARD_UNKNOWN);
	handler_before(0, false);
	for (int i = 1; i <= 3; i++) {
		if (sigsetjmp(back, 1) == 0)
			fault();
		CHECK_EQ(told->handled, i);
		CHECK_EQ(told->signo, SIGSEGV);
		CHECK(told->masked);
	}
	CHECK_EQ(told->reports, 0);
}

TEST(a_fault_elsewhere_is_handed_on_with_all_that_is_known)
{
	start(WF_GUARD_UNKNOWN);
	handler_before(SA_SIGINFO, true);
	if (sigsetjmp(back, 1) == 0)
		fault();
	CHECK_EQ(told->handled, 1);
	CHECK_EQ(told->code, SEGV_ACCERR);
	CHECK_EQ(told->addr, (uintptr_t)nowhere);
	CHECK_EQ(told->reports, 0);
}

/* A stack that is not in its guard, but cannot be written all the same. */
TEST(a_fault_in_a_stack_above_its_guard_is_no_overflow)
{
	int err = 0;
	void *record;

	start(WF_GUARD_UNKNOWN);
	record = wf_stack_get(&stacks, NULL, stacks.usual, &err);
	nowhere = (char *)wf_stack_low(stacks.usual, record);
	CHECK_EQ(mprotect(nowhere, 65536, PROT_NONE), 0);
	handler_before(SA_SIGINFO, true);
	if (sigsetjmp(back, 1) == 0)
		fault();
	CHECK_EQ(told->handled, 1);
	CHECK_EQ(told->reports, 0);
}

static void fault_twice(void)
{
	handler_before(SA_RESETHAND, false);
	for (;;) {
		if (sigsetjmp(back, 1) == 0)
			fault();
	}
}

TEST(a_handler_for_one_fault_gets_one)
{
	int status;

	start(WF_GUARD_UNKNOWN);
	status = in_child(fault_twice);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	CHECK_EQ(told->handled, 1);
}

static void action_before(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
	CHECK_EQ(sigaction(SIGBUS, &action, NULL), 0);
	CHECK_EQ(wf_overflow_start(&stacks, report), 0);
}

static void fault_by_default(void)
{
	action_before(SIG_DFL);
	fault();
}

static void fault_ignored(void)
{
	action_before(SIG_IGN);
	fault();
}

static void sent_by_default(void)
{
	action_before(SIG_DFL);
	kill(getpid(), SIGBUS);
}

static void sent_and_ignored(void)
{
	action_before(SIG_IGN);
	kill(getpid(), SIGBUS);
	kill(getpid(), SIGSEGV);
}

TEST(a_fault_elsewhere_kills_as_ever)
{
	int status;

	start(WF_GUARD_UNKNOWN);
	status = in_child(fault_by_default);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	status = in_child(fault_ignored);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	CHECK_EQ(told->reports, 0);
}

TEST(a_signal_that_somebody_sent_does_what_it_did)
{
	int status;

	start(WF_GUARD_UNKNOWN);
	status = in_child(sent_by_default);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	CHECK_EQ(in_child(sent_and_ignored), 0);
	CHECK_EQ(told->reports, 0);
}

TEST(stopping_puts_the_handlers_back)
{
	struct sigaction now;

	start(WF_GUARD_UNKNOWN);
	handler_before(0, false);
	wf_overflow_stop();
	CHECK_EQ(sigaction(SIGSEGV, NULL, &now), 0);
	CHECK(now.sa_handler == handle);
	CHECK(sigismember(&now.sa_mask, SIGUSR1));
}

/* Somebody who came later and remembers us: must not be thrown out, and may
 * still hand on to us. */
TEST(a_handler_that_came_after_ours_stays)
{
	struct sigaction later = { .sa_handler = SIG_IGN }, ours, now;

	start(WF_GUARD_UNKNOWN);
	handler_before(0, false);
	CHECK_EQ(sigaction(SIGSEGV, &later, &ours), 0);
	wf_overflow_stop();
	CHECK_EQ(sigaction(SIGSEGV, NULL, &now), 0);
	CHECK(now.sa_handler == SIG_IGN);

	CHECK_EQ(sigaction(SIGSEGV, &ours, NULL), 0);
	CHECK_EQ(wf_overflow_start(&stacks, report), 0);
	if (sigsetjmp(back, 1) == 0)
		fault();
	CHECK_EQ(told->handled, 1);
}

static void *keep_own_alternate(void *unused)
{
	static char memory[64 * 1024];
	stack_t old, mine = { .ss_sp = memory, .ss_size = sizeof memory }, now;
	void *alternate = unused;

	CHECK_EQ(sigaltstack(&mine, &old), 0);
	CHECK_EQ(wf_overflow_open(&alternate), 0);
	CHECK_EQ(alternate, NULL);
	wf_overflow_close(alternate);
	CHECK_EQ(sigaltstack(&old, &now), 0);
	CHECK_EQ(now.ss_sp, memory);
	return NULL;
}

TEST(a_thread_keeps_its_own_alternate_stack)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, keep_own_alternate, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void *no_alternate(void *unused)
{
	stack_t none = { .ss_flags = SS_DISABLE }, old, now;
	void *alternate = unused;
	int rc = 0;

	CHECK_EQ(sigaltstack(&none, &old), 0);
	for (long nth = 1; rc < 0 || nth == 1; nth++) {
		wf_fault_arm(nth);
		rc = wf_overflow_open(&alternate);
		wf_fault_arm(0);
		CHECK(rc == 0 || rc == -ENOMEM);
		CHECK_EQ(sigaltstack(NULL, &now), 0);
		CHECK_EQ(now.ss_flags & SS_DISABLE, rc == 0 ? 0 : SS_DISABLE);
	}
	CHECK(alternate != NULL);
	wf_overflow_close(alternate);
	CHECK_EQ(sigaltstack(&old, &now), 0);
	CHECK(now.ss_flags & SS_DISABLE);
	return NULL;
}

TEST(no_memory_for_an_alternate_stack_is_an_error)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, no_alternate, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

TEST(a_refused_handler_leaves_none_behind)
{
	struct sigaction before, now;

	CHECK_EQ(sigaction(SIGSEGV, NULL, &before), 0);
	for (long nth = 1; nth <= 2; nth++) {
		wf_fault_arm(nth);
		CHECK_EQ(wf_overflow_start(&stacks, report), -EINVAL);
		wf_fault_arm(0);
		CHECK_EQ(sigaction(SIGSEGV, NULL, &now), 0);
		CHECK(now.sa_handler == before.sa_handler);
	}
}

TEST_MAIN
