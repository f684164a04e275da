/* stats.c - counters and dumps for people who want to see what is going on. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/report.h"
#include "platform/clock.h"
#include "platform/symbols.h"
#include "scheduler/handler.h"
#include "scheduler/poller.h"
#include "scheduler/runtime.h"

static const char *_Atomic class_names[WEFT_CLASSES] = {
	[WEFT_CLASS_CHOSEN] = "chosen",
	[WEFT_CLASS_FRESH] = "fresh",
};

int weft_class_name(int color_class, const char *name)
{
	if (color_class < 0 || color_class >= WEFT_CLASSES)
		return -EINVAL;
	atomic_store(&class_names[color_class], name);
	return 0;
}

static void read_worker(struct wf_worker *w, weft_worker_stats *out)
{
	const struct wf_counters *k = &w->counters;

	*out = (weft_worker_stats){
		.posted = WF_LOAD(&k->posted),
		.run = WF_LOAD(&k->run),
		.dropped = WF_LOAD(&k->dropped),
		.turns = WF_LOAD(&k->turns),
		.steals = WF_LOAD(&k->steals),
		.steal_misses = WF_LOAD(&k->steal_misses),
		.parks = WF_LOAD(&k->parks),
		.wakes = WF_LOAD(&k->wakes),
		.polls = WF_LOAD(&k->polls),
		.io_events = WF_LOAD(&k->io_events),
		.timers_fired = WF_LOAD(&k->timers_fired),
		.stalls = WF_LOAD(&w->stalls),
		.busy_ns = wf_ticks_to_ns(WF_LOAD(&k->busy_ticks)),
		.colors = WF_LOAD(&w->queue.colors),
		.timers = WF_LOAD(&w->timers.count),
		.cpu = WF_LOAD(&w->cpu),
		.parked = WF_LOAD(&w->parked) != WF_AWAKE,
		.stuck = WF_LOAD(&w->stuck),
		.spare = w->id >= w->sched->workers,
	};
	for (int i = 0; i < WEFT_CLASSES; i++) {
		out->classes[i].run = WF_LOAD(&k->classes[i].run);
		out->classes[i].dropped = WF_LOAD(&k->classes[i].dropped);
		out->classes[i].stolen = WF_LOAD(&k->classes[i].stolen);
	}
}

static void read_all(struct wf_runtime *rt, weft_stats_all *all)
{
	int64_t ops = atomic_load(&rt->ops);

	for (int i = 0; i < atomic_load(&rt->sched.started); i++)
		ops += WF_LOAD(&wf_sched_worker(&rt->sched, i)->ops);
	*all = (weft_stats_all){
		.workers = atomic_load(&rt->sched.started),
		.io = wf_pollers.name(),
		.steal = rt->settings.steal_text,
		.steal_cost_ns = wf_ticks_to_ns(WF_LOAD(&rt->sched.policy.steal_cost)),
		.posted_foreign = WF_LOAD(&rt->sched.foreign_posted),
		.queued = wf_sched_queued(&rt->sched),
		.ops = ops > 0 ? (uint64_t)ops : 0,
	};
	wf_pollers.offload_stats(&all->offload_run, &all->offload_threads, &all->offload_queued);
	wf_flows.stats(all);
}

int weft_stats(weft_stats_all *all, weft_worker_stats *workers, int max)
{
	int n, rc = wf_enter();

	if (rc < 0)
		return rc;
	if (all != NULL)
		read_all(wf_rt, all);
	n = atomic_load(&wf_rt->sched.started);
	if (workers == NULL || max < 0)
		max = 0;
	for (int i = 0; i < n && i < max; i++)
		read_worker(wf_sched_worker(&wf_rt->sched, i), &workers[i]);
	wf_leave();
	return n < max ? n : max;
}

/* Text that is gathered first: writing it may block, and must not happen while
 * the end of the run waits for us. */
struct wf_text {
	char *at;
	size_t used, room;
	bool failed;
};

static bool make_room(struct wf_text *out, size_t more)
{
	size_t room = out->room ? 2 * out->room : 4096;
	char *at;

	if (out->used + more <= out->room)
		return true;
	at = WF_FAULT(ENOMEM) ? NULL : realloc(out->at, room);
	if (at == NULL) {
		out->failed = true;
		return false;
	}
	out->at = at;
	out->room = room;
	return true;
}

