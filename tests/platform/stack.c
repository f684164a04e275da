/* Memory for stacks: none handed out twice, guarded, cheap to keep. */
#include "platform/stack.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/report.h"
#include "harness/test.h"

enum { OWNED = 0x0ddba11, MOST = 500 };

struct record {
	void *link[2]; /* the pool's while the stack is free */
	uint64_t owner;
	char more[200];
};

static struct wf_stacks stacks;

static void start(enum wf_guard_kind kind)
{
	CHECK_EQ(wf_stacks_init(&stacks, sizeof(struct record), 0), 0);
	stacks.guard = kind;
}

static struct record *get(struct wf_stack_cache *cache, int class)
{
	int err = 0;
	struct record *r = wf_stack_get(&stacks, cache, class, &err);

	CHECK(r != NULL);
	CHECK(r->owner != OWNED);
	r->owner = OWNED;
	return r;
}

static void put(struct wf_stack_cache *cache, int class, struct record *r)
{
	CHECK_EQ(r->owner, OWNED);
	r->owner = 0;
	wf_stack_put(&stacks, cache, class, r);
}

/* Whether a byte can be touched, without touching it. */
static bool reachable(uintptr_t addr)
{
	struct timespec none = { 0 };

	return syscall(SYS_futex, addr, FUTEX_WAIT_PRIVATE, 1, &none, NULL, 0) == 0 ||
	       errno != EFAULT;
}

TEST(a_stack_lies_between_its_guard_and_its_record)
{
	start(WF_GUARD_UNKNOWN);
	for (int class = 0; class < WF_STACK_CLASSES; class ++) {
		struct record *r = get(NULL, class);
		uintptr_t low = wf_stack_low(class, r), high = (uintptr_t)r;

		CHECK_EQ(high % 64, 0);
		CHECK_EQ(high - low, wf_stack_room(&stacks, class));
		CHECK(reachable(low));
		CHECK(reachable(high - 8));
		CHECK(!reachable(low - 8));
		CHECK(!reachable(low - WF_GUARD_SIZE));
		*(volatile char *)low = 1;
		put(NULL, class, r);
	}
	wf_stacks_fini(&stacks);
}

TEST(a_class_has_room_for_what_was_asked)
{
	start(WF_GUARD_UNKNOWN);
	CHECK_EQ(wf_stack_class(&stacks, 0), stacks.usual);
	CHECK_EQ(wf_stack_size(stacks.usual), WF_STACK_DEFAULT);
	for (int class = 0; class < WF_STACK_CLASSES; class ++) {
		size_t room = wf_stack_room(&stacks, class);

		CHECK_EQ(wf_stack_class(&stacks, room), class);
		CHECK_EQ(wf_stack_class(&stacks, room + 1),
			 class + 1 < WF_STACK_CLASSES ? class + 1 : -1);
	}
	CHECK_EQ(wf_stack_class(&stacks, SIZE_MAX), -1);
	CHECK_EQ(wf_stacks_init(&stacks, sizeof(struct record), SIZE_MAX), -EINVAL);
	CHECK_EQ(wf_stacks_init(&stacks, sizeof(struct record), 1 << 20), 0);
	CHECK_EQ(wf_stack_size(stacks.usual), 2 << 20);
}

/* Random gets and puts of two classes, by two caches and by somebody without one. */
static void shuffle(enum wf_guard_kind kind)
{
	uint64_t seed = TEST_SEED;
	struct wf_stack_cache cache[2] = { { 0 } };
	static struct {
		struct record *r;
		int class;
	} mine[MOST];
	size_t n = 0, most = 0;

	start(kind);
	for (int step = 0; step < 50000; step++) {
		uint64_t who = test_random(&seed) % 3;
		struct wf_stack_cache *c = who < 2 ? &cache[who] : NULL;
		bool up = test_random(&seed) % 1000 < (step / 2000 % 2 ? 300 : 700);

		if (up && n < MOST) {
			mine[n].class = test_random(&seed) % 10 ? stacks.usual : 0;
			mine[n].r = get(c, mine[n].class);
			n++;
		} else if (!up && n > 0) {
			size_t i = test_random(&seed) % n;

			put(c, mine[i].class, mine[i].r);
			mine[i] = mine[--n];
		}
		most = n > most ? n : most;
	}
	/* What is free is used before anything new: caches hold a little back. */
	CHECK(stacks.carved <= most + 2 * 2 * WF_STACK_BUNCH + most / 4);
	wf_stack_cache_flush(&stacks, &cache[0]);
	wf_stack_cache_flush(&stacks, &cache[1]);
	CHECK_EQ(cache[0].count, 0);
	wf_stacks_fini(&stacks);
}

