/* dump.h - threads as text for people: in dumps and reports. */
#ifndef WF_DUMP_H
#define WF_DUMP_H

#include "threads/thread.h"

/* Writes the stack of a thread that does not run, or of the caller, to `text`: each
 * frame begins with an end of line, as in wf_backtrace_of. Of a thread that runs
 * elsewhere, or goes on meanwhile, it says only that. Between wf_enter and wf_leave. */
void wf_thread_backtrace(const weft_thread *t, char *text, size_t size);

/* Writes what it waits for: "read of descriptor 5", "mutex 0x7f..."; "" for nothing. */
void wf_thread_waits_for(const weft_thread *t, char *text, size_t size);

/* Writes who it is: its name, if it has one, and its address. */
void wf_thread_title(const weft_thread *t, char *text, size_t size);

/* Where it was started, file and line. */
const char *wf_thread_started(const weft_thread *t);

/* For the scheduler's table (flow.h). */
struct wf_text;
bool wf_thread_running(const struct wf_worker *w, char *text, size_t size, const char **where);
uintptr_t wf_thread_stack_end(uintptr_t sp);
void wf_threads_dump(struct wf_text *out);
bool wf_threads_deadlocked(void);

#endif