static int write_all(int fd, const struct wf_text *text)
{
	size_t done = 0;

	while (done < text->used) {
		ssize_t n = write(fd, text->at + done, text->used - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

void wf_text_put(struct wf_text *out, const char *fmt, ...)
{
	char line[4096];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof line)
		n = sizeof line - 1;
	if (!make_room(out, (size_t)n))
		return;
	memcpy(out->at + out->used, line, (size_t)n);
	out->used += (size_t)n;
}

/* For how long is known to the watcher, for handlers that it has seen twice. */
static void put_running(struct wf_text *out, struct wf_worker *w, weft_fn *fn)
{
	const char *where = WF_LOAD(&w->running_where);
	uint64_t since = WF_LOAD(&w->seen_at);
	char name[256];

	if (wf_flows.running(w, name, sizeof name, &where)) {
		wf_text_put(out, ", runs %s started at %s", name, where ? where : "(internal)");
	} else {
		wf_symbol_print((uintptr_t)fn, name, sizeof name);
		wf_text_put(out, ", runs handler %s posted at %s", name,
			    where ? where : "(internal)");
	}
	if (WF_LOAD(&w->seen_beat) == WF_LOAD(&w->beat) && since != 0)
		wf_text_put(out, ", for over %llu ms",
			    (unsigned long long)(wf_now() - since) / 1000000);
}

static void dump_worker(struct wf_text *out, struct wf_worker *w)
{
	weft_worker_stats st;
	weft_fn *fn = WF_LOAD(&w->running);

	read_worker(w, &st);
	wf_text_put(out, "%s %d on cpu %d: %s", st.spare ? "stand-in" : "worker", w->id, st.cpu,
		    st.stuck    ? "stuck"
		    : st.parked ? "asleep"
				: "awake");
	if (fn != NULL)
		put_running(out, w, fn);
	wf_text_put(
		out,
		"\n  events: %llu run, %llu dropped, %llu posted, %llu turns; queued: %u colors\n",
		(unsigned long long)st.run, (unsigned long long)st.dropped,
		(unsigned long long)st.posted, (unsigned long long)st.turns, st.colors);
	wf_text_put(out, "  steals: %llu, misses %llu; parks %llu, wakes %llu, stalls %llu\n",
		    (unsigned long long)st.steals, (unsigned long long)st.steal_misses,
		    (unsigned long long)st.parks, (unsigned long long)st.wakes,
		    (unsigned long long)st.stalls);
	wf_text_put(out, "  kernel: %llu polls, %llu events; timers: %u started, %llu fired\n",
		    (unsigned long long)st.polls, (unsigned long long)st.io_events, st.timers,
		    (unsigned long long)st.timers_fired);
	for (int i = 0; i < WEFT_CLASSES; i++) {
		const weft_class_stats *c = &st.classes[i];
		const char *name = atomic_load(&class_names[i]);

		if (c->run + c->dropped + c->stolen != 0)
			wf_text_put(out, "  class %d %s: %llu run, %llu dropped, %llu stolen\n", i,
				    name ? name : "", (unsigned long long)c->run,
				    (unsigned long long)c->dropped, (unsigned long long)c->stolen);
	}
}

static void dump_handlers(struct wf_text *out)
{
	for (unsigned i = 0; i < WF_HANDLERS; i++) {
		struct wf_handler *h = &wf_handlers[i];
		weft_fn *fn = WF_LOAD(&h->fn);
		char name[256];

		if (fn == NULL)
			continue;
		wf_symbol_print((uintptr_t)fn, name, sizeof name);
		wf_text_put(out, "handler %s: %llu ns%s, penalty %u, %u samples\n", name,
			    (unsigned long long)wf_ticks_to_ns(wf_handler_ticks(h)),
			    WF_LOAD(&h->told) ? " (told)" : "",
			    WF_LOAD(&h->penalty) ? WF_LOAD(&h->penalty) : 1, WF_LOAD(&h->samples));
	}
}

int weft_dump(int fd)
{
	struct wf_text out = { 0 };
	weft_stats_all all;
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	read_all(wf_rt, &all);
	wf_text_put(&out,
		    "weft: %d workers, io %s, steal %s (costs %llu ns), %llu events queued, "
		    "%llu operations\n",
		    wf_rt->sched.workers, all.io, all.steal, (unsigned long long)all.steal_cost_ns,
		    (unsigned long long)all.queued, (unsigned long long)all.ops);
	wf_text_put(&out, "offload: %u threads, %u queued, %llu calls done\n", all.offload_threads,
		    all.offload_queued, (unsigned long long)all.offload_run);
	for (int i = 0; i < all.workers; i++)
		dump_worker(&out, wf_sched_worker(&wf_rt->sched, i));
	dump_handlers(&out);
	wf_flows.dump(&out);
	if (atomic_load(&wf_top) != NULL)
		wf_top->dump(&out);
	wf_leave();
	rc = out.failed ? -ENOMEM : write_all(fd, &out);
	free(out.at);
	return rc;
}

static weft_report_fn *_Atomic report_fn;

static void forward(int kind, const char *text, void *arg)
{
	weft_report_fn *fn = atomic_load(&report_fn);

	if (fn != NULL)
		fn((enum weft_report_kind)kind, text, arg);
}

void weft_on_report(weft_report_fn *fn, void *arg)
{
	atomic_store(&report_fn, fn);
	wf_report_to(fn != NULL ? forward : NULL, arg);
}