TEST(no_stack_is_handed_out_twice)
{
	shuffle(WF_GUARD_UNKNOWN);
}

TEST(no_stack_is_handed_out_twice_on_older_kernels)
{
	shuffle(WF_GUARD_MPROTECT);
}

TEST(guards_by_mprotect_are_as_good)
{
	struct record *r;
	uintptr_t low;

	start(WF_GUARD_MPROTECT);
	r = get(NULL, stacks.usual);
	low = wf_stack_low(stacks.usual, r);
	CHECK(reachable(low));
	CHECK(!reachable(low - 8));
	CHECK(!reachable(low - WF_GUARD_SIZE));
	wf_stacks_fini(&stacks);
}

TEST(the_stack_freed_last_is_used_first)
{
	struct wf_stack_cache cache = { 0 };
	struct record *a, *b;

	start(WF_GUARD_UNKNOWN);
	a = get(&cache, stacks.usual);
	b = get(&cache, stacks.usual);
	put(&cache, stacks.usual, a);
	put(&cache, stacks.usual, b);
	CHECK_EQ(get(&cache, stacks.usual), b);
	CHECK_EQ(get(&cache, stacks.usual), a);
	a = get(NULL, 0);
	put(NULL, 0, a);
	CHECK_EQ(get(NULL, 0), a);
	wf_stacks_fini(&stacks);
}

/* One cache only gets and one only puts, as two workers may. */
TEST(stacks_go_from_one_worker_to_another_in_bunches)
{
	struct wf_stack_cache starts = { 0 }, ends = { 0 };
	size_t carved = 0;

	start(WF_GUARD_UNKNOWN);
	for (int i = 0; i < 10000; i++) {
		put(&ends, stacks.usual, get(&starts, stacks.usual));
		if (i == 1000)
			carved = stacks.carved;
	}
	CHECK_EQ(stacks.carved, carved);
	CHECK(carved <= 4 * WF_STACK_BUNCH);
	wf_stacks_fini(&stacks);
}

TEST(what_a_cache_gives_back_serves_others)
{
	struct wf_stack_cache cache = { 0 };
	enum { COUNT = 3 * WF_STACK_BUNCH + 1 };
	struct record *r[COUNT];
	size_t carved;

	start(WF_GUARD_UNKNOWN);
	for (int i = 0; i < COUNT; i++)
		r[i] = get(&cache, stacks.usual);
	for (int i = 0; i < COUNT; i++)
		put(&cache, stacks.usual, r[i]);
	wf_stack_cache_flush(&stacks, &cache);
	carved = stacks.carved;
	for (int i = 0; i < COUNT; i++)
		put(&cache, stacks.usual, get(NULL, stacks.usual));
	wf_stack_cache_flush(&stacks, &cache);
	for (int i = 0; i < COUNT; i++)
		get(&cache, stacks.usual);
	CHECK_EQ(stacks.carved, carved);
	wf_stacks_fini(&stacks);
}

static void *get_and_put(void *unused)
{
	struct wf_stack_cache cache = { 0 };
	struct record *r[40];

	(void)unused;
	for (int round = 0; round < 500; round++) {
		for (int i = 0; i < 40; i++)
			r[i] = get(i % 4 ? &cache : NULL, stacks.usual);
		for (int i = 0; i < 40; i++)
			put(i % 3 ? &cache : NULL, stacks.usual, r[i]);
	}
	wf_stack_cache_flush(&stacks, &cache);
	return NULL;
}

static void count(void *record, void *arg)
{
	(void)record;
	++*(size_t *)arg;
}

TEST(kernel_threads_share_stacks_while_one_walks_them)
{
	pthread_t thread[3];
	size_t n = 0;

	start(WF_GUARD_UNKNOWN);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, get_and_put, NULL), 0);
	for (int i = 0; i < 200; i++)
		wf_stack_each(&stacks, count, &n);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	n = 0;
	wf_stack_each(&stacks, count, &n);
	CHECK_EQ(n, stacks.carved);
	wf_stacks_fini(&stacks);
}

static void count_owned(void *record, void *arg)
{
	if (((struct record *)record)->owner == OWNED)
		++*(size_t *)arg;
}

TEST(a_walk_meets_every_stack_in_use)
{
	struct wf_stack_cache cache = { 0 };
	size_t n = 0;

	start(WF_GUARD_UNKNOWN);
	for (int i = 0; i < 300; i++)
		get(&cache, i % 10 ? stacks.usual : i % 3);
	wf_stack_each(&stacks, count_owned, &n);
	CHECK_EQ(n, 300);
	wf_stacks_fini(&stacks);
}

