/* desk.c - each worker has its own free desks, so that no lock is needed. */
#include "desk.h"

#include <stdlib.h>

#include <weft/run.h>

/* Workers beyond have none, and ask for memory each time. KEPT is of one worker. */
enum { PLACES = 64, KEPT = 1024 };

struct place {
	_Alignas(64) struct desk *first;
	unsigned count;
};

static struct place places[PLACES + 1];

static struct place *mine(void)
{
	unsigned id = (unsigned)weft_worker_current();

	return &places[id < PLACES ? id : PLACES];
}

struct desk *desk_take(void)
{
	struct place *p = mine();
	struct desk *desk = p->first;

	if (desk != NULL) {
		p->first = desk->next;
		p->count--;
		return desk;
	}
	desk = malloc(sizeof *desk);
	if (desk != NULL)
		desk->x.second = 0;
	return desk;
}

void desk_leave(struct desk *desk)
{
	struct place *p = mine();

	if (p == &places[PLACES] || p->count == KEPT) {
		free(desk);
		return;
	}
	desk->next = p->first;
	p->first = desk;
	p->count++;
}

void desk_free_all(void)
{
	for (int i = 0; i < PLACES; i++)
		while (places[i].first != NULL) {
			struct desk *desk = places[i].first;

			places[i].first = desk->next;
			places[i].count--;
			free(desk);
		}
}
