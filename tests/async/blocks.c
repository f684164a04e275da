/* Blocks: they run at once, see what is around them, and finish waits for them. */
#include "async/blocks.h"

BLOCK_TEST(a_block_runs_at_once_and_what_follows_it_when_it_waits)
{
	char text[16] = "", *end = text;

	weft_finish (q) {
		weft_async
		{
			*end++ = 'a';
		};
		*end++ = 'b';
		weft_async
		{
			*end++ = 'c';
			weft_yield();
			*end++ = 'f';
		};
		*end++ = 'd';
		weft_async
		{
			*end++ = 'e';
			weft_yield();
			*end++ = 'g';
		};
	}
	*end++ = 'h';
	*end = '\0';
	CHECK_STR(text, "abcdefgh");
	return 0;
}

/* The case that gcc's own tasks get wrong: they take a copy of what is only read. */
BLOCK_TEST(a_block_sees_a_flag_change_that_it_only_reads)
{
	bool stop = false;
	int turns = 0;

	weft_finish (q) {
		weft_async
		{
			while (!stop) {
				turns++;
				weft_yield();
			}
		};
		yield_times(3);
		stop = true;
	}
	CHECK(turns >= 3);
	return 0;
}

BLOCK_TEST(what_a_block_writes_is_seen_by_others_and_after_it)
{
	int x = opaque(1), y = opaque(2), seen = 0;
	int array[3] = { 0, 0, 0 };

	weft_finish (q) {
		weft_async
		{
			x = 10;
			weft_yield();
			y += x;
			array[1] = y;
		};
		CHECK_EQ(x, 10);
		x++;
		weft_async
		{
			seen = x + y;
			weft_yield();
			array[2] = array[1] + 1;
		};
		CHECK_EQ(seen, 13);
	}
	CHECK_EQ(y, 13);
	CHECK_EQ(array[1], 13);
	CHECK_EQ(array[2], 14);
	return 0;
}

BLOCK_TEST(blocks_in_loops_copy_what_changes_before_they_wait)
{
	int sum = 0, last = 0;

	weft_finish (q) {
		for (int i = 0; i < 10; i++) {
			weft_async
			{
				int me = i;

				yield_times(me % 4);
				sum += me;
				last = me;
			};
		}
	}
	CHECK_EQ(sum, 45);
	CHECK_EQ(last, 7);
	return 0;
}

struct pair {
	int a;
	char b[20];
};

BLOCK_TEST(own_variables_are_copies)
{
	struct pair p = { 1, "one" };
	short s = 5;
	const char *text = "text";
	int sum = 0;

	weft_finish (q) {
		for (int i = 0; i < 10; i++) {
			weft_async_own (i, p, s, text) {
				weft_yield();
				sum += i * p.a + s;
				CHECK_STR(text, "text");
				CHECK_STR(p.b, "one");
				i = s = 0;
				p.a = 99;
				text = p.b;
			};
		}
		p.a = 1000;
		p.b[0] = 'x';
		s = 0;
		text = "other";
	}
	CHECK_EQ(sum, 45 + 50);
	CHECK_EQ(p.a, 1000);
	CHECK_STR(text, "other");
	return 0;
}

BLOCK_TEST(up_to_eight_variables_can_be_its_own)
{
	char a = 1;
	short b = 2;
	int c = 3;
	long d = 4;
	float e = 5;
	double f = 6;
	long long g = 7;
	const char *h = "12345678";
	double sum = 0;

	weft_finish (q) {
		weft_async_own (a, b, c, d, e, f, g, h) {
			weft_yield();
			sum += a + b + c + (double)d + e + f + (double)g + (double)strlen(h);
		};
		a = 0;
		b = 0;
		c = 0;
		d = 0;
		e = 0;
		f = 0;
		g = 0;
		h = "";
	}
	CHECK_EQ(sum, 36);
	return 0;
}

/* The others are shared, and one variable may be shared with some and copied for others. */
BLOCK_TEST(own_and_shared_variables_go_together)
{
	int x = 1, y = 1, seen_own = 0, seen_shared = 0;

	weft_finish (q) {
		weft_async_own (x) {
			weft_yield();
			seen_own = x + y;
			x = 50;
		};
		weft_async
		{
			weft_yield();
			seen_shared = x + y;
		};
		x = 100;
		y = 10;
	}
	CHECK_EQ(seen_own, 11);
	CHECK_EQ(seen_shared, 110);
	CHECK_EQ(x, 100);
	return 0;
}

