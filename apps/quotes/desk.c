/* desk.c - accepts clients and sends them quotes.
 *
 * A block sends each quote. As a rule it goes at once, and the block was a call. Only a client
 * whose buffers are full keeps it waiting: then the block keeps a stack, with copies of client
 * and quote, and the next client is served. The quotes that it misses meanwhile are left out;
 * and if it takes too long it is dropped.
 */
#include "desk.h"

#include <errno.h>

#include <weft/weft.h>

#include "common/places.h"
#include "common/socket.h"
#include "server.h"
#include "settings.h"

/* Quotes are due at whole ticks: what is due together is sent together. Then others get a
 * turn, after a batch at the latest. */
enum { TICK = WEFT_MS, BATCH = 256 };

/* Before a new try when there was no room for a connection. */
#define ROOM_TIME (50 * WEFT_MS)

static void count(_Atomic uint64_t *counter, uint64_t n)
{
	uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, before + n, memory_order_relaxed);
}

static bool stopped(int rc)
{
	return rc == -ECANCELED || rc == -ESHUTDOWN;
}

void desk_init(struct desk *d, weft_color color, int listener)
{
	d->color = color;
	d->listener = listener;
	queue_init(&d->newcomers);
	queue_init(&d->regulars);
}

/* Clients */

static bool admit(struct desk *d, struct client *c, const struct sockaddr_storage *peer)
{
	if (queue_reserve(&d->newcomers, d->clients + 1) < 0 ||
	    queue_reserve(&d->regulars, d->clients + 1) < 0 || !server_admit())
		return false;
	c->address = place_of_address(peer);
	if (c->address == NULL) {
		server_release();
		return false;
	}
	d->clients++;
	count(&d->counters.accepted, 1);
	return true;
}

static void let_go(struct desk *d, struct client c)
{
	weft_close(c.fd);
	place_of_address_leave(c.address);
	server_release();
	d->clients--;
}

/* Sends it. A quote that has gone in part is not cut off because the server stops. */
static int send_quote(int fd, const struct quote *quote, uint64_t until)
{
	size_t done;
	ssize_t rc = weft_write_all_until(fd, quote->text, QUOTE_SIZE, &done, until);

	if (rc == -ECANCELED && done > 0) {
		weft_shield
		{
			until = weft_now() + settings.stop_time * WEFT_MS;
			rc = weft_write_all_until(fd, quote->text + done, QUOTE_SIZE - done, NULL,
						  until);
		}
	}
	return rc < 0 ? (int)rc : 0;
}

/* Sends a client a quote, and lets it wait for the next one in `next`. */
static void serve(struct desk *d, struct client c, const struct quote *quote, uint64_t until,
		  struct queue *next)
{
	int rc = send_quote(c.fd, quote, until);

	if (rc == 0) {
		count(&d->counters.quotes, 1);
		queue_add(next, c);
		return;
	}
	if (rc == -ETIMEDOUT)
		socket_abandon(c.fd);
	let_go(d, c);
	if (!stopped(rc))
		count(rc == -ETIMEDOUT ? &d->counters.dropped : &d->counters.left, 1);
}

/* Serving */

/* Takes the first, if it is due. Its next quote is the first of its beats that is still to
 * come: if it was away too long it has missed some. */
static bool take_due(struct desk *d, struct queue *q, uint64_t now, struct client *c)
{
	uint64_t interval = settings.interval * WEFT_MS, missed;

	if (q->count == 0 || queue_first(q)->due > now)
		return false;
	*c = queue_take(q);
	missed = (now - c->due) / interval;
	if (missed > 0)
		count(&d->counters.skipped, missed);
	c->due += (missed + 1) * interval;
	return true;
}

static void serve_queue(struct desk *d, struct queue *q)
{
	struct client c;

	weft_finish (sending) {
		while (queue_await(q) == 0) {
			uint64_t now = weft_now(), until = now + settings.patience * WEFT_MS;
			struct quote quote = *market_quote(&d->market, now);

			for (int i = 0; i < BATCH && take_due(d, q, now, &c); i++) {
				weft_async_own (c, quote, until) {
					serve(d, c, &quote, until, &d->regulars);
				};
			}
		}
	}
}

/* Accepting */

static uint64_t second_quote(uint64_t now)
{
	return (now / TICK + 1) * TICK + settings.first * WEFT_MS;
}

static void accept_all(struct desk *d)
{
	struct sockaddr_storage peer;
	struct client c;

	weft_finish (greeting) {
		while (!stopped(c.fd = weft_accept(d->listener, &peer))) {
			uint64_t now = weft_now(), until = now + settings.patience * WEFT_MS;
			struct quote quote = *market_quote(&d->market, now);

			if (!acceptor_goes_on(&d->acceptor, "weft-quotes", c.fd)) {
				server_fail(c.fd);
				break;
			}
			if (c.fd < 0) {
				weft_sleep(ROOM_TIME);
				continue;
			}
			if (!admit(d, &c, &peer)) {
				count(&d->counters.refused, 1);
				weft_close(c.fd);
				continue;
			}
			c.due = second_quote(now);
			weft_async_own (c, quote, until) {
				serve(d, c, &quote, until, &d->newcomers);
			};
		}
	}
}

static void close_all(struct desk *d, struct queue *q)
{
	while (q->count > 0)
		let_go(d, queue_take(q));
	queue_free(q);
}

void desk_run(struct desk *d)
{
	weft_hop(d->color);
	weft_finish (desk) {
		weft_async
		{
			serve_queue(d, &d->newcomers);
		};
		weft_async
		{
			serve_queue(d, &d->regulars);
		};
		accept_all(d);
	}
	close_all(d, &d->newcomers);
	close_all(d, &d->regulars);
}
