/* demo.c - a home page, something that takes long, and an echo. */
#include "demo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <weft/weft.h>

static const char home[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	"<title>Weft</title><style>\n"
	"body { font: 16px/1.6 system-ui, sans-serif; max-width: 38em; margin: 3em auto;\n"
	"  padding: 0 1em; color: #1c2733; background: #fbfaf7 }\n"
	"h1 { color: #c8742c } code { background: #efeadf; padding: .1em .3em }\n"
	"</style></head><body>\n<h1>Weft</h1>\n"
	"<p>This page comes from <code>weft-httpd</code>: a thread for each connection, each in a\n"
	"color of its own, on all cores.</p>\n<ul>\n"
	"<li><a href=\"/_status\">/_status</a>: what the server and the runtime do, "
	"<a href=\"/_status?json\">also as JSON</a></li>\n"
	"<li><a href=\"/slow\">/slow</a>: a long computation; others do not wait for it</li>\n"
	"<li><code>curl -d hello http://127.0.0.1:8080/echo</code>: sends a body back as it "
	"comes</li>\n"
	"</ul>\n<p><code>weft-httpd --root DIRECTORY</code> serves your files instead.</p>\n"
	"</body></html>\n";

static int serve_home(struct exchange *x)
{
	return reply(x, 200, "text/html; charset=utf-8", TEXT(home));
}

const struct handler home_handler = { "/", 1u << METHOD_GET, serve_home };

/* How many steps all numbers below a million take by Collatz's rule. It yields every
 * millisecond or so, and may go on on another worker then. */
enum { NUMBERS = 1000000, SLICE = 1000 };

static uint64_t collatz_steps(uint64_t n)
{
	uint64_t steps = 0;

	for (; n > 1; steps++)
		n = n % 2 == 0 ? n / 2 : 3 * n + 1;
	return steps;
}

static int serve_slow(struct exchange *x)
{
	uint64_t began = weft_now(), steps = 0;
	int moves = 0, worker = weft_worker_current(), n;
	char text[200];

	for (uint64_t next = 1; next < NUMBERS; next++) {
		steps += collatz_steps(next);
		if (next % SLICE == 0) {
			weft_yield();
			moves += weft_worker_current() != worker;
			worker = weft_worker_current();
		}
	}
	n = snprintf(text, sizeof text,
		     "The numbers below %d take %" PRIu64 " Collatz steps to come to 1.\n"
		     "Found in %" PRIu64 " ms; moved to another worker %d times meanwhile.\n",
		     NUMBERS, steps, (weft_now() - began) / WEFT_MS, moves);
	return reply(x, 200, "text/plain", (struct text){ text, (size_t)n });
}

const struct handler slow_handler = { "/slow", 1u << METHOD_GET, serve_slow };

/* The first bytes are read before the reply begins, so that a bad body gets its error. */
static int serve_echo(struct exchange *x)
{
	char block[4096];
	ssize_t n = exchange_read(x, block, sizeof block);
	int rc;

	if (n == -EMSGSIZE || n == -EBADMSG || n == -ETIMEDOUT)
		return reply_status(x, n == -EMSGSIZE ? 413 : n == -EBADMSG ? 400 : 408);
	if (n < 0)
		return (int)n;
	rc = reply_begin(x, 200, "application/octet-stream", "");
	while (rc == 0 && n > 0) {
		rc = reply_write(x, block, (size_t)n);
		n = exchange_read(x, block, sizeof block);
	}
	return rc < 0 || n < 0 ? -EIO : reply_end(x);
}

const struct handler echo_handler = { "/echo", 1u << METHOD_POST | 1u << METHOD_PUT, serve_echo };
