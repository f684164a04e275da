/* denied.c - a sandbox denies one system call, before a run or in the middle of it, for every call
 * that the library makes: the work is done another way, or an error or a report says what is denied.
 * Nothing hangs, and nothing spins.
 *
 * Each case is a process of its own with a seccomp filter. In it a run does a little of everything,
 * each step with a deadline, so that a wake-up that got lost shows as -ETIMEDOUT.
 */
#include <arpa/inet.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "io/sync.h"

enum { STEPS = 64, GUARD_SECONDS = 60, IDLE_MS = 60, IDLE_POLLS = 40 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* The calls. Not here: exit, exit_group, rt_sigreturn, rseq and futex, without which the C library
 * cannot even end a thread, and brk, of which it takes an error for an address. */

static const struct call_name {
	const char *name;
	long number;
	/* What a user asked for never says which call it is: the library has to name it. */
	bool hidden;
	/* The sanitizers, or the C library, cannot do without it. */
	bool below;
} calls[] = {
#define CALL(name) \
	{ \
#name, __NR_##name, false, false \
	}
#define HIDDEN(name) \
	{ \
#name, __NR_##name, true, false \
	}
#define BELOW(name) \
	{ \
#name, __NR_##name, false, true \
	}
	CALL(accept4),
	CALL(bind),
	BELOW(clock_gettime),
	HIDDEN(clock_nanosleep),
	BELOW(clone),
	BELOW(clone3),
	BELOW(close),
	CALL(connect),
	HIDDEN(epoll_create1),
	HIDDEN(epoll_ctl),
	HIDDEN(epoll_pwait),
	HIDDEN(epoll_pwait2),
	HIDDEN(eventfd2),
	BELOW(execve),
	BELOW(fcntl),
	CALL(fdatasync),
	CALL(fsync),
	HIDDEN(getcpu),
	BELOW(getpid),
	HIDDEN(getppid),
	BELOW(getrandom),
	CALL(getsockname),
	CALL(getsockopt),
	BELOW(gettid),
	HIDDEN(io_uring_enter),
	HIDDEN(io_uring_register),
	HIDDEN(io_uring_setup),
	CALL(ioctl),
	CALL(kill),
	CALL(listen),
	CALL(lseek),
	BELOW(madvise),
	HIDDEN(membarrier),
	CALL(memfd_create),
	BELOW(mmap),
	BELOW(mprotect),
	BELOW(munmap),
	BELOW(nanosleep),
	BELOW(newfstatat),
	BELOW(openat),
	CALL(openat2),
	HIDDEN(pidfd_open),
	CALL(pipe2),
	CALL(ppoll),
	BELOW(prctl),
	CALL(pread64),
	CALL(preadv),
	HIDDEN(preadv2),
	BELOW(prlimit64),
	HIDDEN(process_madvise),
	CALL(pwrite64),
	CALL(pwritev),
	HIDDEN(pwritev2),
	BELOW(read),
	CALL(readv),
	CALL(recvfrom),
	CALL(recvmsg),
	BELOW(rt_sigaction),
	BELOW(rt_sigprocmask),
	BELOW(sched_getaffinity),
	BELOW(sched_yield),
	CALL(sendfile),
	CALL(sendmsg),
	CALL(sendto),
	BELOW(set_robust_list),
	CALL(setsockopt),
	CALL(shutdown),
	BELOW(sigaltstack),
	CALL(socket),
	HIDDEN(sysinfo),
	BELOW(tgkill),
	CALL(wait4),
	CALL(waitid),
	BELOW(write),
	CALL(writev),
#ifdef __NR_epoll_wait /* not on newer architectures */
	HIDDEN(epoll_wait),
	BELOW(fstat),
	BELOW(open),
	HIDDEN(poll),
	BELOW(stat),
	CALL(vfork),
#endif
};

/* Denies it to all threads of the process, from now on. */
static void deny(long number, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof code / sizeof *code, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog) != 0)
		_exit(3);
}

