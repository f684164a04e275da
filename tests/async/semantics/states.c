/* Keeps the states that were found, each once, and the outcomes. */
#include "async/semantics/states.h"

#include <stdlib.h>
#include <string.h>

struct interpreter *interpreter_new(void)
{
	struct interpreter *in = calloc(1, sizeof *in);

	if (in != NULL)
		in->base = 1;
	return in;
}

void interpreter_free(struct interpreter *in)
{
	free(in);
}

void states_begin(struct interpreter *in)
{
	if (in->base > UINT32_MAX - 2 * MAX_STATES) {
		memset(in->slot, 0, sizeof in->slot);
		in->base = 1;
	}
	in->base += (uint32_t)in->states;
	in->states = in->outcomes = 0;
	in->too_large = false;
}

static uint64_t hash(const struct state *s)
{
	const char *at = (const char *)s;
	uint64_t h = 0;

	for (size_t i = 0; i < sizeof *s; i += 8) {
		uint64_t word;

		memcpy(&word, at + i, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15;
		h ^= h >> 29;
	}
	return h;
}

void states_add(struct interpreter *in, const struct state *s)
{
	uint64_t h = hash(s);

	while (in->slot[h % SLOTS] >= in->base) {
		if (memcmp(&in->state[in->slot[h % SLOTS] - in->base], s, sizeof *s) == 0)
			return;
		h++;
	}
	if (in->states == MAX_STATES) {
		in->too_large = true;
		return;
	}
	in->slot[h % SLOTS] = in->base + (uint32_t)in->states;
	in->state[in->states++] = *s;
}

void states_add_outcome(struct interpreter *in, const struct state *s, bool stuck)
{
	struct outcome *o = &in->outcome[in->outcomes];

	if (in->outcomes == MAX_OUTCOMES) {
		in->too_large = true;
		return;
	}
	*o = s->world;
	o->stuck = stuck;
	if (!interpreter_allows(in, o))
		in->outcomes++;
}

const struct outcome *interpreter_outcomes(const struct interpreter *in)
{
	return in->outcome;
}

bool interpreter_allows(const struct interpreter *in, const struct outcome *o)
{
	for (int i = 0; i < in->outcomes; i++)
		if (memcmp(&in->outcome[i], o, sizeof *o) == 0)
			return true;
	return false;
}
