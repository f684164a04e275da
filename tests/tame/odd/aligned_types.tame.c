/* right or refused */
/* Variables that are aligned more than memory is. */
/* flags: -mavx -Wno-psabi */
#include "odd.h"

#include <stdint.h>

#include <weft/tame.h>

typedef float eight __attribute__((vector_size(32)));
struct line {
	_Alignas(64) int x;
};

static tamed aligned(event(int) done)
{
	eight v = { 1, 2, 3 };
	struct line line = { 4 };

	twait {
		soon(mkevent());
	}
	v += v;
	trigger(done, (int)v[2] + line.x * 10 + (int)((uintptr_t)&line % 64 + (uintptr_t)&v % 32) * 1000);
}
ODD(aligned, 46)