/* What a case has to say, in memory that it shares with the test. */
static struct outcome {
	bool over; /* weft_run has returned */
	char io[8];
	int rc;
	uint64_t polls; /* while nothing happened for IDLE_MS; 0: not looked at */
	int steps;
	struct {
		const char *name;
		int64_t result; /* 0, or an error */
	} step[STEPS];
	size_t said;
	char report[4096];
} * outcome;

/* Cases at a time, as they mostly wait; and what each has to say. */
enum { TRIES = 8 };
static struct outcome *outcomes;

/* Several workers may report at the same time. */
static void keep_report(enum weft_report_kind kind, const char *text, void *unused)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	size_t room;
	int n;

	(void)kind;
	(void)unused;
	pthread_mutex_lock(&lock);
	room = sizeof outcome->report - outcome->said;
	n = snprintf(outcome->report + outcome->said, room, "%s\n", text);
	outcome->said += n > 0 && (size_t)n < room ? (size_t)n : 0;
	pthread_mutex_unlock(&lock);
}

static const struct call_name *denied;
static int denied_with;

/* A little of everything */

static uint64_t soon(void)
{
	return weft_now() + 10 * WEFT_SEC;
}

static void step(const char *name, int64_t result)
{
	int at = outcome->steps++;

	if (at < STEPS) {
		outcome->step[at].name = name;
		outcome->step[at].result = result < 0 ? result : 0;
	}
}

static int64_t use_pipe(void)
{
	char text[8] = "";
	int end[2];
	int64_t n = weft_pipe(end);

	if (n < 0)
		return n;
	n = weft_write_until(end[1], "abc", 3, soon());
	if (n == 3)
		n = weft_read_until(end[0], text, 8, soon());
	weft_close(end[0]);
	weft_close(end[1]);
	return n < 0 || strcmp(text, "abc") == 0 ? n : -EPROTO;
}

/* Reads before anything is there: a worker has to be told of it. */
static _Atomic int64_t relayed;
static int relay[2];

static int feed(void *unused)
{
	(void)unused;
	weft_sleep(WEFT_MS);
	relayed = weft_write_until(relay[1], "later", 5, soon());
	if (relayed < 0)
		weft_close(relay[1]); /* nobody waits for what does not come */
	return 0;
}

static int64_t wait_for_pipe(void)
{
	char text[8] = "";
	int64_t n = weft_pipe(relay);

	if (n < 0)
		return n;
	n = weft_go_on(weft_color_new(), feed, NULL);
	if (n == 0)
		n = weft_read_until(relay[0], text, 5, soon());
	weft_close(relay[0]);
	if (relayed < 0)
		return relayed;
	weft_close(relay[1]);
	return n < 0 || strcmp(text, "later") == 0 ? n : -EPROTO;
}

static struct {
	int listener;
	char address[32];
	int64_t result;
	weft_waitgroup done;
} dial;

/* Whoever fails closes it: the other shall not wait for what does not come. */
static void close_listener(void)
{
	int fd = dial.listener;

	dial.listener = -1;
	if (fd >= 0)
		weft_close(fd);
}

static int dial_and_ask(void *unused)
{
	char text[8] = "";
	int64_t n = weft_dial_until(dial.address, soon());
	int fd = (int)n;

	(void)unused;
	if (fd >= 0) {
		n = weft_send_until(fd, "ping", 4, 0, soon());
		if (n == 4)
			n = weft_recv_until(fd, text, 4, 0, soon());
		if (n >= 0 && strcmp(text, "pong") != 0)
			n = -EPROTO;
		weft_close(fd);
	}
	dial.result = n;
	weft_hop(WEFT_MAIN);
	if (n < 0)
		close_listener();
	weft_waitgroup_done(&dial.done);
	return 0;
}

static int64_t answer(void)
{
	struct sockaddr_storage peer;
	int fd = weft_accept_until(dial.listener, &peer, soon());
	char text[8] = "";
	int64_t n = fd;

	if (fd < 0)
		return n;
	n = weft_recv_until(fd, text, 4, 0, soon());
	if (n == 4)
		n = weft_send_until(fd, "pong", 4, 0, soon());
	weft_close(fd);
	return n < 0 || strcmp(text, "ping") == 0 ? n : -EPROTO;
}

