/* pages.c - the texts that the demo serves. */
#include "pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

#include "http.h"

static const char home_top[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<title>Weft demo</title>\n"
	"<style>\n"
	"body { font: 16px/1.5 system-ui, sans-serif; max-width: 42em; margin: 2em auto;\n"
	"       padding: 0 1em; color: #222; background: #fffdf8 }\n"
	"table { border-collapse: collapse }\n"
	"th, td { padding: .2em 1em; text-align: right; border-bottom: 1px solid #ddd }\n"
	"code { background: #f1ede2; padding: 0 .2em }\n"
	"</style>\n"
	"<h1>Weft</h1>\n"
	"<p>This page was served by a small C program: callbacks, on all cores, without a\n"
	"lock. Each connection has a <em>color</em> of its own. Events of one color run one\n"
	"at a time and in order; events of different colors run in parallel. The number of\n"
	"requests is kept by color 0, which serves everybody in turn.</p>\n";

static const char home_bottom[] =
	"<p>Things to try:</p>\n"
	"<ul>\n"
	"<li><a href=\"/slow\">/slow</a> computes for a while in its connection's color. Ask\n"
	"for several at a time: they run in parallel, and this page still answers at once.\n"
	"<li><a href=\"/stats\">/stats</a> is the table above as JSON.\n"
	"</ul>\n"
	"<script>\n"
	"const put = (id, n) => document.getElementById(id).textContent = n;\n"
	"async function look() {\n"
	"  try {\n"
	"    const s = await (await fetch('/stats')).json();\n"
	"    put('requests', s.requests); put('open', s.open);\n"
	"    s.workers.forEach((w, i) => {\n"
	"      for (const k of ['run', 'steals', 'io_events', 'parks'])\n"
	"        if (document.getElementById(k + i)) put(k + i, w[k]);\n"
	"    });\n"
	"  } catch (e) { put('requests', 'gone'); }\n"
	"}\n"
	"setInterval(look, 1000);\n"
	"</script>\n"
	"</html>\n";

/* The counters of all workers; free() them. NULL and *n = 0: no memory. */
static weft_worker_stats *read_stats(weft_stats_all *all, int *n)
{
	weft_worker_stats *workers;

	*n = 0;
	if (weft_stats(all, NULL, 0) < 0)
		return NULL;
	workers = calloc((size_t)all->workers, sizeof *workers);
	if (workers != NULL)
		*n = weft_stats(all, workers, all->workers);
	if (*n < 0)
		*n = 0;
	return workers;
}

/* Ends a text: what its stream holds, or NULL if it could not be made whole. */
static char *finish(FILE *out, char **text)
{
	if (fclose(out) != EOF)
		return *text;
	free(*text);
	return NULL;
}

char *page_home(const struct totals *totals, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	weft_stats_all all = { 0 };
	weft_worker_stats *workers;
	int n;

	if (out == NULL)
		return NULL;
	workers = read_stats(&all, &n);
	fputs(home_top, out);
	fprintf(out,
		"<p><b id=\"requests\">%" PRIu64 "</b> requests so far, <b id=\"open\">%u</b> "
		"open connections, I/O by %s.</p>\n",
		totals->requests, totals->open, all.io ? all.io : "?");
	fputs("<table>\n<tr><th>worker<th>events run<th>colors stolen<th>I/O events"
	      "<th>times asleep\n",
	      out);
	for (int i = 0; i < n; i++)
		fprintf(out,
			"<tr><td>%d<td id=\"run%d\">%" PRIu64 "<td id=\"steals%d\">%" PRIu64
			"<td id=\"io_events%d\">%" PRIu64 "<td id=\"parks%d\">%" PRIu64 "\n",
			i, i, workers[i].run, i, workers[i].steals, i, workers[i].io_events, i,
			workers[i].parks);
	fputs("</table>\n", out);
	fputs(home_bottom, out);
	free(workers);
	return finish(out, &text);
}

static void print_worker(FILE *out, int id, const weft_worker_stats *w)
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

char *page_stats(const struct totals *totals, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	weft_stats_all all = { 0 };
	weft_worker_stats *workers;
	int n;

	if (out == NULL)
		return NULL;
	workers = read_stats(&all, &n);
	fprintf(out,
		"{\n  \"requests\": %" PRIu64 ", \"connections\": %" PRIu64 ", \"open\": %u"
		", \"refused\": %" PRIu64 ",\n",
		totals->requests, totals->connections, totals->open, totals->refused);
	fprintf(out,
		"  \"io\": \"%s\", \"steal\": \"%s\", \"steal_cost_ns\": %" PRIu64
		", \"queued\": %" PRIu64 ", \"ops\": %" PRIu64 ",\n  \"workers\": [",
		all.io ? all.io : "", all.steal ? all.steal : "", all.steal_cost_ns, all.queued,
		all.ops);
	for (int i = 0; i < n; i++)
		print_worker(out, i, &workers[i]);
	fputs("\n  ]\n}\n", out);
	free(workers);
	return finish(out, &text);
}

char *page_slow(const struct slow *slow, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (out == NULL)
		return NULL;
	fprintf(out,
		"The numbers below %" PRIu64 " take %" PRIu64 " Collatz steps to come to 1.\n"
		"Found in %" PRIu64 " ms by %" PRIu64 " events of one color; it moved to another "
		"worker %" PRIu64 " times.\n",
		slow->next, slow->steps, (weft_now() - slow->began) / WEFT_MS, slow->slices,
		slow->moves);
	return finish(out, &text);
}

char *page_status(int status, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (out == NULL)
		return NULL;
	fprintf(out, "%d %s\n", status, http_reason(status));
	return finish(out, &text);
}
