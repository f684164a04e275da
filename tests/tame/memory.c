/* Memory for closures and events: pieces do not touch each other, are used again, and keep what
 * tells of misuse while they are free. */
#include "handmade.h"

#include "base/fault.h"

enum { PIECES = 40 };
static char *pieces[PIECES];

static void get_all(enum wf_tame_kind kind, size_t size)
{
	for (int i = 0; i < PIECES; i++) {
		pieces[i] = wf_tame_get(wf_worker_self(), kind, size, true);
		CHECK_EQ((uintptr_t)pieces[i] % 16, 0);
		memset(pieces[i], i + 1, size);
	}
	for (int i = 0; i < PIECES; i++)
		for (size_t k = 0; k < size; k++)
			CHECK_EQ(pieces[i][k], i + 1);
}

static void put_all(enum wf_tame_kind kind, size_t size)
{
	for (int i = 0; i < PIECES; i++) {
		memset(pieces[i], 0, size); /* as a closure that is none */
		wf_tame_put(wf_worker_self(), kind, size, pieces[i]);
	}
}

static int all_sizes(void *unused)
{
	(void)unused;
	for (size_t size = sizeof(weft_tame_closure); size < 700; size += 7)
		for (int kind = 0; kind < WF_TAME_KINDS; kind++) {
			get_all(kind, size);
			put_all(kind, size);
			get_all(kind, size);
			put_all(kind, size);
		}
	for (size_t size = 700; size < 40000; size += size / 5) {
		get_all(WF_TAME_EVENTS, size);
		put_all(WF_TAME_EVENTS, size);
		get_all(WF_TAME_EVENTS, size);
		put_all(WF_TAME_EVENTS, size);
	}
	CHECK_EQ(events(), 0);
	CHECK_EQ(closures(), 0);
	return 0;
}

TEST(pieces_of_all_sizes_lie_apart)
{
	CHECK_EQ(run_on(1, all_sizes, NULL), 0);
	CHECK_EQ(run_on(1, all_sizes, NULL), 0);
}

TEST(pieces_of_all_sizes_lie_apart_without_checks)
{
	setenv("WEFT_TAME", "no", 1);
	CHECK_EQ(run_on(1, all_sizes, NULL), 0);
	CHECK_EQ(run_on(1, all_sizes, NULL), 0);
}

static int again(void *expected)
{
	void *first = wf_tame_get(wf_worker_self(), WF_TAME_EVENTS, 100, true), *second;
	int tries = 0;

	wf_tame_put(wf_worker_self(), WF_TAME_EVENTS, 100, first);
	do {
		second = wf_tame_get(wf_worker_self(), WF_TAME_EVENTS, 100, true);
		wf_tame_put(wf_worker_self(), WF_TAME_EVENTS, 100, second);
		tries++;
	} while (second != first);
	if ((intptr_t)expected == 1)
		CHECK_EQ(tries, 1);
	else
		CHECK(tries >= (intptr_t)expected);
	return 0;
}

TEST(what_was_freed_is_used_again)
{
	setenv("WEFT_TAME", "no", 1);
	CHECK_EQ(run_on(1, again, (void *)1), 0);
}

TEST(what_was_freed_is_kept_out_of_use_for_a_while_if_checks_are_asked_for)
{
	CHECK_EQ(run_on(1, again, (void *)WF_TAME_QUARANTINE), 0);
}

static int keeps_its_content(void *unused)
{
	char *at = wf_tame_get(wf_worker_self(), WF_TAME_EVENTS, 100, true);

	(void)unused;
	memset(at, 7, 100);
	wf_tame_put(wf_worker_self(), WF_TAME_EVENTS, 100, at);
	/* ASan is told that nobody reads the rest. */
	for (unsigned i = 0; i < sizeof(weft_tame_closure); i++)
		CHECK_EQ(at[i], 7);
	return 0;
}

TEST(what_is_free_keeps_its_content)
{
	setenv("WEFT_TAME", "no", 1);
	CHECK_EQ(run_on(1, keeps_its_content, NULL), 0);
}

/* Whoever lists closures meets those that are being made. */
static int lists_while_one_is_made(void *unused)
{
	static const size_t sizes[] = { 100, 50000 };

	(void)unused;
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		weft_tame_closure *c;
		void *dirt = malloc(sizes[i] + 32);

		memset(dirt, 0x5a, sizes[i] + 32);
		free(dirt);
		c = wf_tame_get(wf_worker_self(), WF_TAME_CLOSURES, sizes[i], false);
		CHECK_EQ(closures(), 0);
		c->function_ = NULL;
		wf_tame_put(wf_worker_self(), WF_TAME_CLOSURES, sizes[i], c);
	}
	return 0;
}

TEST(a_closure_is_listed_when_it_has_a_function)
{
	CHECK_EQ(run_on(1, lists_while_one_is_made, NULL), 0);
}

/* From one worker to another, and to foreign threads. */
static void *_Atomic passed;
static _Atomic long put_elsewhere;
static long passes;

static void *put_passed(void *unused)
{
	(void)unused;
	CHECK_EQ(wf_enter(), 0);
	while (atomic_load(&put_elsewhere) < passes) {
		char *at = atomic_exchange(&passed, NULL);

		if (at == NULL) {
			sched_yield();
			continue;
		}
		CHECK_EQ(at[50], 9);
		wf_tame_put(NULL, WF_TAME_EVENTS, 100, at);
		atomic_fetch_add(&put_elsewhere, 1);
	}
	wf_leave();
	return NULL;
}

static int pass_on(void *unused)
{
	pthread_t thread = thread_start(put_passed, NULL);

	(void)unused;
	for (long i = 0; i < passes; i++) {
		char *at = wf_tame_get(wf_worker_self(), WF_TAME_EVENTS, 100, true);

		memset(at, 9, 100);
		WAIT_FOR(atomic_load(&passed) == NULL);
		atomic_store(&passed, at);
	}
	thread_join(thread);
	CHECK_EQ(events(), 0);
	return 0;
}

TEST(what_a_foreign_thread_frees_is_used_again)
{
	passes = TEST_SIZE(10000);
	setenv("WEFT_TAME", "no", 1);
	CHECK_EQ(run_on(1, pass_on, NULL), 0);
}

/* Without address space for a pool: events have memory all the same, closures do not. */
static int no_pools(void *unused)
{
	(void)unused;
	wf_fault_arm(1);
	CHECK(wf_tame_get(wf_worker_self(), WF_TAME_CLOSURES, 100, false) == NULL);
	wf_fault_arm(1);
	CHECK(wf_tame_get(wf_worker_self(), WF_TAME_EVENTS, 100, false) == NULL);
	wf_fault_arm(1);
	get_all(WF_TAME_EVENTS, 100);
	put_all(WF_TAME_EVENTS, 100);
	get_all(WF_TAME_EVENTS, 100); /* some are left to the end of the run */
	return 0;
}

TEST(events_have_memory_without_a_pool)
{
	CHECK_EQ(run_on(1, no_pools, NULL), 0);
	CHECK_EQ(run_on(1, all_sizes, NULL), 0);
}

TEST(events_have_memory_without_a_pool_and_without_checks)
{
	setenv("WEFT_TAME", "no", 1);
	CHECK_EQ(run_on(1, no_pools, NULL), 0);
	CHECK_EQ(run_on(1, all_sizes, NULL), 0);
}

TEST_MAIN
