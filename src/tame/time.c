/* time.c - sleeping, as an event. */
#include <weft/time.h>

#include "tame/primitive.h"

struct sleep {
	struct wf_primitive p;
	weft_timer timer;
};

static void end(struct sleep *s)
{
	WEFT_EVENT() e = (void *)wf_primitive_end(&s->p);

	if (e != NULL)
		weft_trigger(e);
}

static void over(void *arg)
{
	end(arg);
}

/* In its color: exact. */
static void stop(struct wf_primitive *p)
{
	struct sleep *s = WF_CONTAINER(p, struct sleep, p);

	if (weft_timer_cancel(&s->timer) == 0)
		end(s);
}

/* `now`: when others have had a turn, and not when the wheel of timers comes round. */
static void start(uint64_t when, bool now, WEFT_EVENT() e)
{
	int rc;
	struct sleep *s = wf_primitive_new(sizeof *s, WF_EVENT_OF(e), &rc);

	if (s == NULL) {
		weft_trigger(e);
		return;
	}
	weft_timer_init(&s->timer, s->p.color, over, s);
	if (now)
		rc = wf_post(s->p.color, over, s, s->p.event->site_->where);
	else
		rc = weft_timer_start_until_at(&s->timer, when, s->p.event->site_->where);
	if (rc < 0)
		end(s);
	else
		wf_primitive_begun(&s->p, stop);
}

void weft_until_ev(uint64_t when, WEFT_EVENT() e)
{
	start(when, false, e);
}

void weft_sleep_ev(uint64_t ns, WEFT_EVENT() e)
{
	uint64_t now = ns > 0 ? weft_now() : 0;

	start(ns < UINT64_MAX - now ? now + ns : UINT64_MAX, ns == 0, e);
}
