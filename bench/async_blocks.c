/* async_blocks.c - async and finish as blocks. */
#include <weft/weft.h>

#include "async_blocks.h"

const char *const async_blocks_missing = NULL;

/* So that the compiler leaves a block where it is, and does what is in it each time. */
#define HERE __asm__ volatile("" : : : "memory")

static int empty(long rounds)
{
	int err = 0;

	weft_finish (all, &err) {
		for (long i = 0; i < rounds; i++) {
			weft_async
			{
				HERE;
			};
		}
	}
	return err;
}

static int adding(long rounds)
{
	long x = 0, y = 0;
	int err = 0;

	weft_finish (all, &err) {
		for (long i = 0; i < rounds; i++) {
			weft_async
			{
				x += i;
				y ^= x;
				HERE;
			};
		}
	}
	return err;
}

static int own(long rounds)
{
	long x = 0, y = 0;
	int err = 0;

	weft_finish (all, &err) {
		for (long i = 0; i < rounds; i++) {
			weft_async_own (i) {
				x += i;
				y ^= x;
				HERE;
			};
		}
	}
	return err;
}

static int finish(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds && err == 0; i++) {
		weft_finish (one, &err) {
			HERE;
		}
	}
	return err;
}

static int finish_async(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds && err == 0; i++) {
		weft_finish (one, &err) {
			weft_async
			{
				HERE;
			};
		}
	}
	return err;
}

static int finish_yield(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds && err == 0; i++) {
		weft_finish (one, &err) {
			weft_async
			{
				weft_yield();
			};
		}
	}
	return err;
}

const struct cycles_case async_blocks[BLOCK_CASES] =
	ASYNC_BLOCK_CASES(empty, adding, own, finish, finish_async, finish_yield);
