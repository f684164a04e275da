/* no_async_blocks.c - stands in for async_blocks.c where the compiler makes no blocks. */
#include "async_blocks.h"

const char *const async_blocks_missing = "weft-bench was built by a compiler without blocks";

const struct cycles_case async_blocks[BLOCK_CASES] =
	ASYNC_BLOCK_CASES(NULL, NULL, NULL, NULL, NULL, NULL);
