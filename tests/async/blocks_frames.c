/* Blocks leave the frame of who starts them alone, and have one of their own: what compilers
 * do with stacks holds on both sides while blocks wait.
 */
#include "async/blocks.h"

#include <alloca.h>
#include <setjmp.h>

BLOCK_TEST(large_locals_of_a_block_last_across_waits)
{
	int done = 0;

	weft_finish (q) {
		for (int i = 0; i < 4; i++) {
			weft_async_own (i) {
				volatile unsigned char big[20000];

				for (unsigned n = 0; n < sizeof big; n++)
					big[n] = (unsigned char)(n * 7 + (unsigned)i);
				yield_times(3);
				for (unsigned n = 0; n < sizeof big; n++)
					CHECK_EQ(big[n], (unsigned char)(n * 7 + (unsigned)i));
				done++;
			};
		}
	}
	CHECK_EQ(done, 4);
	return 0;
}

/* C++ has no arrays of variable length; those of its compilers cannot be told to lambdas. */
#ifndef __cplusplus
BLOCK_TEST(arrays_of_variable_length_work_on_both_sides)
{
	long sum = 0, want = 0;

	weft_finish (q) {
		for (int i = 1; i <= 8; i++) {
			int outside[opaque(i * 10)];

			for (int k = 0; k < i * 10; k++)
				outside[k] = k;
			weft_async
			{
				int n = i, inside[opaque(n * 20)];

				for (int k = 0; k < n * 10; k++)
					inside[k] = outside[k];
				yield_times(2);
				for (int k = 0; k < n * 10; k++)
					sum += inside[k];
			};
			for (int k = 0; k < i * 10; k++)
				want += outside[k];
			/* Also the frame below it must be good to use. */
			if (i % 2)
				yield_times(1);
		}
	}
	CHECK_EQ(sum, want);
	return 0;
}
#endif

BLOCK_TEST(memory_of_alloca_after_a_block_that_waits_is_good_after_the_finish_block)
{
	char *kept[10];

	weft_finish (q) {
		for (int i = 0; i < 10; i++) {
			size_t size = (size_t)opaque(100 * (i + 1));

			weft_async
			{
				char *mine = (char *)alloca(5000);

				memset(mine, 0x55, 5000);
				yield_times(2);
				CHECK_EQ(mine[4999], 0x55);
			};
			kept[i] = (char *)alloca(size);
			memset(kept[i], i + 1, size);
		}
	}
	for (int i = 0; i < 10; i++)
		for (int k = 0; k < 100 * (i + 1); k++)
			CHECK_EQ(kept[i][k], i + 1);
	return 0;
}

struct line {
	char bytes[64];
} __attribute__((aligned(64)));

static int misaligned(const void *p)
{
	return (int)((uintptr_t)p & 63);
}

BLOCK_TEST(over_aligned_locals_are_aligned_on_both_sides)
{
	struct line outside;
	int wrong = 0;

	memset(&outside, 1, sizeof outside);
	weft_finish (q) {
		for (int i = 0; i < 3; i++) {
			weft_async
			{
				struct line inside = outside;

				wrong += misaligned(&inside) + misaligned(&outside);
				weft_yield();
				wrong += misaligned(&inside) + misaligned(&outside);
				wrong += memcmp(&inside, &outside, sizeof inside) != 0;
			};
		}
		CHECK_EQ(misaligned(&outside), 0);
	}
	CHECK_EQ(wrong, 0);
	return 0;
}

static void jump(jmp_buf *where, int value)
{
	longjmp(*where, value);
}

BLOCK_TEST(longjmp_works_inside_a_block_that_waited_and_inside_who_started_it)
{
	volatile int steps = 0;
	jmp_buf here;

	weft_finish (q) {
		for (int i = 1; i <= 3; i++) {
			weft_async_own (i) {
				jmp_buf inside;

				weft_yield();
				if (setjmp(inside) == 0) {
					weft_yield();
					jump(&inside, i);
				}
				steps = steps + i;
				weft_yield();
				steps = steps + 100;
			};
		}
		if (setjmp(here) == 0) {
			weft_yield();
			steps = steps + 1000;
			jump(&here, 1);
		}
		weft_yield();
	}
	CHECK_EQ(steps, 1306);
	return 0;
}

