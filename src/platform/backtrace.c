/* backtrace.c - stacks of threads that do not come back. */
#include "platform/backtrace.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/symbols.h"

enum { FRAMES = 48, SCAN_WORDS = 4096, ANSWER_MS = 100 };

/* Ignored by default, so that it harms nothing if it comes late. */
#define ASK_SIGNAL SIGURG

static struct {
	_Atomic int wanted; /* thread that shall answer, or 0 */
	_Atomic int count;  /* frames; -1: no answer yet */
	void *frames[FRAMES];
} answer;

static void on_ask(int signo)
{
	int saved = errno, tid = (int)syscall(SYS_gettid);

	(void)signo;
	if (atomic_compare_exchange_strong(&answer.wanted, &tid, 0))
		atomic_store(&answer.count, backtrace(answer.frames, FRAMES));
	errno = saved;
}

void wf_backtrace_init(void)
{
	void *one[1];

	backtrace(one, 1); /* loads the unwinder now: not safe in a handler */
}

void wf_backtrace_stack(uintptr_t *low, uintptr_t *high)
{
	pthread_attr_t attr;
	void *base = NULL;
	size_t size = 0;

	*low = *high = 0;
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	if (pthread_attr_getstack(&attr, &base, &size) == 0) {
		*low = (uintptr_t)base;
		*high = (uintptr_t)base + size;
	}
	pthread_attr_destroy(&attr);
}

struct code_search {
	uintptr_t pc;
	bool found;
};

static int search_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct code_search *s = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X && s->pc > start + 8 &&
		    s->pc < start + ph->p_memsz)
			s->found = true;
	}
	return s->found;
}

static bool in_code(uintptr_t pc)
{
	struct code_search s = { .pc = pc };

	dl_iterate_phdr(search_code, &s);
	return s.found;
}

#if defined(__x86_64__)
/* A return address follows a call: direct, or through a register or memory. */
static bool after_call(uintptr_t pc)
{
	const uint8_t *p = (const uint8_t *)pc;

	if (p[-5] == 0xe8)
		return true;
	for (int len = 2; len <= 7; len++)
		if (p[-len] == 0xff && (p[-len + 1] & 0x38) == 0x10)
			return true;
	return false;
}
#else
static bool after_call(uintptr_t pc)
{
	uint32_t word;

	memcpy(&word, (const void *)(pc - 4), sizeof word);
	return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000; /* bl, blr */
}
#endif

/* The text of a file about a thread, without its end of line. */
static bool read_about(int tid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/* Takes the last word, a hexadecimal number, off a line. */
static bool cut_number(char *line, uintptr_t *number)
{
	char *word = strrchr(line, ' ');
	unsigned long value;

	if (word == NULL || sscanf(word, "%lx", &value) != 1)
		return false;
	*word = '\0';
	*number = value;
	return true;
}

/* Asks the kernel where a waiting thread left user space. */
static bool read_wait(int tid, uintptr_t *sp, uintptr_t *pc)
{
	char line[256];

	return read_about(tid, "syscall", line, sizeof line) && strncmp(line, "running", 7) != 0 &&
	       cut_number(line, pc) && cut_number(line, sp);
}

uint64_t wf_thread_cpu_ns(pthread_t thread)
{
	struct timespec ts;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

bool wf_thread_waits(int tid)
{
	char line[256];
	const char *after_name;

	if (!read_about(tid, "stat", line, sizeof line))
		return false;
	after_name = strrchr(line, ')');
	return after_name != NULL && after_name[1] == ' ' && after_name[2] != 'R';
}

/* Reads words of a stack that its thread may be using. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static size_t scan_stack(
	uintptr_t sp, uintptr_t high, uintptr_t *pcs, size_t max)
{
	size_t found = 0;

	for (size_t i = 0; i < SCAN_WORDS && found < max; i++) {
		const volatile uintptr_t *word = (const volatile uintptr_t *)sp + i;
		uintptr_t value;

		if ((uintptr_t)(word + 1) > high)
			break;
		value = *word;
		if (in_code(value) && after_call(value))
			pcs[found++] = value;
	}
	return found;
}

static int ask(int tid, void *frames[])
{
	struct sigaction mine = { .sa_handler = on_ask, .sa_flags = SA_RESTART }, old;
	struct timespec ms = { .tv_nsec = 1000000 };
	int none = 0, count = -1, left = tid;

	if (sigaction(ASK_SIGNAL, NULL, &old) != 0 || old.sa_handler != SIG_DFL)
		return 0; /* the program uses it */
	sigemptyset(&mine.sa_mask);
	atomic_store(&answer.count, -1);
	if (!atomic_compare_exchange_strong(&answer.wanted, &none, tid))
		return 0;
	sigaction(ASK_SIGNAL, &mine, NULL);
	syscall(SYS_tgkill, getpid(), tid, ASK_SIGNAL);
	for (int i = 0; i < ANSWER_MS && (count = atomic_load(&answer.count)) < 0; i++)
		nanosleep(&ms, NULL);
	if (count < 0 && !atomic_compare_exchange_strong(&answer.wanted, &left, 0)) {
		/* It has begun to answer: it will not take long now. */
		while ((count = atomic_load(&answer.count)) < 0)
			nanosleep(&ms, NULL);
	}
	/* Back to ignoring it, which also swallows one that is still on its way. */
	sigaction(ASK_SIGNAL, &old, NULL);
	if (count <= 0)
		return 0;
	memcpy(frames, answer.frames, (size_t)count * sizeof *frames);
	return count;
}

void wf_backtrace_of(int tid, wf_stack_end_fn *end, const void *arg, char *text, size_t size)
{
	uintptr_t sp, pc, pcs[FRAMES];
	void *frames[FRAMES];
	size_t at = 0, n = 0;

	text[0] = '\0';
	if (read_wait(tid, &sp, &pc)) {
		pcs[n++] = pc;
		n += scan_stack(sp & ~(uintptr_t)7, end(arg, sp), pcs + n, FRAMES - n);
	} else {
		int count = ask(tid, frames);

		/* The first two are the signal handler and its trampoline. */
		for (int i = 2; i < count; i++)
			pcs[n++] = (uintptr_t)frames[i];
	}
	for (size_t i = 0; i < n && at + 1 < size; i++) {
		char frame[256];

		wf_symbol_print(pcs[i], frame, sizeof frame);
		at += (size_t)snprintf(text + at, size - at, "\n  #%zu %s", i, frame);
	}
	if (n == 0)
		snprintf(text, size, "\n  (no stack: it could not be read)");
}
