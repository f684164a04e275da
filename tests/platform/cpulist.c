/* Lists of CPUs are read strictly. */
#include "platform/cpulist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/test.h"

static struct wf_cpuset set;

static int parse(const char *text)
{
	return wf_cpulist_parse(text, strlen(text), &set);
}

TEST(a_list_names_exactly_its_cpus)
{
	CHECK_EQ(parse("0-3,8,10-11\n"), 7);
	for (int cpu = 0; cpu < 64; cpu++)
		CHECK_EQ(wf_cpuset_has(&set, cpu), cpu <= 3 || cpu == 8 || cpu == 10 || cpu == 11);
	CHECK_EQ(wf_cpuset_next(&set, 0), 0);
	CHECK_EQ(wf_cpuset_next(&set, 4), 8);
	CHECK_EQ(wf_cpuset_next(&set, 12), -1);
}

TEST(an_empty_list_is_a_list)
{
	CHECK_EQ(parse(""), 0);
	CHECK_EQ(parse("\n"), 0);
	CHECK_EQ(wf_cpuset_next(&set, 0), -1);
}

TEST(the_highest_cpu_possible_is_read)
{
	CHECK_EQ(parse("8191"), 1);
	CHECK_EQ(wf_cpuset_next(&set, 0), 8191);
	CHECK_EQ(wf_cpuset_next(&set, WF_CPU_LIMIT), -1);
	CHECK_EQ(parse("0-8191\n"), 8192);
	CHECK_EQ(parse("8192"), -ERANGE);
	CHECK_EQ(parse("99999999999999999999"), -ERANGE);
}

TEST(anything_else_is_refused_and_leaves_an_empty_set)
{
	static const char *const wrong[] = {
		",",     "0,",  ",0",    "0,,1",  "-",  "0-",   "-1",    "3-1",
		"0-2-4", "1,0", "1,1",   "0-3,2", " 0", "0 ",   "0\n\n", "\n0",
		"0x1",   "a",   "0-3:1", "0;1",   "+1", "0,-1", "\n\n",
	};

	for (size_t i = 0; i < WF_COUNT(wrong); i++) {
		CHECK_EQ(parse(wrong[i]), -EINVAL);
		CHECK_EQ(wf_cpuset_next(&set, 0), -1);
	}
	CHECK_EQ(wf_cpulist_parse("0\0", 2, &set), -EINVAL);
}

/* Random bytes from the letters of the language: what is accepted, written out
 * again, is the same set. */
TEST(random_text_is_refused_or_read_back_the_same)
{
	static const char letters[] = "0123456789-,\n";
	uint64_t random = TEST_SEED;

	for (int round = 0; round < TEST_SIZE(300000); round++) {
		char text[12], again[4096];
		size_t size = test_random(&random) % sizeof text, used = 0;
		struct wf_cpuset other;
		int n;

		for (size_t i = 0; i < size; i++)
			text[i] = letters[test_random(&random) % (sizeof letters - 1)];
		n = wf_cpulist_parse(text, size, &set);
		if (n < 0 || n > 500)
			continue;
		for (int c = wf_cpuset_next(&set, 0); c >= 0; c = wf_cpuset_next(&set, c + 1))
			used += (size_t)snprintf(again + used, sizeof again - used, "%s%d",
						 used ? "," : "", c);
		CHECK_EQ(wf_cpulist_parse(again, used, &other), n);
		CHECK(memcmp(&set, &other, sizeof set) == 0);
	}
}

TEST_MAIN
