/* backends: both */
/* Tamed functions that compute after a wait: what the kernel brings for others goes on, as it does for
 * threads (threads/compute.c). */
#include "tame/common.h"

#include <stdatomic.h>

#include <weft/tame_events.h>

#include "base/capacity.h"

enum { BEATS = 20, WORKERS = 2 };

static atomic_int computing, ended;
static atomic_bool seen;
static int count;

static tamed beat(void)
{
	int beats = 0;

	while (beats < BEATS) {
		twait {
			weft_sleep_ev(WEFT_MS, mkevent());
		}
		beats += atomic_load(&computing) == count;
	}
	atomic_store(&seen, true);
}

static tamed compute(void)
{
	twait {
		weft_sleep_ev(WEFT_MS, mkevent());
	}
	atomic_fetch_add(&computing, 1);
	while (!atomic_load_explicit(&seen, memory_order_relaxed))
		continue;
	atomic_fetch_add(&ended, 1);
}

static void begin_beat(void *unused)
{
	(void)unused;
	beat();
}

static void begin_compute(void *unused)
{
	(void)unused;
	compute();
}

static int start_all(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_post(weft_color_new(), begin_beat, NULL), 0);
	for (int i = 0; i < count; i++)
		CHECK_EQ(weft_post(weft_color_new(), begin_compute, NULL), 0);
	return 0;
}

TEST(a_tamed_sleep_ends_while_tamed_functions_compute)
{
	weft_options opt = { .workers = WORKERS };

	catch_reports();
	count = WF_WORKERS_LIMIT(WORKERS) - 3 < 24 ? WF_WORKERS_LIMIT(WORKERS) - 3 : 24;
	CHECK_EQ(weft_run(start_all, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&ended), count);
}

TEST_MAIN