static int64_t use_tcp(void)
{
	struct sockaddr_in at;
	socklen_t len = sizeof at;
	int64_t n = dial.listener = weft_listen_on("127.0.0.1:0");

	if (n < 0)
		return n;
	if (getsockname(dial.listener, (struct sockaddr *)&at, &len) != 0) {
		n = -errno;
		close_listener();
		return n;
	}
	snprintf(dial.address, sizeof dial.address, "127.0.0.1:%d", ntohs(at.sin_port));
	weft_waitgroup_add(&dial.done, 1);
	n = weft_go_on(weft_color_new(), dial_and_ask, NULL);
	if (n == 0)
		n = answer();
	if (n < 0)
		close_listener();
	if (weft_waitgroup_wait_until(&dial.done, soon()) < 0)
		return -ETIMEDOUT;
	close_listener();
	/* An error of one end leaves the other with the end of the stream. */
	return dial.result == -denied_with || n >= 0 ? dial.result : n;
}

static int64_t use_file(void)
{
	char text[4] = "";
	int fd = weft_open("/proc/self/exe", O_RDONLY, 0);
	int64_t n = fd;

	if (fd < 0)
		return n;
	n = weft_pread_until(fd, text, 4, 0, soon());
	weft_close(fd);
	return n < 0 || memcmp(text, "\177ELF", 4) == 0 ? n : -EPROTO;
}

static int64_t write_file(void)
{
	char path[] = "/tmp/weft-denied-XXXXXX";
	int64_t n = mkostemp(path, O_CLOEXEC);
	int fd = (int)n;

	if (fd < 0)
		return -errno;
	unlink(path);
	n = weft_pwrite_until(fd, "abc", 3, 0, soon());
	if (n == 3)
		n = weft_fsync_until(fd, soon());
	if (n == 0)
		n = weft_fdatasync_until(fd, soon());
	weft_close(fd);
	return n;
}

static int64_t send_file(void)
{
	char text[8] = "";
	int fd = weft_open("/proc/self/exe", O_RDONLY, 0), pair[2];
	int64_t n = fd;

	if (fd < 0)
		return n;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
		weft_close(fd);
		return -errno;
	}
	n = weft_sendfile_until(pair[0], fd, 0, 4, soon());
	if (n > 0)
		n = weft_recv_until(pair[1], text, 8, 0, soon());
	weft_close(fd);
	weft_close(pair[0]);
	weft_close(pair[1]);
	return n < 0 || memcmp(text, "\177ELF", 4) == 0 ? n : -EPROTO;
}

static int64_t run_child(void)
{
	char *const argv[] = { (char *)"true", NULL };
	int status; /* the filter holds for the child as well */

	return weft_child_run_until("true", argv, NULL, NULL, NULL, &status, soon());
}

static int64_t look_up(void)
{
	struct sockaddr_storage *addrs = NULL;
	int64_t n = weft_resolve_until("localhost", 80, AF_INET, &addrs, soon());

	free(addrs);
	return n;
}

static int seven(void *unused)
{
	(void)unused;
	return 7;
}

static int64_t use_pool(void)
{
	int result = 0;
	int64_t n = weft_offload_until(seven, NULL, &result, soon());

	return n < 0 || result == 7 ? n : -EPROTO;
}

/* A signal that is ignored by default. */
static pid_t self;

static void send_signal(void *unused)
{
	(void)unused;
	kill(self, SIGWINCH);
}

static int64_t await_signal(void)
{
	sigset_t set;
	int64_t n;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	n = kill(self, 0) == 0 ? 0 : -errno;
	if (n == 0)
		n = weft_after(2 * WEFT_MS, WEFT_MAIN, send_signal, NULL);
	if (n == 0)
		n = weft_signal_wait_until(&set, soon());
	return n;
}

static int64_t await_readiness(void)
{
	int end[2];
	struct pollfd ask = { .events = POLLIN };
	int64_t n = weft_pipe(end);

	if (n < 0)
		return n;
	ask.fd = end[0];
	n = weft_poll_until(&ask, 1, weft_now() + 2 * WEFT_MS);
	if (n == -ETIMEDOUT)
		n = weft_write_until(end[1], "x", 1, soon());
	if (n == 1)
		n = weft_poll_until(&ask, 1, soon());
	weft_close(end[0]);
	weft_close(end[1]);
	return n;
}

