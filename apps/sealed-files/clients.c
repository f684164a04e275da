/* clients.c - the clients that have proved who they are, counted in all and by name.
 *
 * Sessions of all colors come here: the lock is held for a few instructions.
 */
#include "clients.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handshake.h"
#include "settings.h"

struct client {
	struct client *next;
	uint64_t count; /* connections, 1 at least */
	char name[HANDSHAKE_NAME];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct client *first; /* one for each key file in use */
static uint64_t all;         /* connections of all clients */

/* Without --max-per-key a key may have a quarter of the places. */
static uint64_t most_of_key(void)
{
	return settings.max_per_key != 0 ? settings.max_per_key : (settings.max_clients + 3) / 4;
}

static struct client **find(const char *name)
{
	struct client **at = &first;

	while (*at != NULL && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

static int add(struct client **at, const char *name)
{
	if (all >= settings.max_clients || (*at != NULL && (*at)->count >= most_of_key()))
		return -EUSERS;
	if (*at == NULL) {
		*at = calloc(1, sizeof **at);
		if (*at == NULL)
			return -ENOMEM;
		snprintf((*at)->name, sizeof(*at)->name, "%s", name);
	}
	(*at)->count++;
	all++;
	return 0;
}

bool clients_have_room(void)
{
	bool room;

	pthread_mutex_lock(&lock);
	room = all < settings.max_clients;
	pthread_mutex_unlock(&lock);
	return room;
}

int clients_add(const char *name)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = add(find(name), name);
	pthread_mutex_unlock(&lock);
	return rc;
}

void clients_remove(const char *name)
{
	struct client **at, *gone;

	pthread_mutex_lock(&lock);
	at = find(name);
	gone = *at;
	all--;
	if (--gone->count == 0) {
		*at = gone->next;
		free(gone);
	}
	pthread_mutex_unlock(&lock);
}
