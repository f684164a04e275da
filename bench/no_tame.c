/* no_tame.c - stands in for tame.tame.c where weft-tame cannot run. */
#include "tame.h"

const char *const tame_missing = "weft-bench was built without libclang, which weft-tame needs";
const struct tame_bench tame_bench = { 0 };