BLOCK_TEST(a_finish_block_in_a_block_waits_for_its_own)
{
	char text[16] = "", *end = text;

	weft_finish (outer) {
		weft_async
		{
			weft_finish (inner) {
				weft_async
				{
					yield_times(2);
					*end++ = 'a';
				};
				weft_async
				{
					yield_times(3);
					*end++ = 'b';
				};
			}
			*end++ = 'c';
			weft_finish (inner) {
				weft_async
				{
					yield_times(10);
					*end++ = 'e';
				};
			}
			*end++ = 'f';
		};
		weft_async
		{
			yield_times(7);
			*end++ = 'd';
		};
	}
	*end = '\0';
	CHECK_STR(text, "abcdef");
	return 0;
}

/* Ways out */

static int left;

static int leave_by_return(int n)
{
	weft_finish (q) {
		weft_async
		{
			yield_times(n);
			left++;
		};
		return 7;
	}
	return 8;
}

static int leave_by_goto(int n)
{
	weft_finish (q) {
		weft_async
		{
			yield_times(n);
			left++;
		};
		if (n > 0)
			goto out;
	}
	return 8;
out:
	return left;
}

static int leave_by_break(int n)
{
	int before = left;

	weft_finish (q) {
		weft_async
		{
			yield_times(n);
			left++;
		};
		if (n > 0)
			break;
		return -1;
	}
	return left - before;
}

static int leave_by_continue(int n)
{
	int before = left;

	weft_finish (q) {
		weft_finish (inner) {
			weft_async
			{
				yield_times(n);
				left++;
			};
			if (n > 0)
				continue;
		}
		CHECK_EQ(left - before, 1);
	}
	return left - before;
}

BLOCK_TEST(whichever_way_a_finish_block_is_left_it_waits)
{
	CHECK_EQ(leave_by_return(5), 7);
	CHECK_EQ(left, 1);
	CHECK_EQ(leave_by_goto(5), 2);
	CHECK_EQ(leave_by_break(5), 1);
	CHECK_EQ(leave_by_continue(5), 1);
	CHECK_EQ(left, 4);
	return 0;
}

static int fails(int n, int *result)
{
	weft_finish (q, result) {
		weft_async
		{
			yield_times(n);
			weft_fail(q, -EPROTO);
			weft_fail(q, -EIO);
		};
		if (n > 1)
			return 1;
	}
	return 2;
}

BLOCK_TEST(the_result_is_the_first_error_whichever_way_it_is_left)
{
	int rc = 5;

	weft_finish (q, &rc) {
		weft_async
		{
			weft_yield();
		};
	}
	CHECK_EQ(rc, 0);
	CHECK_EQ(fails(1, &rc), 2);
	CHECK_EQ(rc, -EPROTO);
	rc = 5;
	CHECK_EQ(fails(2, &rc), 1);
	CHECK_EQ(rc, -EPROTO);
	return 0;
}

/* Depth */

static int fib(int n, unsigned *random)
{
	int a = 0, b = 0;

	if (n < 2)
		return n;
	weft_finish (q) {
		weft_async
		{
			if ((*random = *random * 1103515245u + 12345u) & 0x10000)
				weft_yield();
			a = fib(n - 1, random);
		};
		weft_async
		{
			b = fib(n - 2, random);
			if ((*random = *random * 1103515245u + 12345u) & 0x10000)
				weft_yield();
		};
	}
	return a + b;
}

BLOCK_TEST(recursion_through_blocks_comes_out_right_wherever_they_wait)
{
	unsigned random = (unsigned)TEST_SEED;

	CHECK_EQ(fib(15, &random), 610);
	return 0;
}

static int deep(int n)
{
	int below = 0;
	volatile char frame[500];

	memset((char *)frame, n, sizeof frame);
	weft_finish (q) {
		weft_async
		{
			if (n == 0)
				weft_yield();
			else
				below = deep(n - 1);
		};
		CHECK_EQ(below, 0);
	}
	CHECK_EQ(frame[499], (char)n);
	return below + 1;
}

BLOCK_TEST(deep_recursion_may_wait_at_the_bottom)
{
	CHECK_EQ(deep(400), 401);
	return 0;
}

TEST_PART_MAIN
