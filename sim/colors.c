/* colors.c - what the checks know of each color, found by its value. */
#include "base/memory.h"
#include "base/report.h"
#include "machine.h"

enum { FIRST_SIZE = 64 };

static size_t slot(const struct sim *sim, weft_color id)
{
	size_t i = wf_color_hash(id) & sim->color_mask;

	while (sim->colors[i] != NULL && sim->colors[i]->id != id)
		i = (i + 1) & sim->color_mask;
	return i;
}

static void grow(struct sim *sim)
{
	struct sim_color **old = sim->colors;
	size_t size = old != NULL ? sim->color_mask + 1 : 0;

	sim->color_mask = size > 0 ? size * 2 - 1 : FIRST_SIZE - 1;
	sim->colors = calloc(sim->color_mask + 1, sizeof(struct sim_color *));
	if (sim->colors == NULL)
		wf_bug("the simulator is out of memory");
	for (size_t i = 0; i < size; i++)
		if (old[i] != NULL)
			sim->colors[slot(sim, old[i]->id)] = old[i];
	free(old);
}

struct sim_color *sim_color_find(const struct sim *sim, weft_color id)
{
	return sim->colors != NULL ? sim->colors[slot(sim, id)] : NULL;
}

struct sim_color *sim_color(struct sim *sim, weft_color id)
{
	struct sim_color *k = sim_color_find(sim, id);

	if (k != NULL)
		return k;
	if (sim->colors == NULL || ++sim->color_count * 2 > sim->color_mask)
		grow(sim);
	k = calloc(1, sizeof *k);
	if (k == NULL)
		wf_bug("the simulator is out of memory");
	k->id = id;
	k->home = k->pin = -1;
	sim->colors[slot(sim, id)] = k;
	return k;
}

void sim_colors_fini(struct sim *sim)
{
	for (size_t i = 0; sim->colors != NULL && i <= sim->color_mask; i++)
		free(sim->colors[i]);
	free(sim->colors);
}
