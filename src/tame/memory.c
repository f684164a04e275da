/* memory.c - memory for closures and events: pools by size, of which each worker has caches.
 *
 * Nothing is written into what is free: a closure or an event stays as it was, and tells of a
 * second trigger.
 */
#include "base/memory.h"
#include "base/report.h"
#include "tame/tame.h"

/* ASan is told what is free by the slower way only. */
#ifdef WF_ASAN
#include <sanitizer/asan_interface.h>
#define FAST false
#else
#define FAST true
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

enum {
	STEPS = WF_TAME_STEPS,
	SIZES = WF_TAME_SIZES,
	LARGEST = 16384 + 512,            /* closures with the usual buffers have pools */
	KEPT = sizeof(weft_tame_closure), /* bytes that may be read in what is free */
	BATCH = 64,                       /* large closures that are looked at at a time */
};
static const size_t larger[SIZES - STEPS] = {
	768, 1024, 1536, 2048, 3072, 4096 + 512, 8192 + 512, LARGEST,
};
static const size_t space = (size_t)4 << 30; /* bytes of address space for a pool */

/* A pool is made when it is first needed. If there is no address space for it, and the event
 * that needs it cannot take a no, then its records come from malloc for the rest of the run. */
enum { UNMADE, POOLED, SCATTERED };
struct stock {
	struct wf_pool pool;
	_Atomic int state;
};
static struct stock stocks[WF_TAME_KINDS][SIZES];
/* By worker; NULL: it had no use for one in this run, or there was no memory. */
static struct wf_tame_cache *caches[WF_WORKERS_LIMIT(WF_WORKERS_MAX)];

/* What no pool has records for. */
struct large {
	struct large *next, *prev;
	enum wf_tame_kind kind;
	_Alignas(16) char content[];
};

/* What was freed while checks are asked for, as a ring. */
struct kept {
	enum wf_tame_kind kind;
	size_t size;
	void *at; /* NULL: none yet */
};

static struct wf_lock lock = WF_LOCK_INIT(WF_RANK_TAME);
static struct large *larges WF_GUARDED(lock);
static struct large *past; /* of the run before: their events may still be triggered, in vain */
static struct kept quarantine[WF_TAME_QUARANTINE] WF_GUARDED(lock);
static unsigned oldest WF_GUARDED(lock);

static inline unsigned index_of(size_t size)
{
	unsigned i = STEPS;

	if (size <= (size_t)WF_TAME_STEP * STEPS)
		return (unsigned)(size + WF_TAME_STEP - 1) / WF_TAME_STEP - 1;
	while (size > larger[i - STEPS])
		i++;
	return i;
}

static inline size_t size_of(unsigned index)
{
	return index < STEPS ? (size_t)(index + 1) * WF_TAME_STEP : larger[index - STEPS];
}

static inline int state_of(struct stock *stock)
{
	return atomic_load_explicit(&stock->state, memory_order_acquire);
}

static WF_COLD int make(struct stock *stock, unsigned index, bool must)
{
	int state;

	wf_lock_take(&lock);
	state = state_of(stock);
	if (state == UNMADE) {
		if (wf_pool_init(&stock->pool, size_of(index), space / size_of(index), 0) == 0)
			state = POOLED;
		else if (must)
			state = SCATTERED;
		atomic_store_explicit(&stock->state, state, memory_order_release);
	}
	wf_lock_give(&lock);
	return state;
}

static void *get_large(enum wf_tame_kind kind, size_t size)
{
	struct large *l = WF_FAULT(ENOMEM) ? NULL : malloc(sizeof *l + size);

	if (l == NULL)
		return NULL;
	if (kind == WF_TAME_CLOSURES) /* others look at it from now on */
		((weft_tame_closure *)(void *)l->content)->function_ = NULL;
	l->kind = kind;
	l->prev = NULL;
	wf_lock_take(&lock);
	l->next = larges;
	if (larges != NULL)
		larges->prev = l;
	larges = l;
	wf_lock_give(&lock);
	return l->content;
}

static void put_large(void *at)
{
	struct large *l = WF_CONTAINER(at, struct large, content);

	wf_lock_take(&lock);
	if (l->next != NULL)
		l->next->prev = l->prev;
	*(l->prev != NULL ? &l->prev->next : &larges) = l->next;
	wf_lock_give(&lock);
	free(l);
}

static inline struct wf_pool_cache *cache_of(const struct wf_worker *w, enum wf_tame_kind kind,
					     unsigned index)
{
	struct wf_tame_cache **cache = w != NULL ? &caches[w->id] : NULL;

	if (cache == NULL)
		return NULL;
	if (WF_UNLIKELY(*cache == NULL))
		*cache = WF_NEW(struct wf_tame_cache);
	return *cache != NULL ? &(*cache)->of[kind][index] : NULL;
}

#ifdef WEFT_DEBUG
atomic_long wf_tame_events_in_use;
#endif

static void *get(struct wf_worker *w, enum wf_tame_kind kind, size_t size, bool must)
{
	unsigned index;
	struct stock *stock;
	char *at;
	int state;

	if (WF_UNLIKELY(size > LARGEST))
		return get_large(kind, size);
	index = index_of(size);
	stock = &stocks[kind][index];
	state = state_of(stock);
	if (WF_UNLIKELY(state == UNMADE))
		state = make(stock, index, must);
	if (WF_UNLIKELY(state != POOLED))
		return state == SCATTERED ? get_large(kind, size) : NULL;
	at = wf_pool_get(&stock->pool, cache_of(w, kind, index), must);
	if (WF_UNLIKELY(at == NULL))
		return NULL;
	ASAN_UNPOISON_MEMORY_REGION(at, size);
	return at;
}

