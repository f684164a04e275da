/* stack.c - stacks cut from slabs, handed out and taken back. */
#include "platform/stack.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef WF_ASAN
#include <sanitizer/asan_interface.h>
#endif

#include "base/memory.h"
#include "base/report.h"
#include "platform/valgrind.h"

/* What one page of the page table covers: no two slabs share one. */
#define TABLE_SPAN ((size_t)2 << 20)

enum { RECORD_ALIGN = 64, PAGES = 1024 };

_Static_assert(WF_STACK_FRESH <= WF_STACK_BUNCH, "fresh stacks must fit in a cache");
_Static_assert(WF_STACK_BUNCH > 1, "a loose stack must not be a bunch");

static char *record_of(const struct wf_stacks *s, const struct wf_stack_slab *slab, size_t i)
{
	return slab->base + (i + 1) * slab->size - s->record;
}

int wf_stack_class(const struct wf_stacks *s, size_t usable)
{
	if (usable == 0)
		return s->usual;
	for (int class = 0; class < WF_STACK_CLASSES; class ++)
		if (wf_stack_room(s, class) >= usable)
			return class;
	return -1;
}

int wf_stacks_init(struct wf_stacks *s, size_t record_size, size_t usable)
{
	*s = (struct wf_stacks){ 0 };
	s->record = (record_size + RECORD_ALIGN - 1) & ~(size_t)(RECORD_ALIGN - 1);
	wf_lock_init(&s->carving, WF_RANK_CARVE);
	wf_lock_init(&s->lock, WF_RANK_POOL);
	if (usable == 0)
		usable = WF_STACK_DEFAULT - WF_GUARD_SIZE - s->record;
	s->usual = wf_stack_class(s, usable);
	return s->usual < 0 ? -EINVAL : 0;
}

/* Flows that ended in the middle, or never did, leave marks in ASan's books that
 * would outlive the mapping. */
static void forget_marks(const struct wf_stack_slab *slab)
{
#ifdef WF_ASAN
	__asan_unpoison_memory_region(slab->base, WF_LOAD(&slab->carved) * slab->size);
#else
	(void)slab;
#endif
}

static void slab_free(struct wf_stack_slab *slab)
{
	forget_marks(slab);
	if (slab->valgrind != NULL)
		for (size_t i = 0; i < WF_LOAD(&slab->carved); i++)
			WF_VALGRIND_STACK_GONE(slab->valgrind[i]);
	if (slab->map != NULL)
		munmap(slab->map, slab->map_size);
	free(slab->valgrind);
	free(slab);
}

void wf_stacks_fini(struct wf_stacks *s)
{
	struct wf_stack_slab *next;

	for (struct wf_stack_slab *slab = WF_LOAD(&s->slabs); slab != NULL; slab = next) {
		next = slab->next;
		slab_free(slab);
	}
	*s = (struct wf_stacks){ 0 };
}

/* Twice as much as the last time. A process with a limit on its address space keeps
 * most of it for itself. */
static size_t slab_bytes(const struct wf_stack_slab *last)
{
	size_t bytes = last == NULL ? (size_t)WF_STACK_SLAB << 10 : 2 * last->count * last->size;
	struct rlimit as;

	if (bytes > (size_t)WF_STACK_SLAB_MAX << 10)
		bytes = (size_t)WF_STACK_SLAB_MAX << 10;
	if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY &&
	    bytes > as.rlim_cur / 16)
		bytes = (size_t)as.rlim_cur / 16;
	return bytes;
}

