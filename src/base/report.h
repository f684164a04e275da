/* report.h - telling the user: wrong settings, misuse, stalls, our own bugs. */
#ifndef WF_REPORT_H
#define WF_REPORT_H

#include "base/compiler.h"

/* The same values as enum weft_report_kind, which base does not know. */
enum wf_report_kind {
	WF_REPORT_SETTING,
	WF_REPORT_MISUSE,
	WF_REPORT_STALL,
	WF_REPORT_BUG,
	WF_REPORT_KERNEL
};

typedef void wf_report_fn(int kind, const char *text, void *arg);

/* Who gets the reports; NULL: standard error. */
void wf_report_to(wf_report_fn *fn, void *arg);

/* One report, "weft: " and the text. */
WF_COLD void wf_report(enum wf_report_kind kind, const char *fmt, ...) WF_PRINTF(2, 3);

/* A caller broke a contract at `where` (its file:line). Returns `error`, for
 * the caller to return; in debug builds aborts unless reports are redirected.
 */
WF_COLD int wf_misuse(const char *where, int error, const char *fmt, ...) WF_PRINTF(3, 4);

/* Stands for the caller's file and line in a call by a function pointer, which has none. */
#define WF_NO_PLACE "(called by a pointer)"

/* Reports system call `call` if `error` is one by which a sandbox denies calls (-EPERM, -EACCES,
 * -ENOSYS). Returns `error`. */
WF_COLD int wf_denied(const char *call, int error);

/* An invariant of ours is broken. Does not return. */
WF_COLD _Noreturn void wf_bug(const char *fmt, ...) WF_PRINTF(1, 2);

#ifdef WEFT_DEBUG
#define WF_ASSERT(cond) \
	do { \
		if (WF_UNLIKELY(!(cond))) \
			wf_bug("%s:%d: %s", __FILE__, __LINE__, #cond); \
	} while (0)
#else
#define WF_ASSERT(cond) ((void)sizeof(cond))
#endif

#endif
