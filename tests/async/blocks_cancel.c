/* Blocks and cancelling: by name, through what is nested, and nothing is lost. */
#include "async/blocks.h"

#define AN_HOUR (3600 * WEFT_SEC)

/* The timeout idiom: whoever comes first ends the other's wait. */
BLOCK_TEST(the_first_of_two_ends_the_wait_of_the_other)
{
	int slept = 1, got = 1;

	weft_finish (q) {
		weft_async
		{
			slept = weft_sleep(AN_HOUR);
			weft_cancel(q);
		};
		weft_async
		{
			weft_yield();
			got = 0;
			weft_cancel(q);
		};
	}
	CHECK_EQ(slept, -ECANCELED);
	CHECK_EQ(got, 0);
	return 0;
}

BLOCK_TEST(cancelling_an_inner_block_leaves_the_outer_alone)
{
	int outside = 1, inside = 1, rc = 1;

	weft_finish (outer, &rc) {
		weft_async
		{
			outside = weft_sleep(1000);
		};
		weft_finish (inner) {
			weft_async
			{
				inside = weft_sleep(AN_HOUR);
			};
			weft_cancel(inner);
		}
		CHECK_EQ(inside, -ECANCELED);
		CHECK(!weft_cancelled());
	}
	CHECK_EQ(outside, 0);
	CHECK_EQ(rc, 0);
	return 0;
}

BLOCK_TEST(without_a_name_the_innermost_block_is_cancelled)
{
	int outside = 1, inside = 1, rc = 1;

	weft_finish (outer, &rc) {
		weft_async
		{
			outside = weft_sleep(1000);
		};
		weft_finish (inner) {
			weft_async
			{
				inside = weft_sleep(AN_HOUR);
			};
			CHECK_EQ(weft_cancel(), 0);
			CHECK_EQ(weft_cancel(inner), -EALREADY);
		}
		CHECK(!weft_cancelled());
	}
	CHECK_EQ(inside, -ECANCELED);
	CHECK_EQ(outside, 0);
	CHECK_EQ(rc, 0);
	return 0;
}

/* The block goes on when the code around it is at its end, and waits for the block. */
BLOCK_TEST(without_a_name_a_block_cancels_the_finish_block_that_it_was_started_in)
{
	int waits[4] = { 1, 1, 1, 1 }, rc = 1;

	weft_finish (outer, &rc) {
		weft_finish () {
			for (int i = 0; i < 4; i++) {
				weft_async_own (i) {
					waits[i] = weft_sleep(AN_HOUR);
				};
			}
			weft_async
			{
				weft_yield();
				weft_yield();
				CHECK_EQ(weft_cancel(), 0);
			};
		}
		CHECK(!weft_cancelled());
	}
	for (int i = 0; i < 4; i++)
		CHECK_EQ(waits[i], -ECANCELED);
	CHECK_EQ(rc, 0);
	return 0;
}

BLOCK_TEST(a_finish_block_in_an_async_block_is_the_innermost_there)
{
	int deep = 1, beside = 1;

	weft_finish () {
		weft_async
		{
			weft_finish () {
				weft_async
				{
					deep = weft_sleep(AN_HOUR);
				};
				weft_cancel();
			}
			CHECK(!weft_cancelled());
		};
		weft_async
		{
			beside = weft_sleep(1000);
		};
	}
	CHECK_EQ(deep, -ECANCELED);
	CHECK_EQ(beside, 0);
	return 0;
}

BLOCK_TEST(errors_deadlines_and_shields_need_no_name_either)
{
	int failed = 1, late = 1, slept = 1, around = 1;

	weft_finish (q, &failed) {
		weft_async
		{
			weft_yield();
			CHECK_EQ(weft_fail(-EBADMSG), 0);
		};
		CHECK_EQ(weft_sleep(AN_HOUR), -ECANCELED);
	}
	weft_finish (q, &late) {
		CHECK_EQ(weft_deadline(1), 0);
		CHECK_EQ(weft_sleep(AN_HOUR), -ECANCELED);
	}
	weft_finish (q, &around) {
		weft_shield
		{
			weft_cancel();
			slept = weft_sleep(AN_HOUR);
		}
		CHECK(!weft_cancelled());
	}
	CHECK_EQ(failed, -EBADMSG);
	CHECK_EQ(late, -ETIMEDOUT);
	CHECK_EQ(slept, -ECANCELED);
	CHECK_EQ(around, 0);
	return 0;
}