TEST(a_walk_in_steps_meets_every_stack_once)
{
	struct wf_stack_cursor cursor = { 0 };
	size_t n = 0;
	int steps = 1;

	start(WF_GUARD_UNKNOWN);
	CHECK(!wf_stack_some(&stacks, &cursor, 7, count_owned, &n));
	for (int i = 0; i < 300; i++)
		get(NULL, i % 3);
	for (int round = 1; round <= 2; round++, steps = 1) {
		while (wf_stack_some(&stacks, &cursor, 7, count_owned, &n))
			steps++;
		CHECK_EQ(n, 300 * round);
		CHECK_EQ(steps, (300 + 6) / 7);
	}
	wf_stacks_fini(&stacks);
}

TEST(an_address_tells_its_stack_and_whether_it_is_in_the_guard)
{
	struct record *r[200];
	bool guard = false;

	start(WF_GUARD_UNKNOWN);
	for (int i = 0; i < 200; i++)
		r[i] = get(NULL, i % 3);
	for (int i = 0; i < 200; i++) {
		uintptr_t low = wf_stack_low(i % 3, r[i]);

		CHECK_EQ(wf_stack_find(&stacks, low, &guard), r[i]);
		CHECK(!guard);
		CHECK_EQ(wf_stack_find(&stacks, (uintptr_t)r[i] + sizeof(struct record) - 1,
				       &guard),
			 r[i]);
		CHECK(!guard);
		CHECK_EQ(wf_stack_find(&stacks, low - 1, &guard), r[i]);
		CHECK(guard);
		CHECK_EQ(wf_stack_find(&stacks, low - WF_GUARD_SIZE, &guard), r[i]);
		CHECK(guard);
	}
	CHECK_EQ(wf_stack_find(&stacks, (uintptr_t)&stacks, &guard), 0);
	CHECK_EQ(wf_stack_find(&stacks, 0, &guard), 0);
	CHECK_EQ(wf_stack_find(&stacks, UINTPTR_MAX, &guard), 0);
	wf_stacks_fini(&stacks);
}

static void trim(enum wf_guard_kind kind)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), used;
	struct record *r;
	uintptr_t low, sp;

	start(kind);
	r = get(NULL, stacks.usual);
	low = wf_stack_low(stacks.usual, r);
	CHECK(wf_stack_used(stacks.usual, r) < page);
	memset((void *)low, 0x5a, wf_stack_room(&stacks, stacks.usual));
	CHECK_EQ(wf_stack_used(stacks.usual, r), (uintptr_t)r - low);

	/* In the middle of the second page from above. */
	sp = ((uintptr_t)r & ~(page - 1)) - page / 2;
	used = wf_stack_trim(stacks.usual, r, sp);
	CHECK_EQ(used, (sp & ~(page - 1)) - low);
	CHECK_EQ(wf_stack_used(stacks.usual, r), (uintptr_t)r - (sp & ~(page - 1)));
	for (uintptr_t at = sp; at < (uintptr_t)r; at++)
		CHECK_EQ(*(unsigned char *)at, 0x5a);
	CHECK_EQ(r->owner, OWNED);
	CHECK_EQ(wf_stack_trim(stacks.usual, r, sp), 0);
	CHECK_EQ(*(volatile unsigned char *)low, 0);
	CHECK(!reachable(low - 8));
	CHECK(!reachable(low - WF_GUARD_SIZE));
	wf_stacks_fini(&stacks);
}

TEST(trimming_keeps_what_is_above_the_stack_pointer_and_the_guard)
{
	trim(WF_GUARD_UNKNOWN);
}

TEST(trimming_keeps_guards_by_mprotect)
{
	trim(WF_GUARD_MPROTECT);
}

TEST(the_depth_of_a_huge_stack_is_found)
{
	struct record *r;
	int class;

	start(WF_GUARD_UNKNOWN);
	class = wf_stack_class(&stacks, (size_t)100 << 20);
	r = get(NULL, class);
	*((volatile char *)r - (10 << 20)) = 1;
	CHECK(wf_stack_used(class, r) >= 10 << 20);
	CHECK(wf_stack_used(class, r) < (10 << 20) + 65536);
	CHECK_EQ(wf_stack_trim(class, r, (uintptr_t)r), sysconf(_SC_PAGESIZE));
	CHECK(wf_stack_used(class, r) < 65536);
	wf_stacks_fini(&stacks);
}

