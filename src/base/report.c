/* report.c - reports go to the user's function, or to standard error. */
#include "base/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 8192 };

static wf_report_fn *_Atomic sink;
static void *_Atomic sink_arg;

void wf_report_to(wf_report_fn *fn, void *arg)
{
	atomic_store(&sink_arg, arg);
	atomic_store(&sink, fn);
}

/* Returns whether the user's function took it. */
static bool report_text(int kind, const char *text)
{
	wf_report_fn *fn = atomic_load(&sink);
	char line[TEXT_MAX + 16];
	int n;

	if (fn != NULL) {
		fn(kind, text, atomic_load(&sink_arg));
		return true;
	}
	/* Not by stderr: whoever is stuck may hold its lock. */
	n = snprintf(line, sizeof line, "weft: %s\n", text);
	if (n > 0)
		(void)!write(STDERR_FILENO, line,
			     (size_t)n < sizeof line ? (size_t)n : sizeof line);
	return false;
}

void wf_report(enum wf_report_kind kind, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	report_text(kind, text);
}

int wf_misuse(const char *where, int error, const char *fmt, ...)
{
	char text[TEXT_MAX];
	int at = snprintf(text, sizeof text, "%.1000s: ", where ? where : "unknown place");
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + at, sizeof text - (size_t)at, fmt, ap);
	va_end(ap);
	if (!report_text(WF_REPORT_MISUSE, text)) {
#ifdef WEFT_DEBUG
		abort();
#endif
	}
	return error;
}

int wf_denied(const char *call, int error)
{
	if (error == -EPERM || error == -EACCES || error == -ENOSYS)
		wf_report(WF_REPORT_KERNEL,
			  "the kernel denies %s (%s): allow it in the sandbox, such as a seccomp "
			  "filter, that this process runs in",
			  call, strerror(-error));
	return error;
}

void wf_bug(const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	report_text(WF_REPORT_BUG, text);
	abort();
}