void *wf_tame_get(struct wf_worker *w, enum wf_tame_kind kind, size_t size, bool must)
{
	void *at;

	at = get(w, kind, size, must);
	if (FAST && w != NULL && !WF_LOAD(&wf_tame_checks))
		w->top = caches[w->id];
	if (WF_LIKELY(at != NULL))
		WF_TAME_COUNT(kind, 1);
	else if (must)
		wf_bug("no memory for an event of %zu bytes", size);
	return at;
}

static void put(struct wf_worker *w, enum wf_tame_kind kind, size_t size, char *at)
{
	struct stock *stock;
	unsigned index;

	if (WF_UNLIKELY(size > LARGEST)) {
		put_large(at);
		return;
	}
	index = index_of(size);
	stock = &stocks[kind][index];
	if (WF_UNLIKELY(state_of(stock) == SCATTERED)) {
		put_large(at);
		return;
	}
	if (size_of(index) > KEPT)
		ASAN_POISON_MEMORY_REGION(at + KEPT, size_of(index) - KEPT);
	wf_pool_put(&stock->pool, cache_of(w, kind, index), at);
}

static WF_COLD void keep(struct wf_worker *w, enum wf_tame_kind kind, size_t size, void *at)
{
	struct kept old;

	wf_lock_take(&lock);
	old = quarantine[oldest];
	quarantine[oldest] = (struct kept){ kind, size, at };
	oldest = (oldest + 1) % WF_TAME_QUARANTINE;
	wf_lock_give(&lock);
	if (old.at != NULL)
		put(w, old.kind, old.size, old.at);
}

void wf_tame_put(struct wf_worker *w, enum wf_tame_kind kind, size_t size, void *at)
{
	WF_TAME_COUNT(kind, -1);
	if (WF_LOAD(&wf_tame_checks))
		keep(w, kind, size, at);
	else
		put(w, kind, size, at);
}

/* How many records of the stock were ever in use, and the closures of these. */

static size_t closures_of(struct stock *stock)
{
	size_t fresh;

	if (state_of(stock) != POOLED)
		return 0;
	wf_lock_take(&stock->pool.lock);
	fresh = stock->pool.fresh;
	wf_lock_give(&stock->pool.lock);
	return fresh;
}

static weft_tame_closure *closure_at(struct stock *stock, size_t k)
{
	return (void *)(stock->pool.base + k * stock->pool.size);
}

/* It may be freed, and used again, meanwhile: but functions are there for ever. */
static WF_NO_TSAN struct wf_tame_glimpse look(weft_tame_closure *c)
{
	return (struct wf_tame_glimpse){
		*(const weft_tame_function *const volatile *)&c->function_,
		*(const volatile uint32_t *)&c->state_,
	};
}

/* Up to BATCH large closures, behind the first `skip`. */
static unsigned look_at_large(size_t skip, struct wf_tame_glimpse seen[BATCH])
{
	unsigned n = 0;

	wf_lock_take(&lock);
	for (struct large *l = larges; l != NULL && n < BATCH; l = l->next) {
		if (l->kind != WF_TAME_CLOSURES)
			continue;
		if (skip > 0)
			skip--;
		else
			seen[n++] = look((void *)l->content);
	}
	wf_lock_give(&lock);
	return n;
}

void wf_tame_each_closure(void (*fn)(struct wf_tame_glimpse g, void *arg), void *arg)
{
	struct wf_tame_glimpse seen[BATCH];
	size_t skip = 0;
	unsigned n;

	for (unsigned i = 0; i < SIZES; i++) {
		struct stock *stock = &stocks[WF_TAME_CLOSURES][i];
		size_t count = closures_of(stock);

		for (size_t k = 0; k < count; k++) {
			struct wf_tame_glimpse g = look(closure_at(stock, k));

			if (g.function != NULL)
				fn(g, arg);
		}
	}
	do {
		n = look_at_large(skip, seen);
		skip += n;
		for (unsigned i = 0; i < n; i++)
			if (seen[i].function != NULL)
				fn(seen[i], arg);
	} while (n == BATCH);
}

static void free_stock(enum wf_tame_kind kind, struct stock *stock)
{
	size_t count = closures_of(stock);

	for (size_t k = 0; kind == WF_TAME_CLOSURES && k < count; k++)
		closure_at(stock, k)->function_ = NULL;
	if (state_of(stock) == POOLED)
		wf_pool_reset(&stock->pool);
	else
		atomic_store(&stock->state, UNMADE);
}

/* The memory stays, with its content: foreign threads may still trigger events, in vain, and
 * calls that were forked may still run. */
void wf_tame_free_all(void)
{
	for (unsigned i = 0; i < WF_TAME_KINDS * SIZES; i++)
		free_stock(i / SIZES, &stocks[i / SIZES][i % SIZES]);
	for (int i = 0; i < wf_worker_limit(); i++) {
		free(caches[i]);
		caches[i] = NULL;
	}
	__builtin_memset(quarantine, 0, sizeof quarantine);
	while (past != NULL) {
		struct large *next = past->next;

		free(past);
		past = next;
	}
	past = larges;
	larges = NULL;
#ifdef WEFT_DEBUG
	atomic_store(&wf_tame_events_in_use, 0);
#endif
}