/* Two colors take turns: workers wake each other. */
static weft_channel *ball;

static int throw_back(void *unused)
{
	int n;

	(void)unused;
	while (weft_channel_receive(ball, &n) == 0 && n > 0)
		weft_sleep(100 * WEFT_US);
	weft_waitgroup_done(&dial.done);
	return 0;
}

static int64_t take_turns(void)
{
	int64_t n;

	ball = weft_channel_new(sizeof(int), 0);
	if (ball == NULL)
		return -ENOMEM;
	weft_waitgroup_add(&dial.done, 1);
	n = weft_go_on(weft_color_new(), throw_back, NULL);
	for (int i = 20; n == 0 && i >= 0; i--)
		n = weft_channel_send_until(ball, &i, soon());
	if (n == 0)
		n = weft_waitgroup_wait_until(&dial.done, soon());
	weft_channel_free(ball);
	return n;
}

static uint64_t polls(void)
{
	weft_worker_stats w[8];
	weft_stats_all all;
	uint64_t sum = 0;
	int n = weft_stats(&all, w, 8);

	if (n > 0)
		snprintf(outcome->io, sizeof outcome->io, "%s", all.io);
	for (int i = 0; i < n && i < 8; i++)
		sum += w[i].polls;
	return sum;
}

static int do_all(void *unused)
{
	uint64_t before;

	(void)unused;
	step("sleep", weft_sleep(WEFT_MS));
	step("pipe", use_pipe());
	step("pipe that is empty", wait_for_pipe());
	step("tcp", use_tcp());
	step("file", use_file());
	step("writing a file", write_file());
	step("sendfile", send_file());
	step("child", run_child());
	step("name", look_up());
	step("offload", use_pool());
	step("signal", await_signal());
	step("poll", await_readiness());
	step("turns", take_turns());
	before = polls();
	weft_sleep(IDLE_MS * WEFT_MS);
	outcome->polls = polls() - before;
	return 0;
}

/* Cases */

static int stays(void *unused)
{
	(void)unused;
	weft_sleep(3600 * WEFT_SEC);
	return 0;
}

static int denied_in_the_middle(void *unused)
{
	weft_go_on(weft_color_new(), stays, NULL);
	do_all(unused);
	outcome->steps = 0;
	deny(denied->number, denied_with);
	do_all(unused);
	return weft_stop();
}

static void run_case(bool late)
{
	static weft_options opt = { .workers = 2, .stall_ms = AN_HOUR_MS };

	self = getpid();
	alarm(GUARD_SECONDS);
	weft_on_report(keep_report, NULL);
	if (!late)
		deny(denied->number, denied_with);
	outcome->rc = weft_run(late ? denied_in_the_middle : do_all, NULL, &opt);
	outcome->over = true;
	_exit(0);
}

static bool is_named(void)
{
	return strstr(outcome->report, denied->name) != NULL;
}

/* Errors by which a call may say that one below it is denied. Whatever mmap(2) says, malloc(3) says
 * that there is no memory. */
static bool says_so(int64_t result)
{
	return result >= 0 || is_named() || (result == -denied_with && !denied->hidden) ||
	       (result == -ENOMEM && denied->number == __NR_mmap);
}

static int complain(const char *when, const char *what, int64_t n)
{
	fprintf(stderr, "%s, %s with %s: %s (%lld); said: %s\n", denied->name, when,
		strerrorname_np(denied_with), what, (long long)n, outcome->report);
	return 1;
}

static int judge(const char *when, int status)
{
	int bad = 0;

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return complain(when, "hangs", outcome->steps);
	if (!WIFEXITED(status) || !outcome->over)
		return complain(when, "ends the process", status);
	if (outcome->rc < 0 && !is_named())
		bad += complain(when, "weft_run says no name", outcome->rc);
	for (int i = 0; i < outcome->steps && i < STEPS; i++)
		if (!says_so(outcome->step[i].result))
			bad += complain(when, outcome->step[i].name, outcome->step[i].result);
	if (outcome->polls > IDLE_POLLS)
		bad += complain(when, "spins", (int64_t)outcome->polls);
	return bad;
}