/* A stack needs one page, and the page table that eight of them share. */
TEST(a_stack_costs_the_pages_that_are_touched)
{
	enum { COUNT = 1000 };
	struct wf_stack_cache cache = { 0 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 0;

	start(WF_GUARD_UNKNOWN);
	for (int i = 0; i < COUNT; i++) {
		struct record *r = get(&cache, stacks.usual);

		pages += 1 + wf_stack_used(stacks.usual, r) / page;
	}
	CHECK_EQ(pages, COUNT);
	wf_stacks_fini(&stacks);
}

/* A walk over stacks made for a cache but not yet used must not see rubbish. */
static void must_be_free(void *record, void *arg)
{
	(void)arg;
	CHECK(((struct record *)record)->owner == 0);
}

TEST(stacks_that_nobody_has_used_are_zeros)
{
	struct wf_stack_cache cache = { 0 };
	struct record *r;

	start(WF_GUARD_UNKNOWN);
	r = get(&cache, stacks.usual);
	put(&cache, stacks.usual, r);
	wf_stack_each(&stacks, must_be_free, NULL);
	wf_stacks_fini(&stacks);
}

static int reports;
static char report_text[1000];

static void take_report(int kind, const char *text, void *arg)
{
	(void)kind;
	(void)arg;
	reports++;
	snprintf(report_text, sizeof report_text, "%s", text);
}

/* Gets stacks with every nth call to the kernel failing once: an error comes, and
 * the next try succeeds. */
static void fail_each(enum wf_guard_kind kind)
{
	int failed = 0;

	wf_report_to(take_report, NULL);
	for (long nth = 1;; nth++) {
		struct wf_stack_cache cache = { 0 };
		struct record *r[3 * WF_STACK_BUNCH];
		bool fired;

		start(kind);
		wf_fault_arm(nth);
		for (int i = 0; i < 3 * WF_STACK_BUNCH; i++) {
			int err = 0;

			r[i] = wf_stack_get(&stacks, i % 7 ? &cache : NULL, stacks.usual, &err);
			if (r[i] != NULL)
				continue;
			CHECK(err == -ENOMEM ||
			      (err == -EAGAIN && stacks.guard == WF_GUARD_MPROTECT));
			failed++;
			r[i] = get(&cache, stacks.usual);
		}
		for (int i = 0; i < 3 * WF_STACK_BUNCH; i++) {
			CHECK(reachable(wf_stack_low(stacks.usual, r[i])));
			CHECK(!reachable(wf_stack_low(stacks.usual, r[i]) - 8));
			wf_stack_put(&stacks, &cache, stacks.usual, r[i]);
		}
		fired = wf_fault_site() != NULL;
		wf_fault_arm(0);
		wf_stacks_fini(&stacks);
		if (!fired)
			break;
	}
	CHECK(failed > 0);
}

TEST(a_refusal_of_the_kernel_is_an_error_and_no_more)
{
	fail_each(WF_GUARD_UNKNOWN);
}

TEST(a_refusal_of_mprotect_is_an_error_and_no_more)
{
	fail_each(WF_GUARD_MPROTECT);
}

TEST(the_limit_of_mappings_is_told_once_with_advice)
{
	int err = 0;

	wf_report_to(take_report, NULL);
	start(WF_GUARD_MPROTECT);
	get(NULL, 0);
	for (int i = 0; i < 3; i++) {
		wf_fault_arm(1);
		CHECK_EQ(wf_stack_get(&stacks, NULL, 0, &err), 0);
		CHECK_EQ(err, -EAGAIN);
		wf_fault_arm(0);
	}
	CHECK_EQ(reports, 1);
	CHECK(strstr(report_text, "sysctl -w vm.max_map_count=") != NULL);
	get(NULL, 0);
	wf_stacks_fini(&stacks);
}

TEST(a_limit_on_address_space_leaves_most_for_others)
{
	struct rlimit as = { (rlim_t)8 << 30, (rlim_t)8 << 30 };
	struct wf_stack_cache cache = { 0 };
	void *other;

#if defined(WF_ASAN) || defined(WF_TSAN)
	SKIP("the sanitizer's own maps are beyond any limit");
#endif
	CHECK_EQ(setrlimit(RLIMIT_AS, &as), 0);
	start(WF_GUARD_UNKNOWN);
	for (int i = 0; i < 4000; i++)
		get(&cache, stacks.usual);
	other = mmap(NULL, (size_t)5 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(other != MAP_FAILED);
	wf_stacks_fini(&stacks);
}

TEST_MAIN
