/* policy.c - the scheduler's decisions that are longer than a line. */
#include "scheduler/policy.h"

#include <errno.h>
#include <string.h>

#include "base/capacity.h"

int wf_policy_parse_steal(const char *text, unsigned *flags)
{
	static const struct {
		const char *name;
		unsigned flags;
		bool alone;
	} words[] = {
		{ "off", 0, true },
		{ "base", WF_STEAL_ON, true },
		{ "all", WF_STEAL_ALL, true },
		{ "locality", WF_STEAL_ON | WF_STEAL_LOCALITY, false },
		{ "time", WF_STEAL_ON | WF_STEAL_TIME, false },
		{ "penalty", WF_STEAL_ON | WF_STEAL_TIME | WF_STEAL_PENALTY, false },
	};
	const char *whole = text;
	unsigned all = 0;

	for (;;) {
		size_t len = strcspn(text, "+");
		size_t i = 0;

		while (i < WF_COUNT(words) &&
		       !(strlen(words[i].name) == len && memcmp(words[i].name, text, len) == 0))
			i++;
		if (i == WF_COUNT(words) || (words[i].alone && strlen(whole) != len))
			return -EINVAL;
		all |= words[i].flags;
		if (text[len] == '\0')
			break;
		text += len + 1;
	}
	*flags = all;
	return 0;
}

unsigned wf_policy_pick(struct wf_rotation *r, unsigned occupied)
{
	unsigned top = 31u - (unsigned)__builtin_clz(occupied);
	unsigned lower = occupied & ~(1u << top);

	if (lower == 0 || ++r->skipped < WF_SKIPS)
		return top;
	r->skipped = 0;
	/* The next in rotation, so that none of several starves. The highest takes
	 * part: it may have been a lower one whenever it was passed over before. */
	if ((occupied >> (r->cursor + 1)) == 0)
		r->cursor = (uint8_t)__builtin_ctz(occupied);
	else
		r->cursor = (uint8_t)(r->cursor + 1 + __builtin_ctz(occupied >> (r->cursor + 1)));
	return r->cursor;
}

void wf_policy_init(struct wf_policy *p, uint64_t ticks_per_us, uint64_t fixed_steal_cost)
{
	uint64_t first = WF_STEAL_FIRST_NS * ticks_per_us / 1000;

	p->fixed_steal_cost = fixed_steal_cost;
	/* An eighth of it must be something, or it could never be corrected. */
	p->least_cost = WF_STEAL_LEAST_NS * ticks_per_us / 1000;
	if (p->least_cost < 8)
		p->least_cost = 8;
	p->most_cost = WF_STEAL_MOST_NS * ticks_per_us / 1000;
	p->wake_cost = WF_WAKE_COST_NS * ticks_per_us / 1000;
	/* What the user says is taken as it is. */
	p->kept = fixed_steal_cost ? 0 : WF_KEPT_NS * ticks_per_us / 1000;
	p->swamped = WF_SWAMPED_NS / 1000 * ticks_per_us;
	atomic_init(&p->steal_cost, fixed_steal_cost        ? fixed_steal_cost
				    : first > p->least_cost ? first
							    : p->least_cost);
}

void wf_policy_steal_took(struct wf_policy *p, uint64_t ticks)
{
	uint64_t cost = WF_LOAD(&p->steal_cost);

	if (p->fixed_steal_cost)
		return;
	if (ticks < p->least_cost)
		ticks = p->least_cost;
	/* Too high an estimate stops theft, and with it the measuring that would
	 * correct it: one preempted thief shall not do that. */
	if (ticks > 2 * cost)
		ticks = 2 * cost;
	if (ticks > p->most_cost)
		ticks = p->most_cost;
	WF_STORE(&p->steal_cost, cost - cost / 8 + ticks / 8);
}
