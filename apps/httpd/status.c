/* status.c - the status page: what the server and the runtime count, for people and, with
 * ?json, for programs. */
#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

#include "counters.h"
#include "exchange.h"
#include "settings.h"

static const struct {
	enum counter what;
	const char *name;
} names[] = {
	{ COUNT_CONNECTIONS, "connections" },
	{ COUNT_REFUSED, "refused" },
	{ COUNT_REQUESTS, "requests" },
	{ COUNT_BYTES, "bytes_sent" },
	{ COUNT_2XX, "replies_2xx" },
	{ COUNT_3XX, "replies_3xx" },
	{ COUNT_4XX, "replies_4xx" },
	{ COUNT_5XX, "replies_5xx" },
	{ COUNT_LATE, "late" },
	{ COUNT_BROKEN, "broken" },
	{ COUNT_CACHE_HITS, "cache_hits" },
	{ COUNT_CACHE_LOADS, "cache_loads" },
	{ COUNT_LOG_DROPPED, "log_dropped" },
};
enum { NAMES = sizeof names / sizeof *names, WORKERS = 256 };

struct numbers {
	weft_stats_all all;
	weft_worker_stats *workers;
	int count;
	uint64_t latencies[LATENCIES];
};

static int read_numbers(struct numbers *n)
{
	n->workers = calloc(WORKERS, sizeof *n->workers);
	if (n->workers == NULL)
		return -ENOMEM;
	n->count = weft_stats(&n->all, n->workers, WORKERS);
	latency_sums(n->latencies);
	return n->count < 0 ? n->count : 0;
}

/* JSON */

static void print_worker_json(FILE *out, int id, const weft_worker_stats *w)
{
	fprintf(out,
		"%s\n    {\"id\": %d, \"cpu\": %d, \"posted\": %" PRIu64 ", \"run\": %" PRIu64
		", \"dropped\": %" PRIu64 ", \"steals\": %" PRIu64 ", \"io_events\": %" PRIu64
		", \"timers_fired\": %" PRIu64 ", \"polls\": %" PRIu64 ", \"parks\": %" PRIu64
		", \"stalls\": %" PRIu64 ", \"busy_ns\": %" PRIu64 ", \"colors\": %u"
		", \"timers\": %u, \"spare\": %s}",
		id == 0 ? "" : ",", id, w->cpu, w->posted, w->run, w->dropped, w->steals,
		w->io_events, w->timers_fired, w->polls, w->parks, w->stalls, w->busy_ns, w->colors,
		w->timers, w->spare ? "true" : "false");
}

static void print_json(FILE *out, const struct numbers *n)
{
	const weft_stats_all *all = &n->all;

	fprintf(out, "{\n  \"open\": %" PRIu64, atomic_load(&open_connections));
	for (int i = 0; i < NAMES; i++)
		fprintf(out, ", \"%s\": %" PRIu64, names[i].name, counter_sum(names[i].what));
	fprintf(out,
		",\n  \"io\": \"%s\", \"steal\": \"%s\", \"steal_cost_ns\": %" PRIu64
		", \"queued\": %" PRIu64 ", \"operations\": %" PRIu64 ", \"threads\": %" PRIu64
		", \"threads_started\": %" PRIu64 ", \"stacks\": %" PRIu64
		", \"stack_most\": %" PRIu64 ", \"offload_threads\": %u"
		", \"offload_run\": %" PRIu64 ",\n  \"latency_us\": [",
		all->io, all->steal, all->steal_cost_ns, all->queued, all->ops, all->threads,
		all->threads_started, all->stacks, all->stack_most, all->offload_threads,
		all->offload_run);
	for (int i = 0; i < LATENCIES; i++)
		fprintf(out, "%s{\"below\": %" PRIu64 ", \"count\": %" PRIu64 "}", i ? ", " : "",
			UINT64_C(1) << i, n->latencies[i]);
	fputs("],\n  \"workers\": [", out);
	for (int i = 0; i < n->count; i++)
		print_worker_json(out, i, &n->workers[i]);
	fputs("\n  ]\n}\n", out);
}

/* HTML */