/* The edges that aligning leaves over stay mapped: to unmap them could fail. */
static bool slab_map(struct wf_stack_slab *slab)
{
	size_t align = slab->size > TABLE_SPAN ? slab->size : TABLE_SPAN;
	void *at;

	slab->map_size = slab->count * slab->size + align;
	if (WF_FAULT(ENOMEM))
		return false;
	at = mmap(NULL, slab->map_size, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (at == MAP_FAILED)
		return false;
	slab->map = at;
	slab->base = (char *)at + (-(uintptr_t)at & (align - 1));
	/* One huge page for each stack would be 2 MiB of memory. It cannot fail but
	 * where there are no huge pages. */
	madvise(at, slab->map_size, MADV_NOHUGEPAGE);
	return true;
}

/* A slab with a stack left to carve, as the newest of its class, or NULL. */
static struct wf_stack_slab *slab_with_room(struct wf_stacks *s, int class) WF_REQUIRES(s->carving)
{
	struct wf_stack_slab *last = s->newest[class], *slab;

	if (last != NULL && WF_LOAD(&last->carved) < last->count)
		return last;
	slab = WF_NEW(struct wf_stack_slab);
	if (slab == NULL)
		return NULL;
	slab->size = wf_stack_size(class);
	slab->count = slab_bytes(last) / slab->size;
	if (slab->count == 0)
		slab->count = 1;
	/* A rlimit or strict overcommit may forbid what is only a reservation. */
	while (!slab_map(slab) && slab->count > 1)
		slab->count /= 2;
	if (slab->map != NULL && WF_ON_VALGRIND)
		slab->valgrind = wf_new_array(slab->count, sizeof *slab->valgrind);
	if (slab->map == NULL || (WF_ON_VALGRIND && slab->valgrind == NULL)) {
		slab_free(slab);
		return NULL;
	}
	slab->next = WF_LOAD(&s->slabs);
	atomic_store_explicit(&s->slabs, slab, memory_order_release);
	s->newest[class] = slab;
	return slab;
}

/* Makes up to `want` stacks that lie side by side. Returns how many, or an error;
 * *first is the record of the lowest. */
static int carve(struct wf_stacks *s, int class, unsigned want, char **first)
	WF_REQUIRES(s->carving)
{
	struct wf_stack_slab *slab = slab_with_room(s, class);
	size_t at, left;
	char *low;
	int made;

	if (slab == NULL)
		return -ENOMEM;
	at = WF_LOAD(&slab->carved);
	left = slab->count - at;
	low = slab->base + at * slab->size;
	if (s->guard == WF_GUARD_UNKNOWN)
		s->guard = wf_guard_kind(low);
	made = wf_guard_install(s->guard, low, slab->size, left < want ? (unsigned)left : want);
	if (made < 0)
		return made;
	*first = record_of(s, slab, at);
	for (int i = 0; slab->valgrind != NULL && i < made; i++) {
		/* A body begins with the stack pointer there: it belongs to the stack. */
		char *high = *first + (size_t)i * slab->size;

		slab->valgrind[at + (size_t)i] =
			WF_VALGRIND_STACK((void *)wf_stack_low(class, high), high);
	}
	atomic_store_explicit(&slab->carved, at + (size_t)made, memory_order_release);
	WF_ADD_OWN(&s->carved, (size_t)made);
	return made;
}

static void tell_of_limit(struct wf_stacks *s)
{
	if (!atomic_exchange(&s->told, true))
		wf_report(
			WF_REPORT_SETTING,
			"no more than %zu stacks: this kernel guards each by a mapping of its own "
			"(since Linux 6.13 that is not needed), and vm.max_map_count limits those. "
			"Raise it: sysctl -w vm.max_map_count=1000000",
			WF_LOAD(&s->carved));
}

/* New stacks, as a list; touching their records here costs nothing more, as they are
 * about to be used. Returns 0 or an error. */
static int make(struct wf_stacks *s, int class, unsigned want, struct wf_stack_list *list)
{
	char *first = NULL;
	int made;

	wf_lock_take(&s->carving);
	made = carve(s, class, want, &first);
	wf_lock_give(&s->carving);
	if (made == -EAGAIN)
		tell_of_limit(s);
	if (made < 0)
		return made;
	*list = (struct wf_stack_list){ NULL, (unsigned)made };
	for (int i = made - 1; i >= 0; i--) {
		struct wf_stack_item *item = (void *)(first + (size_t)i * wf_stack_size(class));

		item->next = list->first;
		list->first = item;
	}
	return 0;
}

static void stock_push(struct wf_stacks *s, struct wf_stack_item *bunch) WF_REQUIRES(s->lock)
{
	bunch->bunch = s->stock;
	s->stock = bunch;
}

static void loose_push(struct wf_stacks *s, int class, struct wf_stack_item *item)
	WF_REQUIRES(s->lock)
{
	struct wf_stack_list *loose = &s->loose[class];

	item->next = loose->first;
	loose->first = item;
	loose->count++;
	if (class == s->usual && loose->count == WF_STACK_BUNCH) {
		stock_push(s, loose->first);
		*loose = (struct wf_stack_list){ 0 };
	}
}

/* Takes a bunch out of the stock, or what is loose of this class. */
static struct wf_stack_list take_free(struct wf_stacks *s, int class) WF_REQUIRES(s->lock)
{
	struct wf_stack_list list = { 0 };

	if (class == s->usual && s->stock != NULL) {
		list = (struct wf_stack_list){ s->stock, WF_STACK_BUNCH };
		s->stock = list.first->bunch;
	} else {
		list = s->loose[class];
		s->loose[class] = (struct wf_stack_list){ 0 };
	}
	return list;
}

static void *get_single(struct wf_stacks *s, int class, int *err)
{
	struct wf_stack_list *loose = &s->loose[class];
	struct wf_stack_list list = { 0 };

	wf_lock_take(&s->lock);
	if (loose->first == NULL)
		*loose = take_free(s, class);
	list.first = loose->first;
	if (list.first != NULL) {
		loose->first = list.first->next;
		loose->count--;
	}
	wf_lock_give(&s->lock);
	if (list.first == NULL)
		*err = make(s, class, 1, &list);
	return list.first;
}

void *wf_stack_get_shared(struct wf_stacks *s, struct wf_stack_cache *cache, int class, int *err)
{
	struct wf_stack_list list;

	if (cache == NULL || class != s->usual)
		return get_single(s, class, err);
	list = (struct wf_stack_list){ cache->spare, WF_STACK_BUNCH };
	cache->spare = NULL;
	if (list.first == NULL) {
		wf_lock_take(&s->lock);
		list = take_free(s, class);
		wf_lock_give(&s->lock);
	}
	if (list.first == NULL)
		*err = make(s, class, WF_STACK_FRESH, &list);
	if (list.first == NULL)
		return NULL;
	cache->first = list.first->next;
	cache->count = list.count - 1;
	return list.first;
}

void wf_stack_put_shared(struct wf_stacks *s, struct wf_stack_cache *cache, int class, void *record)
{
	struct wf_stack_item *item = record;

	if (cache == NULL || class != s->usual) {
		wf_lock_take(&s->lock);
		loose_push(s, class, item);
		wf_lock_give(&s->lock);
		return;
	}
	if (cache->spare != NULL) {
		wf_lock_take(&s->lock);
		stock_push(s, cache->spare);
		wf_lock_give(&s->lock);
	}
	cache->spare = cache->first;
	item->next = NULL;
	cache->first = item;
	cache->count = 1;
}

void wf_stack_cache_flush(struct wf_stacks *s, struct wf_stack_cache *cache)
{
	struct wf_stack_item *item = cache->first, *next;

	wf_lock_take(&s->lock);
	if (cache->spare != NULL)
		stock_push(s, cache->spare);
	for (; item != NULL; item = next) {
		next = item->next;
		loose_push(s, s->usual, item);
	}
	wf_lock_give(&s->lock);
	*cache = (struct wf_stack_cache){ 0 };
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Looks which pages of [low, high) are resident. Returns how many bytes; *lowest, if
 * asked for, is where the first begins, or high. */
static size_t resident(uintptr_t low, uintptr_t high, uintptr_t *lowest)
{
	size_t page = page_size(), span = PAGES * page, pages = 0;
	unsigned char in[PAGES];

	if (lowest != NULL)
		*lowest = high;
	for (; low < high; low += span) {
		size_t length = high - low < span ? high - low : span;

		if (WF_FAULT(EAGAIN) || mincore((void *)low, length, in) != 0)
			break;
		for (size_t i = 0; i < length / page; i++) {
			if (!(in[i] & 1))
				continue;
			pages++;
			if (lowest == NULL)
				continue;
			*lowest = low + i * page;
			return page;
		}
	}
	return pages * page;
}

size_t wf_stack_trim(int class, void *record, uintptr_t sp)
{
	uintptr_t low = wf_stack_low(class, record), high = sp & ~(uintptr_t)(page_size() - 1);
	size_t bytes;

	WF_ASSERT(sp >= low && sp <= (uintptr_t)record);
	bytes = resident(low, high, NULL);
	/* Also if none is resident: some may be in the swap. */
	if (low < high && madvise((void *)low, high - low, MADV_DONTNEED) != 0)
		return 0;
	return bytes;
}

size_t wf_stack_used(int class, void *record)
{
	uintptr_t page = page_size(), lowest;

	/* The record's own page counts even if nobody touched it. */
	resident(wf_stack_low(class, record), (uintptr_t)record & ~(page - 1), &lowest);
	return (uintptr_t)record - lowest;
}

void wf_stack_each(struct wf_stacks *s, void (*fn)(void *record, void *arg), void *arg)
{
	struct wf_stack_cursor all = { 0 };

	(void)wf_stack_some(s, &all, SIZE_MAX, fn, arg);
}

bool wf_stack_some(struct wf_stacks *s, struct wf_stack_cursor *c, size_t max,
		   void (*fn)(void *record, void *arg), void *arg)
{
	if (c->slab == NULL)
		c->slab = atomic_load_explicit(&s->slabs, memory_order_acquire);
	for (; c->slab != NULL; c->slab = c->slab->next, c->next = 0) {
		size_t carved = atomic_load_explicit(&c->slab->carved, memory_order_acquire);

		for (; c->next < carved; c->next++) {
			if (max-- == 0)
				return true;
			fn(record_of(s, c->slab, c->next), arg);
		}
	}
	return false;
}

void *wf_stack_find(const struct wf_stacks *s, uintptr_t addr, bool *guard)
{
	const struct wf_stack_slab *slab = atomic_load_explicit(&s->slabs, memory_order_acquire);

	for (; slab != NULL; slab = slab->next) {
		size_t carved = atomic_load_explicit(&slab->carved, memory_order_acquire);
		size_t at = addr - (uintptr_t)slab->base;

		if (addr < (uintptr_t)slab->base || at / slab->size >= carved)
			continue;
		*guard = at % slab->size < WF_GUARD_SIZE;
		return record_of(s, slab, at / slab->size);
	}
	return NULL;
}
