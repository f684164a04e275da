/* cpulist.c - reads lists of CPUs. */
#include "platform/cpulist.h"

#include <errno.h>
#include <string.h>

int wf_cpuset_next(const struct wf_cpuset *set, int cpu)
{
	uint64_t word;
	int i = cpu / 64;

	if (cpu >= WF_CPU_LIMIT)
		return -1;
	word = set->bits[i] & UINT64_MAX << (cpu % 64);
	while (word == 0) {
		if (++i == WF_CPU_LIMIT / 64)
			return -1;
		word = set->bits[i];
	}
	return i * 64 + __builtin_ctzll(word);
}

struct reader {
	const char *at, *end;
};

static bool take(struct reader *r, char wanted)
{
	if (r->at == r->end || *r->at != wanted)
		return false;
	r->at++;
	return true;
}

/* A number, or -EINVAL or -ERANGE. */
static int take_number(struct reader *r)
{
	const char *begin = r->at;
	int n = 0;

	for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
		n = n * 10 + (*r->at - '0');
		if (n >= WF_CPU_LIMIT)
			return -ERANGE;
	}
	return r->at == begin ? -EINVAL : n;
}

/* "5" or "5-7", above `last`. Returns the highest CPU, or an error. */
static int take_range(struct reader *r, int last, struct wf_cpuset *set)
{
	int low = take_number(r), high = low;

	if (low >= 0 && take(r, '-'))
		high = take_number(r);
	if (low < 0 || high < 0)
		return low < 0 ? low : high;
	if (low <= last || high < low)
		return -EINVAL;
	for (int cpu = low; cpu <= high; cpu++)
		wf_cpuset_add(set, cpu);
	return high;
}

static int count(const struct wf_cpuset *set)
{
	int n = 0;

	for (size_t i = 0; i < WF_COUNT(set->bits); i++)
		n += __builtin_popcountll(set->bits[i]);
	return n;
}

int wf_cpulist_parse(const char *text, size_t size, struct wf_cpuset *set)
{
	struct reader r = { text, text + size };
	int last = -1;

	memset(set, 0, sizeof *set);
	if (size > 0 && text[size - 1] == '\n')
		r.end--;
	if (r.at == r.end)
		return 0;
	do {
		last = take_range(&r, last, set);
	} while (last >= 0 && take(&r, ','));
	if (last >= 0 && r.at != r.end)
		last = -EINVAL;
	if (last < 0) {
		memset(set, 0, sizeof *set);
		return last;
	}
	return count(set);
}
