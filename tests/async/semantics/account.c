/* Keeps account of a running program: see account.h. */
#include "async/semantics/account.h"

#include <string.h>

#include "harness/test.h"

void account_open(struct account *a, int capacity, weft_channel **channel)
{
	memset(a, 0, sizeof *a);
	a->capacity = capacity;
	a->channel = channel;
	CHECK_EQ(pthread_mutex_init(&a->lock, NULL), 0);
}

const char *account_close(struct account *a)
{
	CHECK_EQ(pthread_mutex_destroy(&a->lock), 0);
	return a->wrong;
}

void account_wrong(struct account *a, const char *what)
{
	pthread_mutex_lock(&a->lock);
	if (a->wrong == NULL)
		a->wrong = what;
	pthread_mutex_unlock(&a->lock);
}

/* Whether a piece can go on only by what others do. */
static bool waits(const struct account *a, const struct piece *p, const int *length)
{
	const struct command *c = p->command;

	if (p->doing != OPERATES)
		return p->doing == ENDS && p->block->live > 0;
	if (c->tries && account_cancelled(p->block))
		return false;
	return c->kind == RECV ? length[c->channel] == 0
			       : a->capacity > 0 && length[c->channel] == a->capacity;
}

/* Finds out whether all wait. A piece whose operation was done while it waited, and that did
 * not run since, seems to wait: it shows in the counts. These are not deceived, as never both a
 * sender and a receiver seem to wait at one channel, whose length is asked once: others may be at
 * it on another core.
 */
static bool find_stuck(struct account *a)
{
	int length[CHANNELS];

	if (a->stuck || a->pieces == NULL || a->starting > 0)
		return false;
	for (int c = 0; c < CHANNELS; c++)
		length[c] = (int)weft_channel_length(a->channel[c]);
	for (const struct piece *p = a->pieces; p != NULL; p = p->next)
		if (!waits(a, p, length))
			return false;
	for (int c = 0; c < CHANNELS; c++)
		if (a->sent[c] - a->received[c] != length[c])
			return false;
	a->stuck = true;
	return true;
}

void account_start(struct account *a, struct block *b)
{
	pthread_mutex_lock(&a->lock);
	b->live++;
	a->starting++;
	pthread_mutex_unlock(&a->lock);
}

void account_enter(struct account *a, struct piece *me, struct block *b)
{
	pthread_mutex_lock(&a->lock);
	*me = (struct piece){ .next = a->pieces, .link = &a->pieces, .block = b };
	if (me->next != NULL)
		me->next->link = &me->next;
	a->pieces = me;
	if (b != NULL)
		a->starting--;
	pthread_mutex_unlock(&a->lock);
}

bool account_leave(struct account *a, struct piece *me)
{
	bool stuck;

	pthread_mutex_lock(&a->lock);
	*me->link = me->next;
	if (me->next != NULL)
		me->next->link = me->link;
	me->block->live--;
	stuck = find_stuck(a);
	pthread_mutex_unlock(&a->lock);
	return stuck;
}

bool account_turn(struct account *a, struct piece *me, enum doing doing, const struct command *c)
{
	bool stuck;

	pthread_mutex_lock(&a->lock);
	me->doing = doing;
	me->command = c;
	stuck = find_stuck(a);
	pthread_mutex_unlock(&a->lock);
	return stuck;
}

void account_done(struct account *a, struct piece *me, const struct command *c, bool success)
{
	pthread_mutex_lock(&a->lock);
	me->doing = RUNS;
	if (success)
		(c->kind == SEND ? a->sent : a->received)[c->channel]++;
	pthread_mutex_unlock(&a->lock);
}

bool account_stuck(struct account *a)
{
	bool stuck;

	pthread_mutex_lock(&a->lock);
	stuck = a->stuck;
	pthread_mutex_unlock(&a->lock);
	return stuck;
}

bool account_cancel(struct account *a, struct block *b)
{
	bool was;

	pthread_mutex_lock(&a->lock);
	was = account_cancelled(b);
	b->cancelled = true;
	pthread_mutex_unlock(&a->lock);
	return was;
}

bool account_cancelled(const struct block *b)
{
	for (; b != NULL; b = b->up) {
		if (b->cancelled)
			return true;
		if (b->shield)
			return false;
	}
	return false;
}
