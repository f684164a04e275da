/* settings.c - options: the struct, then the environment, then the checks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/capacity.h"
#include "base/report.h"
#include "scheduler/runtime.h"

/* One setting: the variable, the field, and what it may be. */
struct number {
	const char *variable, *field;
	int64_t least, most, value;
};

/* Takes the variable's value if it is set, and checks what came of it. */
static int read_number(struct number *n, const char *where)
{
	const char *text = getenv(n->variable);
	char *end;

	if (text != NULL) {
		errno = 0;
		n->value = strtoll(text, &end, 10);
		if (end == text || *end != '\0' || errno != 0 || n->value < n->least ||
		    n->value > n->most) {
			wf_report(WF_REPORT_SETTING, "%s=\"%s\": want a number from %lld to %lld",
				  n->variable, text, (long long)n->least, (long long)n->most);
			return -EINVAL;
		}
	} else if (n->value < n->least || n->value > n->most) {
		wf_report(WF_REPORT_SETTING,
			  "%s: weft_options.%s is %lld: want a number from %lld to %lld", where,
			  n->field, (long long)n->value, (long long)n->least, (long long)n->most);
		return -EINVAL;
	}
	return 0;
}

static int read_numbers(weft_options *o, const char *where)
{
	enum { WORKERS, BATCH, COST, STALL, OFFLOAD, STACK, COLORS, DEPTH, QUEUE, DELAY };
	struct number n[] = {
		{ "WEFT_WORKERS", "workers", 0, WF_WORKERS_MAX, o->workers },
		{ "WEFT_BATCH", "batch", 0, 1000000, o->batch },
		{ "WEFT_STEAL_COST", "steal_cost_ns", 0, 1000000000, (int64_t)o->steal_cost_ns },
		{ "WEFT_STALL_MS", "stall_ms", INT32_MIN, 3600000, o->stall_ms },
		{ "WEFT_OFFLOAD_MAX", "offload_max", 0, 10000, o->offload_max },
		{ "WEFT_STACK_SIZE", "stack_size", 0, (int64_t)1 << 40, (int64_t)o->stack_size },
		{ "WEFT_MAX_COLORS", "max_colors", 0, INT64_MAX, (int64_t)o->max_colors },
		{ "WEFT_COLOR_DEPTH", "color_depth", 0, UINT32_MAX, o->color_depth },
		{ "WEFT_QUEUE_DEPTH", "queue_depth", 0, UINT32_MAX, o->queue_depth },
		{ "WEFT_QUEUE_DELAY_MS", "queue_delay_ms", 0, UINT32_MAX, o->queue_delay_ms },
	};

	for (size_t i = 0; i < WF_COUNT(n); i++)
		if (read_number(&n[i], where) < 0)
			return -EINVAL;
	o->workers = (int)n[WORKERS].value;
	o->batch = n[BATCH].value ? (int)n[BATCH].value : 10;
	o->steal_cost_ns = (uint64_t)n[COST].value;
	o->stall_ms = n[STALL].value ? (int)n[STALL].value : 10;
	o->offload_max = n[OFFLOAD].value ? (int)n[OFFLOAD].value : 64;
	o->stack_size = n[STACK].value ? (size_t)n[STACK].value : (size_t)184 << 10;
	o->max_colors = (size_t)n[COLORS].value;
	o->color_depth = (uint32_t)n[DEPTH].value;
	o->queue_depth = (uint32_t)n[QUEUE].value;
	o->queue_delay_ms = (uint32_t)n[DELAY].value;
	return 0;
}

static const char *from_env(const char *name, const char *now)
{
	const char *text = getenv(name);

	return text != NULL ? text : now;
}

/* A word is wrong: the variable's, if it is set, else the field's. */
static int bad_word(const char *variable, const char *field, const char *word, const char *want,
		    const char *where)
{
	if (getenv(variable) != NULL)
		wf_report(WF_REPORT_SETTING, "%s=\"%s\": want %s", variable, word, want);
	else
		wf_report(WF_REPORT_SETTING, "%s: weft_options.%s is \"%s\": want %s", where, field,
			  word, want);
	return -EINVAL;
}

int wf_settings_read(struct wf_settings *set, const weft_options *opt, const char *where)
{
	weft_options *o = &set->opt;

	*set = (struct wf_settings){ 0 };
	if (opt != NULL)
		*o = *opt;
	for (size_t i = 0; i < WF_COUNT(o->reserved); i++) {
		if (o->reserved[i] != 0) {
			wf_report(WF_REPORT_SETTING, "%s: weft_options.reserved[%zu] is not zero",
				  where, i);
			return -EINVAL;
		}
	}
	if (read_numbers(o, where) < 0)
		return -EINVAL;

	o->io = from_env("WEFT_IO", o->io);
	if (o->io != NULL && strcmp(o->io, "auto") != 0 && strcmp(o->io, "uring") != 0 &&
	    strcmp(o->io, "epoll") != 0)
		return bad_word("WEFT_IO", "io", o->io, "auto, uring or epoll", where);
	o->steal = from_env("WEFT_STEAL", o->steal);
	if (o->steal == NULL)
		o->steal = "all";
	if (strlen(o->steal) >= sizeof set->steal_text ||
	    wf_policy_parse_steal(o->steal, &set->steal) < 0)
		return bad_word("WEFT_STEAL", "steal", o->steal,
				"off, base, all, or a list like locality+time+penalty", where);
	memcpy(set->steal_text, o->steal, strlen(o->steal) + 1);
	if (o->sysfs == NULL)
		o->sysfs = "/sys";
	return 0;
}
