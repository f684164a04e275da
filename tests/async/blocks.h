/* blocks.h - what the tests of blocks share. They are C, and C++ too: async/blocks_cxx.cc
 * includes them all.
 */
#ifndef TESTS_ASYNC_BLOCKS_H
#define TESTS_ASYNC_BLOCKS_H

#ifdef __cplusplus
#define _Noreturn [[noreturn]]
extern "C" {
#include "harness/test.h"
}
#else
#include "harness/test.h"
#endif

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

/* A test whose body is the first thread. It ends with return 0. */
#define BLOCK_TEST(sentence) \
	static int in_thread_##sentence(void *unused_); \
	TEST(sentence) \
	{ \
		CHECK_EQ(weft_run(in_thread_##sentence, NULL, NULL), 0); \
	} \
	static int in_thread_##sentence(void *unused_ __attribute__((unused)))

/* Who includes all of them has the main function. */
#ifdef TEST_PART
#define TEST_PART_MAIN
#else
#define TEST_PART_MAIN TEST_MAIN
#endif

/* The compiler does not know the value. */
static inline int opaque(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

static inline void yield_times(int n)
{
	while (n-- > 0)
		CHECK_EQ(weft_yield(), 0);
}

#endif
