/* perform.c - requests, in the color of all that clients share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "settings.h"

enum { WATCH_MS = 1000 };

/* Handles */

static void close_handle(struct handle *h)
{
	if (h->writing)
		tree_abandon(&h->draft);
	else
		weft_fd_close(h->draft.fd);
	lease_give(h->lease);
	free(h);
}

void session_close_all(struct session *s)
{
	for (int i = 0; i < SESSION_HANDLES; i++)
		if (s->handles[i] != NULL)
			close_handle(s->handles[i]);
}

/* The handle that the request names, if its lease is not lost. */
static int find_handle(struct session *s, bool writing, struct handle **handle)
{
	const struct request *r = &s->request;

	*handle = r->handle < SESSION_HANDLES ? s->handles[r->handle] : NULL;
	if (*handle == NULL || (*handle)->writing != writing)
		return -EBADF;
	return lease_renew((*handle)->lease) ? 0 : -ESTALE;
}

static int free_handle(const struct session *s)
{
	for (int i = 0; i < SESSION_HANDLES; i++)
		if (s->handles[i] == NULL)
			return i;
	return -EMFILE;
}

static uint64_t patience(const struct request *r, uint64_t most)
{
	return weft_now() + (r->wait < most ? r->wait : most) * WEFT_MS;
}

/* Opens what the request names, under a lease. */
static int open_handle(struct session *s, bool writing)
{
	const struct request *r = &s->request;
	struct handle *h = calloc(1, sizeof *h + strlen(r->path) + 1);
	int n = free_handle(s), rc = h == NULL ? -ENOMEM : n < 0 ? n : 0;
	struct facts facts = { 0 };

	if (rc == 0)
		rc = lease_take(r->path, writing, patience(r, settings.wait_time), &h->lease);
	if (rc < 0) {
		free(h);
		return rc;
	}
	h->writing = writing;
	strcpy(h->path, r->path);
	if (writing)
		rc = tree_draft(r->path, &h->draft);
	else
		rc = h->draft.fd = tree_open(r->path, &facts);
	if (rc < 0) {
		lease_give(h->lease);
		free(h);
		return rc;
	}
	s->handles[n] = h;
	s->reply.handle = (uint32_t)n;
	s->reply.size = facts.size;
	s->reply.time = facts.time;
	return 0;
}

static int open_for_reading(struct session *s)
{
	return open_handle(s, false);
}

static int open_for_writing(struct session *s)
{
	return open_handle(s, true);
}

/* Requests */

static int read_data(struct session *s)
{
	struct handle *h;
	int rc = find_handle(s, false, &h);

	if (rc == 0)
		s->transfer = h->draft.fd;
	return rc;
}

static int write_data(struct session *s)
{
	const struct request *r = &s->request;
	struct handle *h;
	int rc = find_handle(s, true, &h);

	if (rc == 0 &&
	    (r->offset > settings.max_file || r->data_size > settings.max_file - r->offset))
		rc = -EFBIG;
	if (rc == 0)
		s->transfer = h->draft.fd;
	return rc;
}

static int commit(struct session *s)
{
	struct facts facts = { 0 };
	struct handle *h;
	int rc = find_handle(s, true, &h);

	if (rc < 0)
		return rc;
	s->handles[s->request.handle] = NULL;
	lease_keep(h->lease);
	rc = tree_publish(&h->draft, h->path, &facts);
	if (rc == 0)
		lease_tell_change(h->path);
	lease_give(h->lease);
	free(h);
	s->reply.size = facts.size;
	s->reply.time = facts.time;
	return rc;
}

static int close_it(struct session *s)
{
	uint32_t n = s->request.handle;

	if (n >= SESSION_HANDLES || s->handles[n] == NULL)
		return -EBADF;
	close_handle(s->handles[n]);
	s->handles[n] = NULL;
	return 0;
}

static int remove_it(struct session *s)
{
	const struct request *r = &s->request;
	struct lease *lease;
	int rc = lease_take(r->path, true, patience(r, settings.wait_time), &lease);

	if (rc < 0)
		return rc;
	lease_keep(lease);
	rc = tree_remove(r->path);
	if (rc == 0)
		lease_tell_change(r->path);
	lease_give(lease);
	return rc;
}

static int list_names(struct session *s)
{
	uint8_t *out = channel_text(&s->channel) + REPLY_HEAD;
	ssize_t n =
		tree_list(s->request.path, s->request.offset, out, MESSAGE_PIECE, &s->reply.size);

	if (n < 0)
		return (int)n;
	s->reply.data = out;
	s->reply.data_size = (size_t)n;
	return 0;
}

static int stat_it(struct session *s)
{
	struct facts facts = { 0 };
	int rc = tree_stat(s->request.path, &facts);

	s->reply.size = facts.size;
	s->reply.time = facts.time;
	return rc;
}

/* Who watches asks again at once: so it may wait for a while, even if nobody else may. */
static int watch_it(struct session *s)
{
	uint64_t most = settings.wait_time > WATCH_MS ? settings.wait_time : WATCH_MS;
	uint64_t deadline = patience(&s->request, most);
	struct watch watch;
	int rc = lease_watch(s->request.path, &watch);

	if (rc < 0)
		return rc;
	do {
		rc = stat_it(s);
		if (rc == -ENOENT)
			rc = 0;
	} while (rc == 0 && s->reply.time == s->request.time &&
		 (rc = lease_watch_wait(&watch, deadline)) == 0);
	lease_unwatch(&watch);
	return rc;
}

static int (*const actions[REQUEST_TYPES])(struct session *s) = {
	[REQUEST_OPEN] = open_for_reading, [REQUEST_CREATE] = open_for_writing,
	[REQUEST_READ] = read_data,        [REQUEST_WRITE] = write_data,
	[REQUEST_COMMIT] = commit,         [REQUEST_CLOSE] = close_it,
	[REQUEST_REMOVE] = remove_it,      [REQUEST_LIST] = list_names,
	[REQUEST_STAT] = stat_it,          [REQUEST_WATCH] = watch_it,
};

void session_perform(struct session *s)
{
	s->reply = (struct reply){ 0 };
	s->transfer = -1;
	s->reply.status = (uint32_t)-actions[s->request.type](s);
}
