/* stack.h - memory for stacks: a million of them in a few mappings.
 *
 * A slab is one reservation cut into stacks of one size, a power of two, each
 * aligned to its size and with its guard inside, at the low end. Pages come when
 * they are touched. The guard is made by MADV_GUARD_INSTALL, which costs no mapping;
 * where the kernel lacks that, by mprotect, and then vm.max_map_count is the limit.
 * At the high end of each stack lies a record of the owner's. Stacks, free or in
 * use, are found by walking the slabs (gdb does so too): stack i of a slab has its
 * record at base + (i + 1) * size - wf_stacks.record. So nobody keeps a list.
 *
 * Free stacks are used again, the last one first: its pages are there, and warm. A
 * worker keeps some; whole bunches go to the shared stock and come from there, so
 * that a worker that starts threads and one that ends them seldom meet at the lock.
 *
 * Rejected: records and stack tops shifted by a few lines, different for each stack,
 * against crowding in one set of the cache. It helped with 10 stacks used in turn, did
 * nothing for 20 to 300, and took 10% more time with 1,000 or more.
 */
#ifndef WF_STACK_H
#define WF_STACK_H

#include "base/capacity.h"
#include "base/compiler.h"
#include "base/lock.h"
#include "platform/guard.h"

#define WF_STACK_LEAST ((size_t)128 * 1024) /* size of class 0; the next is twice that */
#define WF_STACK_DEFAULT ((size_t)256 * 1024)
#define WF_STACK_CLASSES 16

/* The first two words of a free stack's record. */
struct wf_stack_item {
	struct wf_stack_item *next;  /* in its list */
	struct wf_stack_item *bunch; /* in the stock, in the first of a bunch: the next bunch */
};

struct wf_stack_slab {
	struct wf_stack_slab *next; /* older */
	char *base;
	size_t size;           /* of one stack, with its guard */
	size_t count;          /* that fit */
	_Atomic size_t carved; /* that have a guard: the first ones */
	void *map;             /* what munmap wants: base is aligned */
	size_t map_size;
	unsigned *valgrind; /* its names for our stacks, if it runs us */
};

struct wf_stack_list {
	struct wf_stack_item *first;
	unsigned count;
};

struct wf_stacks {
	size_t record; /* bytes of the owner's record, rounded up */
	int usual;     /* the class that workers cache */
	enum wf_guard_kind guard;
	struct wf_stack_slab *_Atomic slabs;
	_Atomic size_t carved; /* stacks that exist */

	WF_ALIGNED struct wf_lock carving; /* held over calls to the kernel */
	struct wf_stack_slab *newest[WF_STACK_CLASSES] WF_GUARDED(carving);
	_Atomic bool told; /* the user, of vm.max_map_count */

	WF_ALIGNED struct wf_lock lock;
	struct wf_stack_item *stock WF_GUARDED(lock); /* full bunches of the usual class */
	struct wf_stack_list loose[WF_STACK_CLASSES] WF_GUARDED(lock);
};

/* What a worker keeps for itself, of the usual class only. All zeros is empty. */
struct wf_stack_cache {
	struct wf_stack_item *first;
	struct wf_stack_item *spare; /* a full bunch, or NULL */
	unsigned count;              /* in first */
};

/* `usable` is what the usual stack should offer; 0: what WF_STACK_DEFAULT has room
 * for. Returns 0 or -EINVAL: too large. */
int wf_stacks_init(struct wf_stacks *s, size_t record_size, size_t usable);
/* All of them, in use or not, are gone. */
void wf_stacks_fini(struct wf_stacks *s);

/* The class for a wanted number of usable bytes, 0: the usual one; -1: too large. */
int wf_stack_class(const struct wf_stacks *s, size_t usable);

void *wf_stack_get_shared(struct wf_stacks *s, struct wf_stack_cache *cache, int class, int *err);
void wf_stack_put_shared(struct wf_stacks *s, struct wf_stack_cache *cache, int class,
			 void *record);

/* A stack: the address of its record, which is also where the stack's high end is
 * (it is aligned to 64). A fresh record is all zeros; one that was used before is as
 * wf_stack_put got it but for the first two words, which are ours meanwhile. NULL
 * sets *err: -ENOMEM, or -EAGAIN if vm.max_map_count is reached. `cache` may be NULL. */
static inline void *wf_stack_get(struct wf_stacks *s, struct wf_stack_cache *cache, int class,
				 int *err)
{
	struct wf_stack_item *item;

	if (WF_UNLIKELY(cache == NULL || class != s->usual || cache->first == NULL))
		return wf_stack_get_shared(s, cache, class, err);
	item = cache->first;
	cache->first = item->next;
	cache->count--;
	return item;
}

static inline void wf_stack_put(struct wf_stacks *s, struct wf_stack_cache *cache, int class,
				void *record)
{
	struct wf_stack_item *item = record;

	if (WF_UNLIKELY(cache == NULL || class != s->usual || cache->count >= WF_STACK_BUNCH)) {
		wf_stack_put_shared(s, cache, class, record);
		return;
	}
	item->next = cache->first;
	cache->first = item;
	cache->count++;
}

/* Gives all of a cache to the others. */
void wf_stack_cache_flush(struct wf_stacks *s, struct wf_stack_cache *cache);

/* The size of a class, guard and record included. */
static inline size_t wf_stack_size(int class)
{
	return WF_STACK_LEAST << class;
}

/* The bytes that may be used below the record of a stack of this class. */
static inline size_t wf_stack_room(const struct wf_stacks *s, int class)
{
	return wf_stack_size(class) - WF_GUARD_SIZE - s->record;
}

/* The low end of a stack: the first byte above its guard. */
static inline uintptr_t wf_stack_low(int class, const void *record)
{
	return ((uintptr_t)record & ~(uintptr_t)(wf_stack_size(class) - 1)) + WF_GUARD_SIZE;
}

/* Gives back whole pages below `sp`. Returns how many bytes were resident there. */
size_t wf_stack_trim(int class, void *record, uintptr_t sp);

/* How deep the stack was used since it was last trimmed, by this owner or those
 * before: from the record down to the lowest page that is resident. */
size_t wf_stack_used(int class, void *record);

/* Calls fn for the record of every stack that exists, also those that are free or
 * were never handed out (zeros). Safe beside everything but fini. */
void wf_stack_each(struct wf_stacks *s, void (*fn)(void *record, void *arg), void *arg);

/* The same by and by: up to `max` of them, from where the cursor is. All zeros is
 * the beginning, and the cursor is so again when all were seen (false). */
struct wf_stack_cursor {
	const struct wf_stack_slab *slab;
	size_t next;
};
bool wf_stack_some(struct wf_stacks *s, struct wf_stack_cursor *c, size_t max,
		   void (*fn)(void *record, void *arg), void *arg);

/* The record of the stack that `addr` lies in, guard included, or NULL. *guard tells
 * whether it is in the guard. Safe in signal handlers. */
void *wf_stack_find(const struct wf_stacks *s, uintptr_t addr, bool *guard);

#endif
