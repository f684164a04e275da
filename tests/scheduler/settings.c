/* Settings: the struct, the environment that wins over it, and what is wrong. */
#include "common.h"

#include "scheduler/runtime.h"

/* What the tests' own environment sets must not decide here. */
__attribute__((constructor)) static void forget_environment(void)
{
	unsetenv("WEFT_IO");
	unsetenv("WEFT_WORKERS");
	unsetenv("WEFT_STEAL");
}

static void refused(const weft_options *opt, const char *name)
{
	int before = atomic_load(&caught.count[WEFT_REPORT_SETTING]);

	CHECK_EQ(weft_run(nothing_to_do, NULL, opt), -EINVAL);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_SETTING]), before + 1);
	CHECK(reported(WEFT_REPORT_SETTING, name));
}

TEST(a_wrong_value_in_the_environment_is_refused_by_name)
{
	static const struct {
		const char *name, *value;
	} wrong[] = {
		{ "WEFT_WORKERS", "x" },
		{ "WEFT_WORKERS", "-1" },
		{ "WEFT_WORKERS", "1025" },
		{ "WEFT_WORKERS", "" },
		{ "WEFT_WORKERS", "3 " },
		{ "WEFT_WORKERS", "0x10" },
		{ "WEFT_WORKERS", "99999999999999999999" },
		{ "WEFT_IO", "select" },
		{ "WEFT_IO", "" },
		{ "WEFT_BATCH", "-1" },
		{ "WEFT_BATCH", "many" },
		{ "WEFT_STEAL", "sometimes" },
		{ "WEFT_STEAL", "" },
		{ "WEFT_STEAL", "time+" },
		{ "WEFT_STEAL", "off+time" },
		{ "WEFT_STEAL_COST", "-5" },
		{ "WEFT_STEAL_COST", "1s" },
		{ "WEFT_STALL_MS", "soon" },
		{ "WEFT_STALL_MS", "99999999999" },
		{ "WEFT_OFFLOAD_MAX", "-3" },
		{ "WEFT_OFFLOAD_MAX", "1e3" },
		{ "WEFT_STACK_SIZE", "256k" },
		{ "WEFT_STACK_SIZE", "-1" },
		{ "WEFT_MAX_COLORS", "-1" },
		{ "WEFT_MAX_COLORS", "9223372036854775808" },
		{ "WEFT_COLOR_DEPTH", "-1" },
		{ "WEFT_COLOR_DEPTH", "4294967296" },
		{ "WEFT_QUEUE_DEPTH", "-1" },
		{ "WEFT_QUEUE_DEPTH", "deep" },
		{ "WEFT_QUEUE_DELAY_MS", "-1" },
		{ "WEFT_QUEUE_DELAY_MS", "1.5" },
	};

	catch_reports();
	for (size_t i = 0; i < WF_COUNT(wrong); i++) {
		setenv(wrong[i].name, wrong[i].value, 1);
		refused(NULL, wrong[i].name);
		CHECK(reported(WEFT_REPORT_SETTING, wrong[i].value));
		unsetenv(wrong[i].name);
	}
	CHECK_EQ(weft_run(nothing_to_do, NULL, NULL), 0);
}

TEST(a_wrong_option_is_refused_by_name)
{
	catch_reports();
	refused(&(weft_options){ .workers = -1 }, "weft_options.workers is");
	refused(&(weft_options){ .workers = 1025 }, "weft_options.workers is");
	refused(&(weft_options){ .io = "kqueue" }, "weft_options.io is");
	refused(&(weft_options){ .batch = -1 }, "weft_options.batch is");
	refused(&(weft_options){ .steal = "maybe" }, "weft_options.steal is");
	refused(&(weft_options){ .steal_cost_ns = UINT64_MAX }, "weft_options.steal_cost_ns is");
	refused(&(weft_options){ .stall_ms = 10000000 }, "weft_options.stall_ms is");
	refused(&(weft_options){ .offload_max = -1 }, "weft_options.offload_max is");
	refused(&(weft_options){ .stack_size = SIZE_MAX }, "weft_options.stack_size is");
	refused(&(weft_options){ .max_colors = SIZE_MAX }, "weft_options.max_colors is");
	refused(&(weft_options){ .reserved = { 0, 0, 1 } }, "reserved[2]");
	CHECK_EQ(weft_run(nothing_to_do, NULL, NULL), 0);
}

