/* slots.c - values that every thread has its own of. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "threads/thread.h"

enum { KEYS = 1024 };

/* Rounds of destructors at a thread's end: one may set another's slot. */
enum { ROUNDS = 4 };

struct wf_slot {
	weft_key key; /* for which the value was set: a key of an earlier life has none */
	void *value;
};

/* A key is the number of its entry and, above it, which life of the entry it is. */
static struct entry {
	_Atomic weft_key key; /* 0: not in use */
	weft_key last;
	void (*_Atomic destroy)(void *value);
} entries[KEYS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int weft_key_new(weft_key *key, void (*destroy)(void *value))
{
	int rc = -EAGAIN;

	pthread_mutex_lock(&lock);
	for (weft_key i = 0; i < KEYS && rc < 0; i++) {
		struct entry *e = &entries[i];

		if (WF_LOAD(&e->key) != 0)
			continue;
		/* 0 is no key: lives begin anew before they would come to it */
		e->last = e->last != 0 && e->last <= UINT32_MAX - KEYS ? e->last + KEYS : KEYS + i;
		WF_STORE(&e->destroy, destroy);
		*key = e->last;
		atomic_store(&e->key, e->last);
		rc = 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static bool valid(weft_key key)
{
	return key != 0 &&
	       atomic_load_explicit(&entries[key % KEYS].key, memory_order_acquire) == key;
}

int weft_key_free(weft_key key)
{
	int rc = -EINVAL;

	pthread_mutex_lock(&lock);
	if (valid(key)) {
		atomic_store(&entries[key % KEYS].key, 0);
		rc = 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void *weft_key_get(weft_key key)
{
	weft_thread *t = wf_thread_current;

	if (t == NULL || key % KEYS >= t->slots_count || t->slots[key % KEYS].key != key)
		return NULL;
	return t->slots[key % KEYS].value;
}

static int grow(weft_thread *t, unsigned wanted)
{
	unsigned count = t->slots_count != 0 ? t->slots_count : 4;
	struct wf_slot *slots;

	while (count < wanted)
		count *= 2;
	slots = WF_FAULT(ENOMEM) ? NULL : realloc(t->slots, count * sizeof *slots);
	if (slots == NULL)
		return -ENOMEM;
	memset(slots + t->slots_count, 0, (count - t->slots_count) * sizeof *slots);
	t->slots = slots;
	t->slots_count = count;
	t->body |= WF_BODY_UNTIDY;
	return 0;
}

int weft_key_set(weft_key key, void *value)
{
	weft_thread *t = wf_thread_current;
	int rc = 0;

	if (t == NULL)
		return -EPERM;
	if (!valid(key))
		return -EINVAL;
	if (key % KEYS >= t->slots_count)
		rc = grow(t, key % KEYS + 1);
	if (rc == 0)
		t->slots[key % KEYS] = (struct wf_slot){ .key = key, .value = value };
	return rc;
}

/* True if a destructor was called. */
static bool destroy_all(weft_thread *t)
{
	bool any = false;

	for (unsigned i = 0; i < t->slots_count; i++) {
		struct wf_slot s = t->slots[i];
		void (*destroy)(void *value);

		t->slots[i].value = NULL;
		if (s.value == NULL || !valid(s.key))
			continue;
		destroy = WF_LOAD(&entries[i].destroy);
		if (destroy == NULL)
			continue;
		destroy(s.value);
		any = true;
	}
	return any;
}

void wf_slots_end(weft_thread *t)
{
	if (t->slots == NULL)
		return;
	for (int i = 0; i < ROUNDS && destroy_all(t); i++)
		;
	free(t->slots);
	t->slots = NULL;
	t->slots_count = 0;
}