static int wait_below(int depth)
{
	int rc = 0;

	if (depth == 0)
		return weft_sleep(AN_HOUR);
	weft_finish (q) {
		weft_async
		{
			rc = wait_below(depth - 1);
		};
	}
	return rc;
}

BLOCK_TEST(cancelling_reaches_what_is_nested_except_a_shield)
{
	int deep = 1, shielded = 1, after = 1;

	weft_finish (q) {
		weft_async
		{
			deep = wait_below(5);
		};
		weft_async
		{
			weft_shield
			{
				shielded = weft_sleep(1000);
			}
			after = weft_sleep(AN_HOUR);
		};
		weft_cancel(q);
	}
	CHECK_EQ(deep, -ECANCELED);
	CHECK_EQ(shielded, 0);
	CHECK_EQ(after, -ECANCELED);
	return 0;
}

BLOCK_TEST(a_block_that_is_started_when_all_is_cancelled_runs_and_finds_it_so)
{
	int rc = 1;
	bool ran = false;

	weft_finish (q) {
		weft_cancel(q);
		weft_async
		{
			ran = weft_cancelled();
			rc = weft_sleep(1);
		};
	}
	CHECK(ran);
	CHECK_EQ(rc, -ECANCELED);
	return 0;
}

BLOCK_TEST(a_deadline_ends_the_waits_and_is_the_result)
{
	int slept = 1, rc = 1;

	weft_finish (q, &rc) {
		weft_deadline(q, 1);
		weft_async
		{
			slept = weft_sleep(AN_HOUR);
		};
	}
	CHECK_EQ(slept, -ECANCELED);
	CHECK_EQ(rc, -ETIMEDOUT);
	return 0;
}

BLOCK_TEST(a_limit_below_1_is_over_at_once_and_a_huge_one_never)
{
	const int64_t limits[] = { 0, -1, INT32_MIN, INT64_MIN };
	int rc = 1;

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		int slept = 1;

		weft_finish (q, &rc) {
			weft_deadline(q, limits[i]);
			slept = weft_sleep(AN_HOUR);
		}
		CHECK_EQ(slept, -ECANCELED);
		CHECK_EQ(rc, -ETIMEDOUT);
	}
	weft_finish (q, &rc) {
		weft_deadline(q, INT64_MAX);
		weft_yield();
		CHECK(!weft_cancelled());
	}
	CHECK_EQ(rc, 0);
	return 0;
}

BLOCK_TEST(what_was_delivered_before_the_cancel_arrives)
{
	weft_channel *c = weft_channel_new(sizeof(int), 0);
	int got = 0, rc = 1, value = 7;

	CHECK(c != NULL);
	weft_finish (q) {
		weft_async
		{
			rc = weft_channel_receive(c, &got);
		};
		CHECK_EQ(weft_channel_send(c, &value), 0);
		weft_cancel(q);
	}
	CHECK_EQ(rc, 0);
	CHECK_EQ(got, 7);
	weft_channel_free(c);
	return 0;
}

BLOCK_TEST(a_message_sent_after_the_cancel_is_kept_for_the_next)
{
	weft_channel *c = weft_channel_new(sizeof(int), 1);
	int got = 0, rc = 1, value = 7;

	CHECK(c != NULL);
	weft_finish (outer) {
		weft_finish (q) {
			weft_async
			{
				rc = weft_channel_receive(c, &got);
			};
			weft_cancel(q);
			weft_shield
			{
				CHECK_EQ(weft_channel_send(c, &value), 0);
			}
		}
		CHECK_EQ(rc, -ECANCELED);
		CHECK_EQ(got, 0);
		CHECK_EQ(weft_channel_receive(c, &got), 0);
	}
	CHECK_EQ(got, 7);
	weft_channel_free(c);
	return 0;
}

BLOCK_TEST(a_block_that_has_not_waited_may_yield_to_another)
{
	char text[8] = "", *end = text;
	weft_thread *first = NULL;

	weft_finish (q) {
		weft_async
		{
			first = weft_self();
			*end++ = 'a';
			weft_yield();
			*end++ = 'd';
		};
		weft_async
		{
			*end++ = 'b';
			weft_yield();
			*end++ = 'f';
		};
		weft_async
		{
			*end++ = 'c';
			weft_yield_to(first);
			*end++ = 'g';
		};
		*end++ = 'e';
	}
	*end = '\0';
	CHECK_EQ(strlen(text), 7);
	CHECK_EQ(text[3], 'd');
	return 0;
}

TEST_PART_MAIN