static const char top[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	"<meta http-equiv=\"refresh\" content=\"2\"><title>Weft: status</title><style>\n"
	"body { font: 15px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto;\n"
	"  padding: 0 1em; color: #1c2733; background: #fbfaf7 }\n"
	"table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums }\n"
	"th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #e3ddd0 }\n"
	"th { color: #6b5b3e; font-weight: 600 }\n"
	"i { display: inline-block; height: .8em; background: #c8742c; vertical-align: middle }\n"
	"</style></head><body>\n<h1>weft-httpd</h1>\n";

static void print_counters(FILE *out, const struct numbers *n)
{
	fprintf(out, "<table><tr><th>open</th>");
	for (int i = 0; i < NAMES; i++)
		fprintf(out, "<th>%s</th>", names[i].name);
	fprintf(out, "</tr><tr><td>%" PRIu64 "</td>", atomic_load(&open_connections));
	for (int i = 0; i < NAMES; i++)
		fprintf(out, "<td>%" PRIu64 "</td>", counter_sum(names[i].what));
	fprintf(out,
		"</tr></table>\n<p>%s, stealing %s; %" PRIu64 " threads now, %" PRIu64
		" started; %" PRIu64 " events queued, %" PRIu64 " operations under way</p>\n",
		n->all.io, n->all.steal, n->all.threads, n->all.threads_started, n->all.queued,
		n->all.ops);
}

static void print_workers(FILE *out, const struct numbers *n)
{
	fputs("<h2>Workers</h2><table><tr><th>worker</th><th>cpu</th><th>events</th>"
	      "<th>dropped</th><th>steals</th><th>i/o events</th><th>timers</th><th>sleeps</th>"
	      "<th>busy ms</th><th>colors</th></tr>\n",
	      out);
	for (int i = 0; i < n->count; i++) {
		const weft_worker_stats *w = &n->workers[i];

		fprintf(out,
			"<tr><td>%d%s</td><td>%d</td><td>%" PRIu64 "</td><td>%" PRIu64
			"</td><td>%" PRIu64 "</td><td>%" PRIu64 "</td><td>%" PRIu64
			"</td><td>%" PRIu64 "</td><td>%" PRIu64 "</td><td>%u</td></tr>\n",
			i, w->spare ? " (spare)" : "", w->cpu, w->run, w->dropped, w->steals,
			w->io_events, w->timers_fired, w->parks, w->busy_ns / WEFT_MS, w->colors);
	}
	fputs("</table>\n", out);
}

static void print_latencies(FILE *out, const struct numbers *n)
{
	uint64_t most = 1;
	int last = 0;

	for (int i = 0; i < LATENCIES; i++) {
		most = n->latencies[i] > most ? n->latencies[i] : most;
		last = n->latencies[i] > 0 ? i : last;
	}
	fputs("<h2>Latency</h2><table><tr><th>below</th><th>requests</th><th></th></tr>\n", out);
	for (int i = 0; i <= last; i++)
		fprintf(out,
			"<tr><td>%" PRIu64 " us</td><td>%" PRIu64
			"</td><td style=\"text-align:left\"><i "
			"style=\"width:%.1fem\"></i></td></tr>\n",
			UINT64_C(1) << i, n->latencies[i],
			20.0 * (double)n->latencies[i] / (double)most);
	fputs("</table>\n<p><a href=\"/_status?json\">the same as JSON</a></p>\n</body></html>\n",
	      out);
}

static void print_html(FILE *out, const struct numbers *n)
{
	fputs(top, out);
	print_counters(out, n);
	print_workers(out, n);
	print_latencies(out, n);
}

static bool may_see(const struct exchange *x)
{
	return settings.status_to == STATUS_TO_ALL ||
	       (settings.status_to == STATUS_TO_LOCAL && exchange_is_local(x));
}

static int serve_status(struct exchange *x)
{
	bool json = text_is(exchange_request(x)->query, TEXT("json"));
	struct numbers n = { 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int rc;

	if (!may_see(x))
		return reply_status(x, 404);
	rc = read_numbers(&n);
	out = rc == 0 ? open_memstream(&text, &size) : NULL;
	if (out != NULL) {
		(json ? print_json : print_html)(out, &n);
		fclose(out);
		rc = text == NULL
			     ? -ENOMEM
			     : reply(x, 200, json ? "application/json" : "text/html; charset=utf-8",
				     (struct text){ text, size });
	}
	free(text);
	free(n.workers);
	return out == NULL && rc == 0 ? -ENOMEM : rc;
}

const struct handler status_handler = { "/_status", 1u << METHOD_GET, serve_status };
