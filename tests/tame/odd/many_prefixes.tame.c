/* Names like made ones, in any order. */
#include "odd.h"
#include <weft/tame.h>

static int tame3_c = 7;
static tamed many_prefixesa(event(int) done) { int n; twait { later(1, mkevent(n)); } trigger(done, (int)(long)tame3_c); }
static tamed many_prefixes(event(int) done) { int tame_c = 1, tame2_c = 2; int n; twait { later(1, mkevent(n)); } trigger(done, tame_c + tame2_c); }
ODD(many_prefixes, 3)
ODD(many_prefixesa, 7)