/* A case that is under way. */
struct
try {
	const struct call_name *call;
	struct outcome *outcome;
	pid_t pid;
};

static void choose(const struct try *t, int error)
{
	outcome = t->outcome;
	denied = t->call;
	denied_with = error;
}

static void start_try(struct try *t, int error, bool late)
{
	choose(t, error);
	memset(outcome, 0, sizeof *outcome);
	t->pid = fork();
	CHECK(t->pid >= 0);
	if (t->pid == 0)
		run_case(late);
}

static int finish_try(const struct try *t, int error, bool late)
{
	int status = 0;

	choose(t, error);
	CHECK_EQ(waitpid(t->pid, &status, 0), t->pid);
	return judge(late ? "in the middle" : "from the start", status);
}

/* qemu has no filters, and neither have some containers. */
static bool can_deny(void)
{
	pid_t pid = fork();
	int status = 0;

	CHECK(pid >= 0);
	if (pid == 0) {
		deny(SYS_getppid, EPERM);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void begin(void)
{
	if (!can_deny())
		SKIP("no seccomp filter can be installed here");
	outcomes = mmap(NULL, TRIES * sizeof *outcomes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(outcomes != MAP_FAILED);
}

static void try_all(int error, bool late)
{
	struct try tries[TRIES];
	int bad = 0, n = 0;

	begin();
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		if (SANITIZED && calls[i].below)
			continue;
		if (n >= TRIES)
			bad += finish_try(&tries[n % TRIES], error, late);
		tries[n % TRIES] = (struct try){ &calls[i], &outcomes[n % TRIES], 0 };
		start_try(&tries[n++ % TRIES], error, late);
	}
	for (int i = n < TRIES ? 0 : n - TRIES; i < n; i++)
		bad += finish_try(&tries[i % TRIES], error, late);
	CHECK_EQ(bad, 0);
}

TEST(what_is_denied_from_the_start_with_eperm_is_done_otherwise_or_named)
{
	try_all(EPERM, false);
}

TEST(what_is_denied_from_the_start_with_enosys_is_done_otherwise_or_named)
{
	try_all(ENOSYS, false);
}

TEST(what_is_denied_from_the_start_with_eacces_is_done_otherwise_or_named)
{
	try_all(EACCES, false);
}

TEST(what_is_denied_in_the_middle_with_eperm_is_named_and_the_run_ends)
{
	try_all(EPERM, true);
}

TEST(what_is_denied_in_the_middle_with_enosys_is_named_and_the_run_ends)
{
	try_all(ENOSYS, true);
}

/* All is done, without a word, on `io`. */
static void must_be_done_without(const char *name, int error, const char *io)
{
	struct try t = { .outcome = outcomes };

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(calls[i].name, name) == 0)
			t.call = &calls[i];
	start_try(&t, error, false);
	CHECK_EQ(finish_try(&t, error, false), 0);
	CHECK_EQ(outcome->rc, 0);
	CHECK_STR(outcome->report, "");
	CHECK_STR(outcome->io, io);
	for (int i = 0; i < outcome->steps; i++)
		CHECK_EQ(outcome->step[i].result, 0);
}

TEST(epoll_takes_the_place_of_io_uring_where_any_call_of_it_is_denied)
{
	static const char *const names[] = { "io_uring_setup", "io_uring_register",
					     "io_uring_enter" };
	static const int errors[] = { EPERM, EACCES, ENOSYS };

	begin();
	setenv("WEFT_IO", "auto", 1);
	for (int i = 0; i < 9; i++)
		must_be_done_without(names[i / 3], errors[i % 3], "epoll");
}

TEST(sleeps_go_on_where_only_epoll_pwait2_is_denied)
{
	begin();
	setenv("WEFT_IO", "epoll", 1);
	must_be_done_without("epoll_pwait2", EPERM, "epoll");
	must_be_done_without("epoll_pwait2", ENOSYS, "epoll");
}

TEST_MAIN
