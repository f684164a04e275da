/* Blocks in numbers: one after the other, all at once, on all workers, and short of memory. */
#include "async/blocks.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "base/fault.h"
#ifdef __cplusplus
}
#endif

BLOCK_TEST(finish_blocks_one_after_the_other_use_the_same_stacks)
{
	weft_thread *seen[2] = { NULL, NULL };
	int distinct = 0;

	for (int i = 0; i < TEST_SIZE(20000); i++) {
		weft_finish (q) {
			weft_async
			{
				weft_thread *me = weft_self();
				int k = 0;

				while (k < distinct && seen[k] != me)
					k++;
				if (k == distinct) {
					CHECK(distinct < 2);
					seen[distinct++] = me;
				}
				weft_yield();
			};
		}
	}
	CHECK(distinct > 0);
	return 0;
}

BLOCK_TEST(thousands_of_blocks_wait_at_once)
{
	int n = TEST_SIZE(5000), waiting = 0, sum = 0;
	bool go = false;

	weft_finish (q) {
		for (int i = 0; i < n; i++) {
			weft_async_own (i) {
				waiting++;
				while (!go)
					weft_yield();
				sum += i % 10;
				waiting--;
			};
		}
		CHECK_EQ(waiting, n);
		go = true;
	}
	CHECK_EQ(waiting, 0);
	CHECK_EQ(sum, n / 10 * 45);
	return 0;
}

BLOCK_TEST(blocks_that_hop_run_beside_the_others_and_finish_waits_for_them)
{
	weft_mutex lock = WEFT_MUTEX_INIT;
	int sum = 0;

	weft_finish (q) {
		for (int i = 0; i < 50; i++) {
			weft_async_own (i) {
				CHECK_EQ(weft_hop(weft_color_new()), 0);
				yield_times(i % 3);
				CHECK_EQ(weft_mutex_lock(&lock), 0);
				sum += i;
				CHECK_EQ(weft_mutex_unlock(&lock), 0);
			};
		}
	}
	CHECK_EQ(sum, 1225);
	return 0;
}

static int busy(void *arg)
{
	int n = (int)(intptr_t)arg, sum = 0;

	for (int round = 0; round < TEST_SIZE(100); round++) {
		int mine = 0;

		weft_finish (q) {
			for (int i = 0; i < 10; i++) {
				weft_async_own (i) {
					if ((i + round + n) % 3 == 0)
						weft_yield();
					mine += i;
				};
			}
		}
		CHECK_EQ(mine, 45);
		sum += mine;
	}
	return sum;
}

BLOCK_TEST(threads_of_all_colors_have_blocks_at_the_same_time)
{
	weft_thread *threads[8];

	for (intptr_t i = 0; i < 8; i++) {
		weft_thread_attr attr;

		memset(&attr, 0, sizeof attr);
		attr.on = true;
		attr.color = weft_color_new();
		CHECK_EQ(weft_thread_start(&threads[i], &attr, busy, (void *)i), 0);
	}
	for (int i = 0; i < 8; i++) {
		int result = 0;

		CHECK_EQ(weft_join(threads[i], &result), 0);
		CHECK_EQ(result, TEST_SIZE(100) * 45);
	}
	return 0;
}

static int in_place;

/* A block that runs in place must not lie where the next one is made. */
static __attribute__((noinline)) void start_another(int *sum)
{
	struct {
		int a[20];
	} other;

	memset(&other, 1, sizeof other);
	weft_finish (q) {
		weft_async_own (other) {
			*sum += other.a[19] == 0x01010101;
		};
	}
}

static int short_of_memory(void *arg)
{
	enum { N = 20 };
	weft_thread *self = weft_self();
	struct {
		int a[10];
	} own = { { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } };
	int sum = 0, ended = 0;

	wf_fault_arm(*(long *)arg);
	weft_finish (q) {
		for (int i = 0; i < N; i++) {
			weft_async_own (i, own) {
				weft_thread *me = weft_self();

				sum += i % 10 + own.a[i % 10];
				own.a[5] = 0;
				in_place += me == self;
				weft_finish (inner) {
					weft_async_own (i, own) {
						in_place += weft_self() == me;
						start_another(&sum);
						sum += opaque(own.a[5]) + i % 10;
						yield_times(i % 3);
					};
				}
				sum += own.a[6];
				ended++;
			};
		}
	}
	*(long *)arg = wf_fault_count();
	wf_fault_arm(0);
	CHECK_EQ(ended, N);
	CHECK_EQ(sum, N / 10 * (45 + 55 + 45 + 70 + 10));
	return 0;
}

/* The nth call for memory fails, for every n. Large stacks are mapped a few at a time. */
TEST(without_memory_for_a_stack_a_block_runs_in_place)
{
	long nth = 0, calls;
	weft_options opt;

	memset(&opt, 0, sizeof opt);
	opt.stack_size = 4 << 20;
	do {
		calls = ++nth;
		CHECK_EQ(weft_run(short_of_memory, &calls, &opt), 0);
	} while (calls >= nth);
	CHECK(in_place > 0);
}

TEST_PART_MAIN
