/* dispatch.c - who answers a request. */
#include "dispatch.h"

#include "counters.h"
#include "files.h"
#include "log.h"
#include "overload.h"
#include "settings.h"

#define BIT(method) (1u << (method))
enum { MOST_ALLOWED = 128 };

static const struct handler *find_handler(struct text path)
{
	for (const struct handler *const *h = settings.root != NULL ? handlers : demo_handlers;
	     *h != NULL; h++)
		if (text_is(path, (struct text){ (*h)->path, strlen((*h)->path) }))
			return *h;
	return NULL;
}

static int reply_allowed(struct exchange *x, int status, unsigned methods)
{
	static const struct {
		enum method method;
		const char *name;
	} names[] = {
		{ METHOD_GET, "GET, HEAD, " }, { METHOD_POST, "POST, " },   { METHOD_PUT, "PUT, " },
		{ METHOD_DELETE, "DELETE, " }, { METHOD_PATCH, "PATCH, " },
	};
	char extra[MOST_ALLOWED] = "Allow: ";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (methods & BIT(names[i].method))
			strcat(extra, names[i].name);
	strcat(extra, "OPTIONS\r\n");
	x->ended = true;
	return reply_head(x, status, TEXT(""), 0, (struct text){ extra, strlen(extra) });
}

static unsigned bit_of(enum method method)
{
	return BIT(method == METHOD_HEAD ? METHOD_GET : method);
}

/* Costs as little as can be: the machine has too much to do. */
static int reply_busy(struct exchange *x)
{
	x->keep_alive = false;
	x->ended = true;
	return reply_head(x, 503, TEXT(""), 0, TEXT("Retry-After: 1\r\n"));
}

static bool is_for(const struct handler *h, const struct request *r)
{
	return h != NULL && (h->methods & bit_of(r->method));
}

bool dispatch_wants_body(const struct request *r)
{
	return !r->unknown_expect && is_for(find_handler(r->path), r);
}

static int serve(struct exchange *x, const struct handler *h)
{
	unsigned methods = h != NULL ? h->methods : BIT(METHOD_GET);
	enum method method = x->request.method;
	int status;

	if (overload_now())
		return reply_busy(x);
	if (x->request.unknown_expect)
		return reply_error(x, 417);
	if (!x->request.chunked && x->request.length > settings.max_body)
		return reply_error(x, 413);
	if (method == METHOD_OTHER)
		return reply_error(x, 501);
	if (is_for(h, &x->request)) {
		stream_flush(x->stream); /* nobody knows how long it will take */
		return h->serve(x);
	}
	status = exchange_skip_body(x);
	if (status != 0)
		return reply_error(x, status);
	if (method == METHOD_OPTIONS)
		return reply_allowed(x, 204, methods);
	if (h == NULL && settings.root == NULL)
		return reply_status(x, 404);
	if (!(methods & bit_of(method)))
		return reply_allowed(x, 405, methods);
	return files_serve(x);
}

void dispatch(struct exchange *x)
{
	int rc = serve(x, find_handler(x->request.path));

	if (x->status == 0 && x->stream->error == 0)
		rc = reply_error(x, rc == 0 ? 404 : 500);
	if (rc < 0 || !x->ended)
		x->keep_alive = false;
	if (x->keep_alive && exchange_skip_body(x) != 0)
		x->keep_alive = false;
}

void count_reply(const struct exchange *x, uint64_t bytes, uint64_t ns)
{
	struct log_line line = { x->peer, &x->request, x->h2 != NULL, x->status, bytes, ns };

	count(COUNT_REQUESTS, 1);
	count(COUNT_BYTES, bytes);
	if (x->status >= 100)
		count(COUNT_1XX + (unsigned)x->status / 100 - 1, 1);
	count_latency(ns);
	log_add(&line);
}