/* More values than there are registers, alive across blocks that wait. */
static double mix(int n, double *out)
{
	long a = n + 1, b = n + 2, c = n + 3, d = n + 4, e = n + 5, f = n + 6, g = n + 7;
	double u = n + 0.5, v = n + 1.5, w = n + 2.5, x = n + 3.5, y = n + 4.5, z = n + 5.5;

	weft_finish (q) {
		for (int i = 0; i < 5; i++) {
			weft_async_own (i) {
				double p = i * 1.25, r = i * 2.25, s = i * 3.25, t = i * 4.25;
				long k = i, l = i + 1, m = i + 2;

				yield_times(i % 3);
				*out += p * r + s * t + (double)(k * l * m);
			};
			a = a * 3 + b;
			b ^= c + i;
			c += d * e;
			d = e + f - g;
			e += a & 7;
			f ^= b & 15;
			g += c & 31;
			u = u * 1.5 + v;
			v = v - w * 0.25;
			w += x * 0.125;
			x = y + z * 0.5;
			y -= u * 0.0625;
			z += v;
		}
	}
	return (double)(a + b + c + d + e + f + g) + u + v + w + x + y + z;
}

/* The same without blocks. */
static double mix_alone(int n, double *out)
{
	long a = n + 1, b = n + 2, c = n + 3, d = n + 4, e = n + 5, f = n + 6, g = n + 7;
	double u = n + 0.5, v = n + 1.5, w = n + 2.5, x = n + 3.5, y = n + 4.5, z = n + 5.5;

	for (int i = 0; i < 5; i++) {
		*out += (i * 1.25) * (i * 2.25) + (i * 3.25) * (i * 4.25) +
			(double)((long)i * (i + 1) * (i + 2));
		a = a * 3 + b;
		b ^= c + i;
		c += d * e;
		d = e + f - g;
		e += a & 7;
		f ^= b & 15;
		g += c & 31;
		u = u * 1.5 + v;
		v = v - w * 0.25;
		w += x * 0.125;
		x = y + z * 0.5;
		y -= u * 0.0625;
		z += v;
	}
	return (double)(a + b + c + d + e + f + g) + u + v + w + x + y + z;
}

BLOCK_TEST(registers_of_who_starts_blocks_are_kept)
{
	for (int n = 0; n < 20; n++) {
		double with = 0, without = 0;

		CHECK(mix(opaque(n), &with) == mix_alone(opaque(n), &without));
		CHECK(with == without);
	}
	return 0;
}

struct large {
	unsigned char bytes[3000];
};

static __attribute__((noinline)) unsigned long sum_of(struct large by_value, long a, long b, long c,
						      long d, long e, long f, long g, long h,
						      double i, long j)
{
	unsigned long sum = (unsigned long)(a + b + c + d + e + f + g + h + (long)i + j);

	weft_yield();
	for (size_t n = 0; n < sizeof by_value.bytes; n++)
		sum += by_value.bytes[n];
	return sum;
}

BLOCK_TEST(large_arguments_and_those_on_the_stack_arrive_on_both_sides)
{
	struct large large;
	unsigned long inside[4] = { 0, 0, 0, 0 }, outside = 0;

	memset(&large, 3, sizeof large);
	weft_finish (q) {
		for (int i = 0; i < 4; i++) {
			weft_async_own (i) {
				inside[i] = sum_of(large, 1, 2, 3, 4, 5, 6, 7, 8, 9.5, i);
			};
			outside += sum_of(large, 1, 2, 3, 4, 5, 6, 7, 8, 9.5, 0);
		}
	}
	for (int i = 0; i < 4; i++)
		CHECK_EQ(inside[i], 9045 + (unsigned long)i);
	CHECK_EQ(outside, 4 * 9045);
	return 0;
}

TEST_PART_MAIN
