/* lease.c - leases, in a table of the files that have any. */
#include "lease.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "settings.h"

enum { BUCKETS = 4096 };

/* A file that somebody has a lease of, waits for or watches. */
struct leased {
	struct leased *next; /* in its bucket */
	struct lease *leases;
	weft_eventcount changed; /* a lease was given back, or the file changed */
	unsigned users;          /* leases, waiters and watches */
	unsigned writers;        /* of those that wait, who want to write */
	char path[];
};

struct lease {
	struct leased *file;
	struct lease *next;
	uint64_t until;
	bool writing, lost;
};

static struct leased *table[BUCKETS];
static bool stopping;

/* Files */

static struct leased **bucket_of(const char *path)
{
	uint64_t hash = 14695981039346656037u;

	while (*path != '\0')
		hash = (hash ^ (unsigned char)*path++) * 1099511628211u;
	return &table[(hash ^ hash >> 32) % BUCKETS];
}

static struct leased *find(const char *path)
{
	struct leased *f = *bucket_of(path);

	while (f != NULL && strcmp(f->path, path) != 0)
		f = f->next;
	return f;
}

/* The file's record, with one user more. */
static struct leased *hold(const char *path)
{
	struct leased *f = find(path), **bucket = bucket_of(path);

	if (f == NULL) {
		f = calloc(1, sizeof *f + strlen(path) + 1);
		if (f == NULL)
			return NULL;
		strcpy(f->path, path);
		f->next = *bucket;
		*bucket = f;
	}
	f->users++;
	return f;
}

static void drop(struct leased *f)
{
	struct leased **at = bucket_of(f->path);

	if (--f->users > 0)
		return;
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	free(f);
}

/* Leases */

static void unlink_lease(struct lease *lease)
{
	struct lease **at = &lease->file->leases;

	while (*at != lease)
		at = &(*at)->next;
	*at = lease->next;
}

/* Whether there is a lease that forbids another. Those whose time is over are lost; *when is
 * when the first of the others will be. */
static bool is_forbidden(struct leased *f, bool writing, uint64_t *when)
{
	uint64_t now = weft_now();
	bool forbidden = false;
	struct lease *next;

	for (struct lease *l = f->leases; l != NULL; l = next) {
		next = l->next;
		if (!writing && !l->writing)
			continue;
		if (l->until <= now) {
			l->lost = true;
			unlink_lease(l);
			continue;
		}
		forbidden = true;
		if (l->until < *when)
			*when = l->until;
	}
	return forbidden;
}

/* Waits until it may be had. */
static int await(struct leased *f, bool writing, uint64_t deadline)
{
	int rc = 0;

	f->writers += writing;
	while (rc == 0 && !stopping) {
		uint64_t when = deadline, seen = weft_eventcount_prepare(&f->changed);

		if (!is_forbidden(f, writing, &when) && (writing || f->writers == 0))
			break;
		rc = weft_eventcount_wait_until(&f->changed, seen, when);
		if (rc == -ETIMEDOUT)
			rc = when < deadline ? 0 : -EBUSY;
	}
	f->writers -= writing;
	if (writing) /* readers stood behind it, and now look when its lease is over */
		weft_eventcount_advance(&f->changed);
	return stopping ? -ECANCELED : rc;
}

int lease_take(const char *path, bool writing, uint64_t deadline, struct lease **lease)
{
	struct lease *l = calloc(1, sizeof *l);
	struct leased *f = l != NULL ? hold(path) : NULL;
	int rc = f != NULL ? await(f, writing, deadline) : -ENOMEM;

	if (rc < 0) {
		if (f != NULL)
			drop(f);
		free(l);
		return rc;
	}
	*l = (struct lease){ f, f->leases, 0, writing, false };
	f->leases = l;
	lease_renew(l);
	*lease = l;
	return 0;
}

bool lease_renew(struct lease *lease)
{
	if (!lease->lost)
		lease->until = weft_now() + settings.lease_time * WEFT_MS;
	return !lease->lost;
}

void lease_keep(struct lease *lease)
{
	lease->until = UINT64_MAX;
}

void lease_give(struct lease *lease)
{
	if (!lease->lost)
		unlink_lease(lease);
	weft_eventcount_advance(&lease->file->changed);
	drop(lease->file);
	free(lease);
}

/* Watching */

int lease_watch(const char *path, struct watch *watch)
{
	watch->file = hold(path);
	if (watch->file == NULL)
		return -ENOMEM;
	watch->seen = weft_eventcount_prepare(&watch->file->changed);
	return 0;
}

int lease_watch_wait(struct watch *watch, uint64_t deadline)
{
	int rc = 0;

	if (!stopping) /* else nobody would tell */
		rc = weft_eventcount_wait_until(&watch->file->changed, watch->seen, deadline);
	watch->seen = weft_eventcount_prepare(&watch->file->changed);
	return stopping ? -ECANCELED : rc;
}

void lease_unwatch(struct watch *watch)
{
	drop(watch->file);
}

void lease_tell_change(const char *path)
{
	struct leased *f = find(path);

	if (f != NULL)
		weft_eventcount_advance(&f->changed);
}

void lease_stop(void)
{
	stopping = true;
	for (int i = 0; i < BUCKETS; i++)
		for (struct leased *f = table[i]; f != NULL; f = f->next)
			weft_eventcount_advance(&f->changed);
}
