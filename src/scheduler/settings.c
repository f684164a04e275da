/* settings.c - options: the struct, then the environment, then the checks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/capacity.h"
#include "base/report.h"
#include "scheduler/runtime.h"

/* A number from the environment, or `now` if the variable is not set. */
static int read_number(const char *name, int64_t least, int64_t most, int64_t *now)
{
	const char *text = getenv(name);
	char *end;
	long long value;

	if (text != NULL) {
		errno = 0;
		value = strtoll(text, &end, 10);
		if (end == text || *end != '\0' || errno != 0 || value < least || value > most) {
			wf_report(WF_REPORT_SETTING, "%s=\"%s\": want a number from %lld to %lld",
				  name, text, (long long)least, (long long)most);
			return -EINVAL;
		}
		*now = value;
	} else if (*now < least || *now > most) {
		wf_report(WF_REPORT_SETTING, "option %s (%lld): want a number from %lld to %lld",
			  name, (long long)*now, (long long)least, (long long)most);
		return -EINVAL;
	}
	return 0;
}

static int read_numbers(weft_options *o)
{
	int64_t workers = o->workers, batch = o->batch, stall = o->stall_ms;
	int64_t offload = o->offload_max, stack = (int64_t)o->stack_size;
	int64_t colors = (int64_t)o->max_colors, cost = (int64_t)o->steal_cost_ns;
	int64_t depth = o->color_depth, queue = o->queue_depth, delay = o->queue_delay_ms;

	if (read_number("WEFT_WORKERS", 0, WF_WORKERS_MAX, &workers) < 0 ||
	    read_number("WEFT_BATCH", 0, 1000000, &batch) < 0 ||
	    read_number("WEFT_STEAL_COST", 0, 1000000000, &cost) < 0 ||
	    read_number("WEFT_STALL_MS", INT32_MIN, 3600000, &stall) < 0 ||
	    read_number("WEFT_OFFLOAD_MAX", 0, 10000, &offload) < 0 ||
	    read_number("WEFT_STACK_SIZE", 0, (int64_t)1 << 40, &stack) < 0 ||
	    read_number("WEFT_MAX_COLORS", 0, INT64_MAX, &colors) < 0 ||
	    read_number("WEFT_COLOR_DEPTH", 0, UINT32_MAX, &depth) < 0 ||
	    read_number("WEFT_QUEUE_DEPTH", 0, UINT32_MAX, &queue) < 0 ||
	    read_number("WEFT_QUEUE_DELAY_MS", 0, UINT32_MAX, &delay) < 0)
		return -EINVAL;
	o->workers = (int)workers;
	o->batch = batch ? (int)batch : 10;
	o->stall_ms = stall ? (int)stall : 10;
	o->offload_max = offload ? (int)offload : 64;
	o->stack_size = stack ? (size_t)stack : (size_t)256 << 10;
	o->max_colors = (size_t)colors;
	o->steal_cost_ns = (uint64_t)cost;
	o->color_depth = (uint32_t)depth;
	o->queue_depth = (uint32_t)queue;
	o->queue_delay_ms = (uint32_t)delay;
	return 0;
}

static const char *from_env(const char *name, const char *now)
{
	const char *text = getenv(name);

	return text != NULL ? text : now;
}

int wf_settings_read(struct wf_settings *set, const weft_options *opt)
{
	weft_options *o = &set->opt;

	*set = (struct wf_settings){ 0 };
	if (opt != NULL)
		*o = *opt;
	for (size_t i = 0; i < WF_COUNT(o->reserved); i++) {
		if (o->reserved[i] != 0) {
			wf_report(WF_REPORT_SETTING, "option reserved[%zu] is not zero", i);
			return -EINVAL;
		}
	}
	if (read_numbers(o) < 0)
		return -EINVAL;

	o->io = from_env("WEFT_IO", o->io);
	if (o->io != NULL && strcmp(o->io, "auto") != 0 && strcmp(o->io, "uring") != 0 &&
	    strcmp(o->io, "epoll") != 0) {
		wf_report(WF_REPORT_SETTING, "WEFT_IO=\"%s\": want auto, uring or epoll", o->io);
		return -EINVAL;
	}
	o->steal = from_env("WEFT_STEAL", o->steal);
	if (o->steal == NULL)
		o->steal = "all";
	if (strlen(o->steal) >= sizeof set->steal_text ||
	    wf_policy_parse_steal(o->steal, &set->steal) < 0) {
		wf_report(WF_REPORT_SETTING,
			  "WEFT_STEAL=\"%s\": want off, base, all, or a list like "
			  "locality+time+penalty",
			  o->steal);
		return -EINVAL;
	}
	memcpy(set->steal_text, o->steal, strlen(o->steal) + 1);
	if (o->sysfs == NULL)
		o->sysfs = "/sys";
	return 0;
}
