/* keys.c - lines, and a table of keys. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"

enum { BUCKETS = 4096, KEYS_MAX = 100000, WAIT_MAX_MS = 60000 };

struct key {
	struct key *next;
	char *value;             /* NULL: it only exists as somebody waits for it */
	struct request *waiting; /* if it has no value */
	char name[];
};

static struct key *buckets[BUCKETS];
static int count;
uint64_t keys_patience;

void keys_greet(struct request *r, void (*wake)(struct request *r))
{
	memset(r, 0, sizeof *r);
	strcpy(r->text, "hello\n");
	r->wake = wake;
}

bool keys_take_line(struct input *in, struct request *r)
{
	char *end = memchr(in->bytes, '\n', in->used);
	size_t len;

	r->too_long = end == NULL && in->used == sizeof in->bytes;
	if (end == NULL)
		return r->too_long;
	len = (size_t)(end - in->bytes);
	memcpy(r->text, in->bytes, len);
	r->text[len] = '\0';
	in->used -= len + 1;
	memmove(in->bytes, end + 1, in->used);
	return true;
}

/* Where the key of that name is, or would be. */
static struct key **find(const char *name)
{
	struct key **at;
	uint32_t hash = 2166136261;

	for (const char *c = name; *c != '\0'; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619;
	for (at = &buckets[hash % BUCKETS]; *at != NULL; at = &(*at)->next)
		if (strcmp((*at)->name, name) == 0)
			break;
	return at;
}

static struct key *find_or_add(const char *name)
{
	struct key **at = find(name);

	if (*at == NULL && count < KEYS_MAX) {
		*at = calloc(1, sizeof **at + strlen(name) + 1);
		if (*at != NULL) {
			strcpy((*at)->name, name);
			count++;
		}
	}
	return *at;
}

static void drop_if_unused(const char *name)
{
	struct key **at = find(name), *key = *at;

	if (key != NULL && key->value == NULL && key->waiting == NULL) {
		*at = key->next;
		free(key);
		count--;
	}
}

/* The functions that answer tell whether the request has to wait, as keys_run does. */
static bool answer(struct request *r, const char *text)
{
	strcpy(r->text, text);
	return false;
}

static bool get(struct request *r, const char *name)
{
	struct key *key = *find(name);

	if (key == NULL || key->value == NULL)
		return answer(r, "none\n");
	snprintf(r->text, sizeof r->text, "= %s\n", key->value);
	return false;
}

static bool set(struct request *r, const char *name, const char *value)
{
	struct key *key = find_or_add(name);
	char *copy = key != NULL ? strdup(value) : NULL;
	struct request *w;

	if (copy == NULL) {
		drop_if_unused(name);
		return answer(r, "error: no room\n");
	}
	free(key->value);
	key->value = copy;
	while ((w = key->waiting) != NULL) {
		key->waiting = w->next;
		w->key = NULL;
		get(w, key->name);
		w->wake(w);
	}
	return answer(r, "ok\n");
}

static bool del(struct request *r, const char *name)
{
	struct key *key = *find(name);

	if (key == NULL || key->value == NULL)
		return answer(r, "none\n");
	free(key->value);
	key->value = NULL;
	drop_if_unused(name);
	return answer(r, "ok\n");
}

static bool wait_for(struct request *r, const char *name, const char *ms)
{
	char *end;
	unsigned long n = strtoul(ms, &end, 10);
	struct key *key;

	if (end == ms || *end != '\0' || n > WAIT_MAX_MS)
		return answer(r, "error: wait how long?\n");
	key = find_or_add(name);
	if (key == NULL)
		return answer(r, "error: no room\n");
	if (key->value != NULL)
		return get(r, name);
	r->ns = n * WEFT_MS;
	r->key = key;
	r->next = key->waiting;
	key->waiting = r;
	return true;
}

bool keys_give_up(struct request *r)
{
	struct request **at;
	struct key *key = r->key;

	if (key == NULL)
		return false;
	for (at = &key->waiting; *at != r; at = &(*at)->next)
		;
	*at = r->next;
	r->key = NULL;
	drop_if_unused(key->name);
	answer(r, "none\n");
	return true;
}

bool keys_run(struct request *r)
{
	char *rest = r->text, *verb = strsep(&rest, " "), *name = strsep(&rest, " ");

	r->leaving = r->too_long || (strcmp(verb, "QUIT") == 0 && name == NULL);
	if (r->leaving)
		return answer(r, r->too_long ? "error: the line is too long\n" : "bye\n");
	if (name != NULL && *name != '\0') {
		if (strcmp(verb, "GET") == 0 && rest == NULL)
			return get(r, name);
		if (strcmp(verb, "SET") == 0 && rest != NULL)
			return set(r, name, rest);
		if (strcmp(verb, "DEL") == 0 && rest == NULL)
			return del(r, name);
		if (strcmp(verb, "WAIT") == 0 && rest != NULL)
			return wait_for(r, name, rest);
	}
	return answer(r, "error: GET key, SET key value, DEL key, WAIT key ms, or QUIT\n");
}

int keys_main(int argc, char **argv, int (*app)(void *listener))
{
	const char *address = argc > 1 ? argv[1] : "127.0.0.1:7000";
	struct sockaddr_in bound = { 0 };
	socklen_t len = sizeof bound;
	int listener = weft_listen_on(address), rc = listener, one = 1;

	keys_patience = (argc > 2 ? strtoul(argv[2], NULL, 10) : 60000) * WEFT_MS;
	if (rc >= 0) {
		/* What is accepted inherits it: of two short answers the second must not wait. */
		setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		getsockname(listener, (struct sockaddr *)&bound, &len);
		printf("port %d\n", ntohs(bound.sin_port));
		fflush(stdout);
		rc = weft_run(app, &listener, NULL);
	}
	fprintf(stderr, "%s: %s\n", address, strerror(-rc));
	return 1;
}