static struct wf_settings set;

TEST(zeros_mean_the_documented_defaults)
{
	CHECK_EQ(wf_settings_read(&set, NULL, WEFT_HERE), 0);
	CHECK_EQ(set.opt.workers, 0);
	CHECK_EQ(set.opt.batch, 10);
	CHECK_EQ(set.opt.stall_ms, 10);
	CHECK_EQ(set.opt.offload_max, 64);
	CHECK_EQ(set.opt.stack_size, 184 << 10);
	CHECK_EQ(set.steal, WF_STEAL_ALL);
	CHECK_STR(set.opt.steal, "all");
	CHECK_STR(set.opt.sysfs, "/sys");
}

TEST(the_environment_wins_over_the_struct)
{
	weft_options opt = { .workers = 7,
			     .io = "uring",
			     .batch = 8,
			     .steal = "off",
			     .steal_cost_ns = 9,
			     .stall_ms = 11,
			     .offload_max = 12,
			     .stack_size = 13,
			     .max_colors = 14,
			     .color_depth = 15,
			     .queue_depth = 16,
			     .queue_delay_ms = 17 };

	CHECK_EQ(wf_settings_read(&set, &opt, WEFT_HERE), 0);
	CHECK_EQ(set.opt.workers, 7);
	CHECK_STR(set.opt.io, "uring");
	CHECK_EQ(set.steal, 0);
	CHECK_EQ(set.opt.queue_delay_ms, 17);
	setenv("WEFT_WORKERS", "2", 1);
	setenv("WEFT_IO", "epoll", 1);
	setenv("WEFT_BATCH", "3", 1);
	setenv("WEFT_STEAL", "locality+time", 1);
	setenv("WEFT_STEAL_COST", "4", 1);
	setenv("WEFT_STALL_MS", "5", 1);
	setenv("WEFT_OFFLOAD_MAX", "6", 1);
	setenv("WEFT_STACK_SIZE", "65536", 1);
	setenv("WEFT_MAX_COLORS", "1000000", 1);
	setenv("WEFT_COLOR_DEPTH", "21", 1);
	setenv("WEFT_QUEUE_DEPTH", "22", 1);
	setenv("WEFT_QUEUE_DELAY_MS", "23", 1);
	CHECK_EQ(wf_settings_read(&set, &opt, WEFT_HERE), 0);
	CHECK_EQ(set.opt.workers, 2);
	CHECK_STR(set.opt.io, "epoll");
	CHECK_EQ(set.opt.batch, 3);
	CHECK_EQ(set.steal, WF_STEAL_ON | WF_STEAL_LOCALITY | WF_STEAL_TIME);
	CHECK_EQ(set.opt.steal_cost_ns, 4);
	CHECK_EQ(set.opt.stall_ms, 5);
	CHECK_EQ(set.opt.offload_max, 6);
	CHECK_EQ(set.opt.stack_size, 65536);
	CHECK_EQ(set.opt.max_colors, 1000000);
	CHECK_EQ(set.opt.color_depth, 21);
	CHECK_EQ(set.opt.queue_depth, 22);
	CHECK_EQ(set.opt.queue_delay_ms, 23);
}

static int count_workers(void *unused)
{
	(void)unused;
	return weft_workers();
}

TEST(as_many_workers_run_as_were_asked_for)
{
	weft_options opt = { .workers = 3 };

	CHECK_EQ(weft_run(count_workers, NULL, &opt), 3);
	setenv("WEFT_WORKERS", "5", 1);
	CHECK_EQ(weft_run(count_workers, NULL, &opt), 5);
	unsetenv("WEFT_WORKERS");
	CHECK(weft_run(count_workers, NULL, NULL) >= 1);
}

TEST(any_negative_time_switches_the_search_for_stalls_off)
{
	weft_options opt = { .stall_ms = -7 };

	CHECK_EQ(wf_settings_read(&set, &opt, WEFT_HERE), 0);
	CHECK(set.opt.stall_ms < 0);
	CHECK_EQ(weft_run(nothing_to_do, NULL, &opt), 0);
}

TEST_MAIN
