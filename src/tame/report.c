/* report.c - telling the user: misuse, and which closures wait for what (T2). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "scheduler/flow.h"
#include "tame/tame.h"

/* WEFT_TAME in the environment, as read at the beginning of the run. */
_Atomic bool wf_tame_checks;
static _Atomic bool fatal;

enum { TOLD_AT_END = 20 };

#ifdef WEFT_DEBUG
static const char usual[] = "check";
#else
static const char usual[] = "no";
#endif

static void read_mode(void)
{
	const char *text = getenv("WEFT_TAME");

	if (text == NULL || text[0] == '\0')
		text = usual;
	WF_STORE(&fatal, strcmp(text, "abort") == 0);
	WF_STORE(&wf_tame_checks, WF_LOAD(&fatal) || strcmp(text, "check") == 0);
	if (!WF_LOAD(&wf_tame_checks) && strcmp(text, "no") != 0)
		wf_report(WF_REPORT_SETTING, "WEFT_TAME=%s: it can be check, abort or no", text);
}

void wf_tame_report(const char *where, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	wf_report(WF_REPORT_MISUSE, "%s: %s", where, text);
	if (WF_LOAD(&fatal))
		abort();
}

struct telling {
	void (*fn)(const char *text, void *arg);
	void *arg;
	size_t count;
};

static void tell_of(struct wf_tame_glimpse g, void *arg)
{
	const weft_tame_function *f = g.function;
	struct telling *t = arg;
	char text[512];

	t->count++;
	if (g.state == 0 || g.state > f->wait_count) {
		snprintf(text, sizeof text, "%s() of %s has begun", f->name, f->where);
	} else {
		const weft_tame_wait_point *w = &f->waits[g.state - 1];

		snprintf(text, sizeof text, "%s() waits at %s: %s%s%s", f->name, w->where, w->text,
			 w->events != NULL ? " for " : "", w->events != NULL ? w->events : "");
	}
	t->fn(text, t->arg);
}

size_t weft_tame_each(void (*fn)(const char *text, void *arg), void *arg)
{
	struct telling t = { fn, arg, 0 };

	if (wf_enter() < 0)
		return 0;
	wf_tame_each_closure(tell_of, &t);
	wf_leave();
	return t.count;
}

static void put_line(const char *text, void *out)
{
	wf_text_put(out, "  %s\n", text);
}

static void dump(struct wf_text *out)
{
	struct telling t = { put_line, out, 0 };

	wf_text_put(out, "tamed functions:\n");
	wf_tame_each_closure(tell_of, &t);
	wf_text_put(out, "  %zu in all\n", t.count);
}

static void report_line(const char *text, void *count)
{
	if (++*(size_t *)count <= TOLD_AT_END)
		wf_report(WF_REPORT_MISUSE, "%s, and nothing is left that could trigger its events",
			  text);
}

static void end(bool dry)
{
	size_t count = 0;
	struct telling t = { report_line, &count, 0 };

	if (dry)
		wf_tame_each_closure(tell_of, &t);
	if (count > TOLD_AT_END)
		wf_report(WF_REPORT_MISUSE, "and %zu more", count - TOLD_AT_END);
	wf_tame_free_all();
	if (count > 0 && WF_LOAD(&fatal))
		abort();
}

static const struct wf_top top = { .begin = read_mode, .end = end, .dump = dump };

static __attribute__((constructor)) void begin(void)
{
	wf_on_top(&top);
}
