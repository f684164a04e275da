/* Threads that do anything at random, on several workers: all end, each once, with
 * the right result, and a color's threads never run at the same time.
 */
#include "base/compiler.h"
#include "scheduler/common.h"

#ifdef WF_TSAN
enum { COLORS = 8, THREADS = 20 };
#else
enum { COLORS = 8, THREADS = 200 };
#endif

static atomic_int inside[COLORS];
static atomic_long started, ended;

static void be_alone(weft_color c)
{
	CHECK_EQ(atomic_fetch_add(&inside[c], 1), 0);
	CHECK_EQ(weft_color_current(), c);
	CHECK_EQ(atomic_fetch_sub(&inside[c], 1), 1);
}

struct task {
	uint64_t random;
	int depth;
};

static int act(void *arg);

static struct task *task_new(uint64_t *random, int depth)
{
	struct task *t = malloc(sizeof *t);

	CHECK(t != NULL);
	t->random = test_random(random);
	t->depth = depth;
	return t;
}

static void start_and_join(uint64_t *random, int depth)
{
	weft_thread_attr attr = { .on = true, .color = random_below(random, COLORS) };
	weft_thread *child[4];
	int n = 1 + (int)random_below(random, 4);

	for (int i = 0; i < n; i++) {
		attr.priority = (uint8_t)random_below(random, 4);
		atomic_fetch_add(&started, 1);
		CHECK_EQ(weft_thread_start(&child[i], &attr, act, task_new(random, depth)), 0);
	}
	for (int i = 0; i < n; i++) {
		int result, rc;

		if (random_below(random, 8) == 0) {
			CHECK_EQ(weft_detach(child[i]), 0);
			continue;
		}
		rc = weft_join_until(child[i], &result, weft_now() + random_below(random, 50000));
		if (rc == -ETIMEDOUT)
			rc = weft_join(child[i], &result);
		CHECK_EQ(rc, 0);
		CHECK_EQ(result, depth);
	}
}

static void act_once(struct task *task)
{
	switch (random_below(&task->random, 6)) {
	case 0:
		CHECK_EQ(weft_sleep(random_below(&task->random, 100000)), 0);
		break;
	case 1:
		CHECK_EQ(weft_hop(random_below(&task->random, COLORS)), 0);
		break;
	case 2:
		if (task->depth > 0)
			start_and_join(&task->random, task->depth - 1);
		break;
	default:
		CHECK_EQ(weft_yield(), 0);
	}
}

static int act(void *arg)
{
	struct task *task = arg;
	int depth = task->depth;

	for (int i = 0; i < 10; i++) {
		be_alone(weft_color_current());
		act_once(task);
		be_alone(weft_color_current());
	}
	free(task);
	atomic_fetch_add(&ended, 1);
	return depth;
}

static int start_all(void *seed)
{
	uint64_t random = *(uint64_t *)seed;
	int n = TEST_SIZE(THREADS);

	for (int i = 0; i < n; i++) {
		atomic_fetch_add(&started, 1);
		CHECK_EQ(weft_go_on(random_below(&random, COLORS), act, task_new(&random, 3)), 0);
	}
	return 1;
}

static void stress(int workers, int batch)
{
	weft_options opt = { .workers = workers, .batch = batch };
	uint64_t seed = TEST_SEED;

	CHECK_EQ(weft_run(start_all, &seed, &opt), 1);
	CHECK_EQ(atomic_load(&ended), atomic_load(&started));
}

TEST(random_threads_all_end_on_one_worker)
{
	stress(1, 10);
}

TEST(random_threads_all_end_on_many_workers)
{
	stress(4, 3);
}

TEST_MAIN
