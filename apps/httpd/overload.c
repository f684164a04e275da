/* overload.c - a probe on each worker goes through the queues with the work.
 *
 * It is an event with a drop function, as that of a new connection is. If it comes too late it is
 * dropped; then requests are turned away, also those of connections that are kept, and it is
 * sent again, until it comes in time. To turn away costs little, so the queues become short.
 *
 * It comes by a timer: so it stands behind what the kernel brought and what had a turn before, as
 * requests under way do. What is posted by hand goes ahead of those.
 */
#include "overload.h"

#include <stdatomic.h>

#include <weft/weft.h>

#include "settings.h"

#define PROBE_TIME (10 * WEFT_MS)
enum { PLACES = 64 };

struct probe {
	_Alignas(64) weft_timer timer;
	_Atomic bool sent;
	_Atomic bool late; /* the last time */
};

static struct probe probes[PLACES];

static void came(void *arg)
{
	struct probe *p = arg;

	atomic_store(&p->late, false);
	atomic_store(&p->sent, false);
}

static void send_probe(struct probe *p)
{
	if (weft_timer_start(&p->timer, PROBE_TIME) < 0)
		came(p);
}

static void came_late(void *arg)
{
	struct probe *p = arg;

	atomic_store(&p->late, true);
	send_probe(p);
}

void overload_init(void)
{
	for (int i = 0; i < PLACES; i++) {
		weft_timer_init(&probes[i].timer, weft_color_new(), came, &probes[i]);
		probes[i].timer.event.drop = came_late;
		probes[i].timer.background = true;
	}
}

bool overload_now(void)
{
	struct probe *p = &probes[(unsigned)weft_worker_current() % PLACES];

	if (!atomic_load_explicit(&p->sent, memory_order_relaxed) &&
	    !atomic_exchange(&p->sent, true))
		send_probe(p);
	return atomic_load_explicit(&p->late, memory_order_relaxed);
}
