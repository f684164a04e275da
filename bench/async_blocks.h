/* async_blocks.h - async and finish as blocks, for the benchmarks of both.
 *
 * They are in a file of their own, which is compiled as blocks want it; where the
 * compiler cannot, another says so.
 */
#ifndef BENCH_ASYNC_BLOCKS_H
#define BENCH_ASYNC_BLOCKS_H

#include <stddef.h>

#include "cycles.h"

enum async_block {
	BLOCK_EMPTY,
	BLOCK_ADDING,
	BLOCK_OWN,
	BLOCK_FINISH,
	BLOCK_FINISH_ASYNC,
	BLOCK_FINISH_YIELD,
	BLOCK_CASES,
};

extern const struct cycles_case async_blocks[BLOCK_CASES];
/* NULL, or why they are not measured. */
extern const char *const async_blocks_missing;

static inline struct bench_row *async_block_add(enum async_block which)
{
	const struct cycles_case *c = &async_blocks[which];

	if (async_blocks_missing == NULL)
		return cycles_add(c);
	bench_add_missing(c->label, c->who, async_blocks_missing);
	return NULL;
}

#define ASYNC_BLOCK_CASES(empty, adding, own, finish, finish_async, finish_yield) \
	{ \
		[BLOCK_EMPTY] = { "weft_async { }", "weft", empty, 1000, 1 }, \
		[BLOCK_ADDING] = { "weft_async { x += i; y ^= x; }", "weft", adding, 1000, 1 }, \
		[BLOCK_OWN] = { "weft_async_own (i) { x += i; y ^= x; }", "weft", own, 1000, 1 }, \
		[BLOCK_FINISH] = { "weft_finish { }", "weft", finish, 1000, 1 }, \
		[BLOCK_FINISH_ASYNC] = { "weft_finish { weft_async { } }", "weft", finish_async, \
					 1000, 1 }, \
		[BLOCK_FINISH_YIELD] = { "weft_finish { weft_async { yield } }", "weft", \
					 finish_yield, 1000, 1 }, \
	}

#endif
